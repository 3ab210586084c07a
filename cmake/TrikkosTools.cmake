# SPDX-FileCopyrightText: Trikkos contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# What the tests, examples and benchmarks share. None of it reaches users of Trikkos::trikkos.
include_guard(GLOBAL)

# trikkos_tools: compile options of our own executables.
add_library(trikkos_tools INTERFACE)
if(Trikkos_ENABLE_WARNINGS)
  # GCC 12 sees a use after free in Kokkos::Serial's reference count that is not there.
  target_compile_options(trikkos_tools INTERFACE
    -Wall -Wextra -Wshadow $<$<CXX_COMPILER_ID:GNU>:-Wno-use-after-free>)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT Kokkos_ENABLE_CUDA)
  # The compiler collects no garbage below a gigabyte: a seventh less time to build.
  target_compile_options(trikkos_tools INTERFACE --param=ggc-min-heapsize=1000000)
endif()
if(Kokkos_ENABLE_CUDA AND NOT Kokkos_CXX_COMPILER_ID STREQUAL "Clang")
  # Calling a host function from device code: nvcc only warns, and compiles wrong code.
  target_compile_options(trikkos_tools INTERFACE
    "SHELL:-Xcudafe --diag_error=20011" "SHELL:-Xcudafe --diag_error=20014")
endif()

include(TrikkosAptInstall)

# trikkos_find_tool(<CMake package> <Debian package>): find, else install, else say what to install.
macro(trikkos_find_tool package debian_package)
  find_package(${package} QUIET)
  if(NOT ${package}_FOUND)
    trikkos_apt_install(${debian_package})
    find_package(${package} QUIET)
  endif()
  if(NOT ${package}_FOUND)
    message(FATAL_ERROR "Trikkos needs ${package} here: install it (Debian: ${debian_package}) or give "
            "its prefix with -D${package}_ROOT=...")
  endif()
endmacro()

# trikkos_lapack: LAPACKE to compare with, and TRIKKOS_HAVE_LAPACK, where it is found; else empty.
add_library(trikkos_lapack INTERFACE)
macro(trikkos_find_lapack)
  find_path(Trikkos_LAPACKE_INCLUDE_DIR lapacke.h)
  find_library(Trikkos_LAPACKE_LIBRARY lapacke)
  find_library(Trikkos_LAPACK_LIBRARY lapack)
endmacro()
trikkos_find_lapack()
if(NOT Trikkos_LAPACKE_INCLUDE_DIR OR NOT Trikkos_LAPACKE_LIBRARY OR NOT Trikkos_LAPACK_LIBRARY)
  trikkos_apt_install(liblapacke-dev)
  trikkos_find_lapack()
endif()
mark_as_advanced(Trikkos_LAPACKE_INCLUDE_DIR Trikkos_LAPACKE_LIBRARY Trikkos_LAPACK_LIBRARY)
if(Trikkos_LAPACKE_INCLUDE_DIR AND Trikkos_LAPACKE_LIBRARY AND Trikkos_LAPACK_LIBRARY)
  target_compile_definitions(trikkos_lapack INTERFACE TRIKKOS_HAVE_LAPACK)
  target_include_directories(trikkos_lapack SYSTEM INTERFACE "${Trikkos_LAPACKE_INCLUDE_DIR}")
  target_link_libraries(trikkos_lapack INTERFACE
    "${Trikkos_LAPACKE_LIBRARY}" "${Trikkos_LAPACK_LIBRARY}")
else()
  message(STATUS "Trikkos: no LAPACKE (Debian: liblapacke-dev), so nothing is compared with LAPACK")
endif()

# trikkos_zlib: zlib and TRIKKOS_HAVE_ZLIB, for compressed Matrix Market files, where it is found; else
# empty.
add_library(trikkos_zlib INTERFACE)
find_package(ZLIB QUIET)
if(NOT ZLIB_FOUND)
  trikkos_apt_install(zlib1g-dev)
  find_package(ZLIB QUIET)
endif()
if(ZLIB_FOUND)
  target_compile_definitions(trikkos_zlib INTERFACE TRIKKOS_HAVE_ZLIB)
  target_link_libraries(trikkos_zlib INTERFACE ZLIB::ZLIB)
else()
  message(STATUS "Trikkos: no zlib (Debian: zlib1g-dev), so compressed Matrix Market files are refused")
endif()

