# SPDX-FileCopyrightText: Trikkos contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# The Tpetra that comes with the Kokkos that was found. Included, not called: what find_package(Tpetra)
# sets is for the including directory. Tpetra of another Kokkos would not match.
get_filename_component(_trikkos_cmake_dir "${Kokkos_DIR}" DIRECTORY)
find_package(Tpetra QUIET HINTS "${_trikkos_cmake_dir}/Tpetra")
unset(_trikkos_cmake_dir)
if(NOT TARGET Tpetra::all_libs)
  message(FATAL_ERROR "Trikkos_ENABLE_TPETRA is ON but no Tpetra for the Kokkos in ${Kokkos_DIR} was "
          "found: give the prefix of a Trilinos with -DKokkos_ROOT=..., which has both.")
endif()
