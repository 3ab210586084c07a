# SPDX-FileCopyrightText: Trikkos contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Tests of the program trikkos_pcg.
function(trikkos_pcg_test)
  trikkos_example_test(pcg ${ARGN})
endfunction()

set(matrix "${CMAKE_CURRENT_SOURCE_DIR}/data/poisson_12.mtx")
set(vector "${CMAKE_CURRENT_SOURCE_DIR}/data/poisson_12_rhs.mtx")
set(written "${CMAKE_CURRENT_BINARY_DIR}/pcg")

trikkos_pcg_test(help 0 "--preconditioner NAME" --help)
trikkos_pcg_test(grid 0 "method +cg \\(automatic\\)\n.*result +converged after [0-9]+ iterations"
  --points 50 --solution "${written}.csv" --history "${written}_history.csv" --picture "${written}.ppm")
trikkos_pcg_test(wind 0 "method +bicgstab \\(automatic\\)\n.*order multicolour.*result +converged"
  --points 50 --wind --ordering multicolour)
trikkos_pcg_test(file 0 "n = 12, 34 entries\n.*converged after [0-9]+ iteration.*solution +in "
  "${matrix}" --rhs "${vector}" --solution "${written}.mtx")
trikkos_pcg_test(read_back 0 "converged" "${matrix}" --rhs "${written}.mtx")
set_tests_properties(Example.pcg.file PROPERTIES FIXTURES_SETUP trikkos_pcg_output)
set_tests_properties(Example.pcg.read_back PROPERTIES FIXTURES_REQUIRED trikkos_pcg_output)
trikkos_pcg_test(none 0 "preconditioner +none\n.*converged after 6 iterations"
  "${matrix}" --rhs "${vector}" --preconditioner none)

trikkos_pcg_test(not_converged 1 "not converged after 2 iterations" --points 50 --iterations 2)

trikkos_pcg_test(unknown_option 2 "--fast: no such option" --fast)
trikkos_pcg_test(missing_value 2 "--rhs: expected a value" --rhs)
trikkos_pcg_test(missing_file 2 "cannot be opened: No such file" "${matrix}.none")
trikkos_pcg_test(not_a_matrix 2 "is 12 x 1, expected a square matrix" "${vector}")
trikkos_pcg_test(wrong_rows 2 "has 12 rows, expected 100 as in the matrix" --points 10 --rhs "${vector}")
trikkos_pcg_test(wrong_method 2 "--method is 'gmres', expected one of cg, bicgstab" --method gmres)
trikkos_pcg_test(wrong_tolerance 2 "--relative is '2', expected a number between 0 and 1" --relative 2)
trikkos_pcg_test(grid_and_file 2 "but a matrix is given" "${matrix}" --points 10)
trikkos_pcg_test(unwritable 2 "cannot write .*none/h.csv" --points 10 --history "${matrix}.none/h.csv")
