# SPDX-FileCopyrightText: Trikkos contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

include_guard(GLOBAL)

# trikkos_apt_install(<package>...): system packages, only where we may install them.
function(trikkos_apt_install)
  find_program(apt_get apt-get NO_CACHE)
  execute_process(COMMAND id -u OUTPUT_VARIABLE user OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT Trikkos_FETCH_DEPENDENCIES OR NOT apt_get OR NOT user STREQUAL "0")
    return()
  endif()
  list(JOIN ARGN " " packages)
  message(STATUS "Trikkos: installing ${packages}")
  set(install "${CMAKE_COMMAND}" -E env DEBIAN_FRONTEND=noninteractive
      "${apt_get}" -q -y --no-install-recommends install ${ARGN})
  execute_process(COMMAND ${install} RESULT_VARIABLE result OUTPUT_QUIET ERROR_QUIET)
  if(NOT result EQUAL 0)  # package lists may be missing or old
    execute_process(COMMAND "${apt_get}" -q update OUTPUT_QUIET ERROR_QUIET)
    execute_process(COMMAND ${install} OUTPUT_QUIET)
  endif()
endfunction()
