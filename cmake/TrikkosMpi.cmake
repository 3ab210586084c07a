# SPDX-FileCopyrightText: Trikkos contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# MPI, if it is there or can be installed, without its old C++ interface. Included, not called: what
# find_package(MPI) sets is for the including directory.

set(MPI_CXX_SKIP_MPICXX ON)
find_package(MPI QUIET COMPONENTS CXX)
if(NOT MPI_CXX_FOUND)
  include(TrikkosAptInstall)
  trikkos_apt_install(libopenmpi-dev openmpi-bin)
  find_package(MPI QUIET COMPONENTS CXX)
endif()
if(NOT MPI_CXX_FOUND)
  message(STATUS "Trikkos: no MPI (Debian: libopenmpi-dev, openmpi-bin), so there is no Trikkos::mpi")
endif()