# trikkos_add_mpi_test(<name> <ranks> <target> <argument>...): more ranks than cores, and by root too, for
# which Open MPI asks for a word. What it leaves behind is not ours to report. Where CMake has not looked
# for MPI, Tpetra knows a launcher.
function(trikkos_add_mpi_test name ranks target)
  if(NOT MPIEXEC_EXECUTABLE)
    set(MPIEXEC_EXECUTABLE "${TpetraCore_MPI_EXEC}")
    set(MPIEXEC_NUMPROC_FLAG "${TpetraCore_MPI_EXEC_NUMPROCS_FLAG}")
  endif()
  add_test(NAME ${name}
    COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks} ${MPIEXEC_PREFLAGS}
            $<TARGET_FILE:${target}> ${MPIEXEC_POSTFLAGS} ${ARGN})
  set(environment
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
    OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_hwloc_base_binding_policy=none
    OMP_NUM_THREADS=1 OMP_PROC_BIND=false
    ASAN_OPTIONS=detect_leaks=0)
  set_tests_properties(${name} PROPERTIES
    LABELS mpi TIMEOUT 150 PROCESSORS 2 ENVIRONMENT "${environment}")
endfunction()

# A rebuild of an unchanged file costs nothing where ccache is installed.
find_program(Trikkos_CCACHE ccache)
mark_as_advanced(Trikkos_CCACHE)

# trikkos_set_up(<target>): a target of ours, with all of the above.
function(trikkos_set_up target)
  target_link_libraries(${target} PUBLIC
    Trikkos::trikkos trikkos_tools trikkos_lapack trikkos_zlib
    $<TARGET_NAME_IF_EXISTS:Kokkos::kokkoskernels>)
  if(Trikkos_CCACHE)
    # Sloppiness: what ccache asks for to work with precompiled headers.
    set_property(TARGET ${target} PROPERTY CXX_COMPILER_LAUNCHER
      "${CMAKE_COMMAND};-E;env;CCACHE_SLOPPINESS=pch_defines,time_macros;${Trikkos_CCACHE}")
  endif()
  if(TARGET Kokkos::kokkoskernels)
    target_compile_definitions(${target} PUBLIC TRIKKOS_HAVE_KOKKOS_KERNELS)
  endif()
endfunction()

# trikkos_add_executable(<name> <source>...)
function(trikkos_add_executable name)
  add_executable(${name} ${ARGN})
  trikkos_set_up(${name})
endfunction()

# The four scalars of Trikkos. Instances of complex ones go without sanitizers, which take half of all
# their time to build: their templates are those of real ones, which have them.
set(Trikkos_SCALARS float double Kokkos::complex<float> Kokkos::complex<double>)
function(trikkos_add_scalar_source list template scalar name)
  string(MAKE_C_IDENTIFIER "${name}" name)
  set(source "${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp")
  configure_file("${template}" "${source}" @ONLY)
  if(scalar MATCHES "complex" AND CMAKE_CXX_FLAGS MATCHES "-fsanitize")
    set_source_files_properties("${source}" PROPERTIES
      COMPILE_OPTIONS -fno-sanitize=all SKIP_PRECOMPILE_HEADERS ON)
  endif()
  set(${list} ${${list}} "${source}" PARENT_SCOPE)
endfunction()

# Trikkos_Instances: templates of Trikkos that tests and benchmarks use, compiled once for each backend
# and scalar. Their sources include TrikkosInstances.hpp.
add_library(Trikkos_Instances INTERFACE)
foreach(backend IN ITEMS Serial OpenMP Cuda)
  string(TOUPPER ${backend} kokkos_backend)
  if(Kokkos_ENABLE_${kokkos_backend})
    set(sources "")
    foreach(scalar IN LISTS Trikkos_SCALARS)
      trikkos_add_scalar_source(sources "${CMAKE_CURRENT_LIST_DIR}/TrikkosInstances.cpp.in" ${scalar}
        "TrikkosInstances_${scalar}_${backend}")
    endforeach()
    set(target Trikkos_Instances_${backend})
    add_library(${target} STATIC EXCLUDE_FROM_ALL ${sources})
    trikkos_set_up(${target})
    target_include_directories(${target} PUBLIC "${CMAKE_CURRENT_LIST_DIR}")
    target_link_libraries(Trikkos_Instances INTERFACE ${target})
  endif()
endforeach()
