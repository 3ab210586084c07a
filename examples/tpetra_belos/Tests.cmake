# SPDX-FileCopyrightText: Trikkos contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# By 1 and 3 ranks: every preconditioner saves iterations.
set(converged "[^\n]*  converged\n")
foreach(ranks IN ITEMS 1 3)
  set(test Example.tpetra_belos.${ranks})
  trikkos_add_mpi_test(${test} ${ranks} trikkos_tpetra_belos --points 100 --lines 40)
  set_tests_properties(${test} PROPERTIES LABELS tpetra PASS_REGULAR_EXPRESSION
    "${ranks} ranks?, .*none +[0-9][0-9][0-9] ${converged}lines +[0-9]?[0-9] ${converged}ILU\\(0\\) +[0-9]?[0-9] ${converged}IC\\(0\\) +[0-9]?[0-9] ${converged}")
endforeach()
trikkos_example_test(tpetra_belos not_converged 1 "none +2 .*NOT converged" --iterations 2)
trikkos_example_test(tpetra_belos help 0 "--ratio R" --help)
trikkos_example_test(tpetra_belos wrong 2 "--points is 'none', expected a whole number" --points none)
set_tests_properties(Example.tpetra_belos.not_converged Example.tpetra_belos.help
  Example.tpetra_belos.wrong PROPERTIES LABELS tpetra)
