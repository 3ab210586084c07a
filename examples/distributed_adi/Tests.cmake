# SPDX-FileCopyrightText: Trikkos contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# The error is that of the scheme, the same on any number of ranks.
foreach(ranks IN ITEMS 1 2 4)
  set(test Example.distributed_adi.${ranks})
  trikkos_add_mpi_test(${test} ${ranks} trikkos_distributed_adi --axes 3 --points 15 --steps 16)
  set_tests_properties(${test} PROPERTIES
    PASS_REGULAR_EXPRESSION "on ${ranks} ranks\ntime.*\nerror +1.028e-03 against.*\nstatus +ok")
endforeach()
trikkos_add_mpi_test(Example.distributed_adi.flat 4 trikkos_distributed_adi
  --axes 2 --points 31 --steps 32)
set_tests_properties(Example.distributed_adi.flat PROPERTIES
  PASS_REGULAR_EXPRESSION "error +5.711e-04 against.*\nstatus +ok")
trikkos_add_mpi_test(Example.distributed_adi.wrong 2 trikkos_distributed_adi --points 1)
set_tests_properties(Example.distributed_adi.wrong PROPERTIES PASS_REGULAR_EXPRESSION
  "trikkos_distributed_adi: --points is '1', expected at least one for each rank")
