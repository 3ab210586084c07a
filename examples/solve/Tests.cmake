# SPDX-FileCopyrightText: Trikkos contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Tests of the program trikkos_solve.
function(trikkos_solve_test)
  trikkos_example_test(solve ${ARGN})
endfunction()

set(matrix "${CMAKE_CURRENT_SOURCE_DIR}/data/poisson_12.mtx")
set(vector "${CMAKE_CURRENT_SOURCE_DIR}/data/poisson_12_rhs.mtx")
set(solution "${CMAKE_CURRENT_BINARY_DIR}/poisson_12_solution.mtx")

trikkos_solve_test(help 0 "--partition-size P" --help)
trikkos_solve_test(file 0 "n = 12\n.*status +ok\n" "${matrix}")
trikkos_solve_test(rhs 0 "status +ok\nsolution +in " "${matrix}" --rhs "${vector}" --output "${solution}")
trikkos_solve_test(read_back 0 "status +ok\n" "${matrix}" --rhs "${solution}")
set_tests_properties(Example.solve.rhs PROPERTIES FIXTURES_SETUP trikkos_solve_output)
set_tests_properties(Example.solve.read_back PROPERTIES FIXTURES_REQUIRED trikkos_solve_output)
trikkos_solve_test(gallery 0 "uniform, n = 100000\n" --gallery uniform --size=1e5 --seed 7)
trikkos_solve_test(algorithm 0 "algorithm +thomas\n"
  --gallery poisson --size 1000 --algorithm thomas --repeat 1)
trikkos_solve_test(partition_size 0 "status +ok\n" --gallery uniform --size 1000 --partition-size 7)
trikkos_solve_test(stability 0 "automatic: passed\n" --stability)

trikkos_solve_test(singular 1 "status +the matrix is singular" --gallery zero_row --size 100)
trikkos_solve_test(not_finite 1 "not written to " --gallery nan_entry --size 100 --output "${solution}.none")

trikkos_solve_test(no_arguments 2 "expected exactly one of")
trikkos_solve_test(unknown_option 2 "unknown option '--fast'" --fast "${matrix}")
trikkos_solve_test(missing_value 2 "--rhs needs a value" "${matrix}" --rhs)
trikkos_solve_test(missing_file 2 "cannot be opened: No such file" "${matrix}.none")
trikkos_solve_test(directory 2 "cannot be read: Is a directory" "${CMAKE_CURRENT_SOURCE_DIR}")
trikkos_solve_test(not_a_matrix 2 "poisson_12_rhs.mtx:[0-9]: the matrix is 12 x 1, expected a square one" "${vector}")
trikkos_solve_test(not_a_matrix_file 2 ":1: expected a header such as" "${CMAKE_CURRENT_LIST_FILE}")
trikkos_solve_test(wrong_rows 2 "has 12 rows, expected 10" --gallery uniform --size 10 --rhs "${vector}")
trikkos_solve_test(wrong_size 2 "--size is '1.5', expected a whole number from 1 to 1e15"
  --gallery uniform --size 1.5)
trikkos_solve_test(too_large 2 "1000000000000 rows need|failed to allocate" --gallery uniform --size 1e12)
trikkos_solve_test(wrong_type 2 "'unifrom' is none of uniform, " --gallery unifrom --size 10)
trikkos_solve_test(wrong_algorithm 2 "'cramer', expected one of automatic, "
  --gallery uniform --size 10 --algorithm cramer)
trikkos_solve_test(wrong_partition_size 2 "partition_size is 1, expected"
  --gallery uniform --size 10 --partition-size 1)
trikkos_solve_test(unwritable 2 "none/x.mtx: cannot be opened" "${matrix}" --output "${matrix}.none/x.mtx")
