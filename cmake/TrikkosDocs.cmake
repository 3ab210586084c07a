# SPDX-FileCopyrightText: Trikkos contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# The target `docs`: pages of the public headers in build/<preset>/html, where Doxygen is found.
find_package(Doxygen QUIET)
if(NOT DOXYGEN_FOUND)
  return()
endif()
set(DOXYGEN_USE_MDFILE_AS_MAINPAGE "${CMAKE_CURRENT_SOURCE_DIR}/README.md")
set(DOXYGEN_STRIP_FROM_PATH "${CMAKE_CURRENT_SOURCE_DIR}")
set(DOXYGEN_EXCLUDE_PATTERNS "*/impl/*")
set(DOXYGEN_EXCLUDE_SYMBOLS "Trikkos::Impl*")
set(DOXYGEN_MACRO_EXPANSION YES)
set(DOXYGEN_EXPAND_ONLY_PREDEF YES)
set(DOXYGEN_PREDEFINED
  "KOKKOS_FUNCTION=" "KOKKOS_INLINE_FUNCTION=inline" "KOKKOS_FORCEINLINE_FUNCTION=inline"
  "TRIKKOS_CHECK_MATRIX_VALUES(a,b)=" "TRIKKOS_CHECK_VECTOR_VALUES(a,b,c,d)="
  "TRIKKOS_CHECK_SOLUTION_VALUES(a,b,c,d)=" "TRIKKOS_CHECK_ACCESS(a,b,c,d)=")
set(DOXYGEN_HIDE_UNDOC_MEMBERS YES)
set(DOXYGEN_HIDE_UNDOC_CLASSES YES)
set(DOXYGEN_EXTRACT_ALL NO)
set(DOXYGEN_WARN_IF_UNDOCUMENTED NO)
set(DOXYGEN_WARN_NO_PARAMDOC NO)
set(DOXYGEN_WARN_AS_ERROR FAIL_ON_WARNINGS)
set(DOXYGEN_QUIET YES)
set(DOXYGEN_JAVADOC_AUTOBRIEF YES)
set(DOXYGEN_GENERATE_LATEX NO)
set(DOXYGEN_HAVE_DOT NO)
doxygen_add_docs(docs README.md CHANGELOG.md CONTRIBUTING.md core solvers batch distributed tpetra
  examples/README.md
  perf_tests/README.md perf_tests/PAPERS.md unit_tests/README.md
  COMMENT "Writing the pages of the public headers")
