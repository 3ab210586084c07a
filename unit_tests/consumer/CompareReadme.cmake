# SPDX-FileCopyrightText: Trikkos contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# cmake -DREADME=<README.md> -DSOURCE=<main.cpp> -P CompareReadme.cmake
# The first ```cpp block of the README must be the source without its two licence lines.

file(READ "${README}" readme)
file(READ "${SOURCE}" source)
string(REGEX REPLACE "^(//[^\n]*\n)+\n" "" source "${source}")
set(fence "```cpp\n")
string(FIND "${readme}" "${fence}" begin)
string(LENGTH "${fence}" length)
math(EXPR begin "${begin} + ${length}")
string(SUBSTRING "${readme}" ${begin} -1 block)
string(FIND "${block}" "```" end)
string(SUBSTRING "${block}" 0 ${end} block)
if(NOT block STREQUAL source)
  message(FATAL_ERROR "The first program in ${README} is not ${SOURCE}:\n${block}")
endif()
