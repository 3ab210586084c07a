# SPDX-FileCopyrightText: Trikkos contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# cmake -DCOMPILER=... -DFLAGS=<file, one per line> -DSOURCE=... [-DHEADER=...] -P Compile.cmake
# A source with a line "// expect: <words>" must not compile and the compiler must print these words;
# a source without one is a control and must compile. "// flags: <flags>" adds to FLAGS. HEADER is
# included first; without a SOURCE it is precompiled, for the sources to come.

file(STRINGS "${FLAGS}" lines)
set(flags "")
foreach(line IN LISTS lines)
  if(line MATCHES "^SHELL:(.*)")
    separate_arguments(line UNIX_COMMAND "${CMAKE_MATCH_1}")
  endif()
  list(APPEND flags ${line})
endforeach()
list(REMOVE_ITEM flags -I -D)  # from empty lists

if(NOT SOURCE)
  execute_process(
    COMMAND "${COMPILER}" ${flags} -x c++-header "${HEADER}" -o "${HEADER}.gch"
    COMMAND_ERROR_IS_FATAL ANY)
  return()
endif()
if(HEADER)
  list(APPEND flags -include "${HEADER}")
endif()

file(STRINGS "${SOURCE}" more REGEX "^// flags: ")
string(REPLACE "// flags: " "" more "${more}")
separate_arguments(more UNIX_COMMAND "${more}")
list(APPEND flags ${more})

execute_process(
  COMMAND "${COMPILER}" ${flags} -fsyntax-only "${SOURCE}"
  RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
file(STRINGS "${SOURCE}" expected REGEX "^// expect: ")

if(NOT expected)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "This control must compile:\n${output}")
  endif()
  return()
endif()

if(result EQUAL 0)
  message(FATAL_ERROR "This compiles, but must not.")
endif()
foreach(line IN LISTS expected)
  string(REGEX REPLACE "^// expect: " "" words "${line}")
  string(REGEX MATCHALL "[^\n]*error[^\n]*" errors "${output}")
  string(FIND "${errors}" "${words}" position)
  if(position EQUAL -1)
    message(FATAL_ERROR "No error says \"${words}\":\n${output}")
  endif()
endforeach()
