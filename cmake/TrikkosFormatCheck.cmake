# SPDX-FileCopyrightText: Trikkos contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# format_check says which files clang-format would change, format changes them. Versions of clang-format
# differ in details; .clang-format is written for 14.
find_program(Trikkos_CLANG_FORMAT NAMES clang-format-14 clang-format)
mark_as_advanced(Trikkos_CLANG_FORMAT)
if(Trikkos_CLANG_FORMAT)
  set(patterns core solvers batch sparse tpetra cmake unit_tests examples perf_tests)
  list(TRANSFORM patterns REPLACE "(.+)" "${CMAKE_CURRENT_SOURCE_DIR}/\\1/*.[ch]pp")
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${patterns})
  add_custom_target(format_check COMMAND "${Trikkos_CLANG_FORMAT}" --dry-run -Werror ${files} VERBATIM)
  add_custom_target(format COMMAND "${Trikkos_CLANG_FORMAT}" -i ${files} VERBATIM)
endif()
