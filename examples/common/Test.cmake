# SPDX-FileCopyrightText: Trikkos contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# A test of an example program: its exit code, what it prints, and that errors are one line.

if(CMAKE_SCRIPT_MODE_FILE)
  set(ENV{OMP_PROC_BIND} false)  # else Kokkos warns
  set(ENV{OMP_NUM_THREADS} 2)
  execute_process(COMMAND ${COMMAND} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE error)
  if(NOT result STREQUAL "${EXIT_CODE}")
    message(FATAL_ERROR "exit code ${result} instead of ${EXIT_CODE}\n${output}\n${error}")
  elseif(NOT "${output}${error}" MATCHES "${PRINTS}")
    message(FATAL_ERROR "nothing like \"${PRINTS}\" in\n${output}\n${error}")
  elseif(EXIT_CODE EQUAL 2 AND NOT error MATCHES "^trikkos_${EXAMPLE}: [^\n]+\n$")
    message(FATAL_ERROR "not one line:\n${error}")
  endif()
  return()
endif()

# trikkos_example_test(<example> <name> <exit code> <regular expression> <argument>...)
function(trikkos_example_test example name exit_code prints)
  add_test(NAME Example.${example}.${name}
    COMMAND "${CMAKE_COMMAND}" "-DCOMMAND=$<TARGET_FILE:trikkos_${example}>;${ARGN}"
            "-DEXAMPLE=${example}" "-DEXIT_CODE=${exit_code}" "-DPRINTS=${prints}"
            -P "${CMAKE_CURRENT_FUNCTION_LIST_FILE}")
  set_tests_properties(Example.${example}.${name} PROPERTIES LABELS example)
endfunction()
