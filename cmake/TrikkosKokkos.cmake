# SPDX-FileCopyrightText: Trikkos contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Adopts, finds or obtains Kokkos, then checks that it has the backends asked for.
# Included, not called: what find_package(Kokkos) sets is for the including directory.

if(NOT TARGET Kokkos::kokkos)
  find_package(Kokkos 4.6 QUIET)

  # Debian's OpenMP build is in unstable; a Serial build comes with Kokkos Kernels, or with Tpetra, from
  # experimental. Tpetra is built with unstable's Open MPI; of that, headers (without the compilers that
  # their package depends on) and a launcher (libprrte-bin) are added.
  if(NOT Kokkos_FOUND AND Trikkos_FETCH_DEPENDENCIES)
    include(TrikkosObtain)
    if(Trikkos_ENABLE_TPETRA)
      set(_trikkos_prefix "${Trikkos_DEPENDENCY_DIR}/trilinos")
      set(_trikkos_packages kokkos kokkos-kernels rtop teuchos tpetra thyra xpetra belos)
      list(TRANSFORM _trikkos_packages REPLACE "(.+)" "libtrilinos-\\1-dev")
      trikkos_obtain("${_trikkos_prefix}" SUITES unstable experimental PREFER *trilinos*
                     PACKAGES ${_trikkos_packages} libprrte-bin ALONE libopenmpi-dev)
      unset(_trikkos_packages)
    elseif(Trikkos_ENABLE_KOKKOS_KERNELS)
      set(_trikkos_prefix "${Trikkos_DEPENDENCY_DIR}/kokkos-kernels")
      trikkos_obtain("${_trikkos_prefix}" SUITES unstable experimental
                     PACKAGES libtrilinos-kokkos-dev libtrilinos-kokkos-kernels-dev)
    else()
      set(_trikkos_prefix "${Trikkos_DEPENDENCY_DIR}/kokkos")
      trikkos_obtain("${_trikkos_prefix}" SUITES unstable PACKAGES libkokkos-dev)
    endif()
    find_package(Kokkos 4.6 REQUIRED PATHS "${_trikkos_prefix}/usr" NO_DEFAULT_PATH)
    unset(_trikkos_prefix)
  endif()

  if(NOT Kokkos_FOUND)
    message(FATAL_ERROR "Trikkos needs Kokkos 4.6 or newer: give its prefix with "
            "-DKokkos_ROOT=..., or on Debian let -DTrikkos_FETCH_DEPENDENCIES=ON obtain one for this "
            "build tree only.")
  endif()
  message(STATUS "Trikkos: Kokkos ${Kokkos_VERSION} (${Kokkos_DEVICES}) in ${Kokkos_DIR}")
endif()

if(Trikkos_ENABLE_KOKKOS_KERNELS AND NOT TARGET Kokkos::kokkoskernels)
  # The two come as a pair: Kernels found next to another Kokkos would not match it.
  get_filename_component(_trikkos_cmake_dir "${Kokkos_DIR}" DIRECTORY)
  find_package(KokkosKernels QUIET HINTS "${_trikkos_cmake_dir}/KokkosKernels")
  unset(_trikkos_cmake_dir)
  if(NOT KokkosKernels_FOUND)
    message(FATAL_ERROR "Trikkos_ENABLE_KOKKOS_KERNELS is ON but no Kokkos Kernels for the Kokkos in "
            "${Kokkos_DIR} was found: give its prefix with -DKokkosKernels_ROOT=...")
  endif()
  if(NOT TARGET Kokkos::kokkoskernels)  # Trilinos exports it under a name of its own
    add_library(Kokkos::kokkoskernels INTERFACE IMPORTED)
    target_link_libraries(Kokkos::kokkoskernels INTERFACE KokkosKernels::all_libs)
  endif()
endif()

foreach(_trikkos_backend IN LISTS Trikkos_BACKENDS)
  if(NOT Kokkos_ENABLE_${_trikkos_backend})
    message(FATAL_ERROR "Trikkos_BACKENDS asks for ${_trikkos_backend}, which the Kokkos in "
            "${Kokkos_DIR} does not have (it has: ${Kokkos_DEVICES}).")
  endif()
endforeach()
unset(_trikkos_backend)
