# SPDX-FileCopyrightText: Trikkos contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# cuda_compile_check compiles device code without a Kokkos that has CUDA and without a GPU, where
# there is nvcc: with the headers of the Kokkos at hand and, in front of them, copies of its
# configuration headers in which CUDA is switched on. Nothing is linked or run.
find_program(Trikkos_NVCC nvcc HINTS ENV CUDA_HOME PATHS /usr/local/cuda PATH_SUFFIXES bin)
mark_as_advanced(Trikkos_NVCC)
if(NOT Trikkos_NVCC OR Kokkos_ENABLE_CUDA)
  return()
endif()

get_target_property(kokkos_includes Kokkos::kokkoscore INTERFACE_INCLUDE_DIRECTORIES)
find_path(kokkos_config KokkosCore_config.h PATHS ${kokkos_includes} NO_DEFAULT_PATH NO_CACHE)
find_path(desul_config desul/atomics/Config.hpp PATHS ${kokkos_includes} NO_DEFAULT_PATH NO_CACHE)
if(NOT kokkos_config OR NOT desul_config)
  return()
endif()
set(generated "${CMAKE_CURRENT_BINARY_DIR}/cuda_compile_check")

# trikkos_cuda_config(<directory> <file> [DEFINES <macro>...] [INCLUDES <header>...])
function(trikkos_cuda_config directory file)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "DEFINES;INCLUDES")
  file(READ "${directory}/${file}" text)
  foreach(macro IN LISTS arg_DEFINES)
    string(REPLACE "/* #undef ${macro} */" "#define ${macro}" text "${text}")
  endforeach()
  foreach(header IN LISTS arg_INCLUDES)  # behind those of the host backends
    string(REGEX REPLACE "(\n#endif[^\n]*\n*)$" "\n#include <${header}>\\1" text "${text}")
  endforeach()
  file(CONFIGURE OUTPUT "${generated}/${file}" CONTENT "${text}" @ONLY)
endfunction()

trikkos_cuda_config("${kokkos_config}" KokkosCore_config.h
  DEFINES KOKKOS_ENABLE_CUDA KOKKOS_ARCH_HOPPER KOKKOS_ARCH_HOPPER90)
trikkos_cuda_config("${kokkos_config}" KokkosCore_Config_FwdBackend.hpp
  INCLUDES fwd/Kokkos_Fwd_CUDA.hpp)
trikkos_cuda_config("${kokkos_config}" KokkosCore_Config_SetupBackend.hpp
  INCLUDES setup/Kokkos_Setup_Cuda.hpp)
trikkos_cuda_config("${kokkos_config}" KokkosCore_Config_DeclareBackend.hpp
  INCLUDES decl/Kokkos_Declare_CUDA.hpp)
trikkos_cuda_config("${desul_config}" desul/atomics/Config.hpp
  DEFINES DESUL_ATOMICS_ENABLE_CUDA)

# Host code for the vectors of this machine, as everything else here.
separate_arguments(host_flags UNIX_COMMAND "${CMAKE_CXX_FLAGS}")
list(TRANSFORM host_flags PREPEND "-Xcompiler=")

# What is compiled is thrown away: less than two thirds of the time, where nvcc can do without
# optimizing and the host's compiler without code.
execute_process(COMMAND "${Trikkos_NVCC}" --help OUTPUT_VARIABLE nvcc_help)
set(device_flags -Xptxas=-O0)
if(nvcc_help MATCHES "--Ofast-compile")
  set(device_flags --Ofast-compile=max)
endif()
list(APPEND host_flags -Xcompiler=-fsyntax-only)

# trikkos_cuda_object(<name> <source> <target> <architecture> <option>...): with the headers of the
# target.
set(objects "")
function(trikkos_cuda_object name source target architecture)
  set(object "${generated}/${name}.o")
  add_custom_command(
    OUTPUT "${object}"
    COMMAND "${Trikkos_NVCC}" -x cu -std=c++20 -arch=${architecture} ${device_flags}
            --extended-lambda
            --Werror all-warnings
            ${host_flags} $<$<BOOL:${Kokkos_ENABLE_OPENMP}>:-Xcompiler=-fopenmp> ${ARGN}
            "-I${generated}" "-I$<JOIN:$<TARGET_PROPERTY:${target},INTERFACE_INCLUDE_DIRECTORIES>,;-I>"
            -MD -MF "${object}.d" -c "${CMAKE_CURRENT_SOURCE_DIR}/${source}" -o "${object}"
    COMMAND "${CMAKE_COMMAND}" -E touch "${object}"
    DEPENDS "${source}"
    DEPFILE "${object}.d"
    COMMENT "Compiling ${source} for CUDA, ${name}"
    COMMAND_EXPAND_LISTS VERBATIM)
  set(objects ${objects} "${object}" PARENT_SCOPE)
endfunction()

# As far as PTX only but for double: the assembler sees there what instructions others have, too.
foreach(scalar IN ITEMS float double Kokkos::complex<float> Kokkos::complex<double>)
  string(MAKE_C_IDENTIFIER "${scalar}" name)
  set(architecture compute_90)
  if(scalar STREQUAL "double")
    set(architecture sm_90)
  endif()
  trikkos_cuda_object(${name} unit_tests/CudaCompileCheck.cpp trikkos ${architecture}
    "-DTRIKKOS_SCALAR=${scalar}")
endforeach()
if(TARGET trikkos_mpi)
  trikkos_cuda_object(mpi unit_tests/CudaCompileCheckMpi.cpp trikkos_mpi compute_90
    -DOMPI_SKIP_MPICXX)
endif()
add_custom_target(cuda_compile_check DEPENDS ${objects})
