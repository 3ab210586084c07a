# SPDX-FileCopyrightText: Trikkos contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# The target header_check: every header compiles by itself. CMake verifies header sets, too, but then
# each of 200 reads Kokkos anew, for seconds; here only those do that users include.
add_custom_target(header_check)

# <target>_header_check: the headers of an interface library of ours.
function(trikkos_check_headers target)
  if(NOT TARGET ${target})
    return()
  endif()
  set(sources "")
  get_target_property(headers ${target} HEADER_SET)
  foreach(header IN LISTS headers)
    cmake_path(GET header STEM name)
    set(source "${CMAKE_CURRENT_BINARY_DIR}/header_check/${name}.cpp")
    file(CONFIGURE OUTPUT "${source}" CONTENT "#include \"${header}\"\n")
    list(APPEND sources "${source}")
    if(NOT header MATCHES "/impl/")
      set_source_files_properties("${source}" PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
    endif()
  endforeach()
  add_library(${target}_header_check OBJECT EXCLUDE_FROM_ALL ${sources})
  target_link_libraries(${target}_header_check PRIVATE ${target})
  if(NOT Kokkos_ENABLE_CUDA)  # nvcc cannot read the host compiler's precompiled headers
    target_precompile_headers(${target}_header_check PRIVATE <Kokkos_Core.hpp>)
  endif()
  add_dependencies(header_check ${target}_header_check)
endfunction()

trikkos_check_headers(trikkos)
trikkos_check_headers(trikkos_mpi)
trikkos_check_headers(trikkos_tpetra)
