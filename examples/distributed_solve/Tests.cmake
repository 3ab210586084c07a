# SPDX-FileCopyrightText: Trikkos contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

trikkos_add_mpi_test(Example.distributed_solve.ring 3 trikkos_distributed_solve
  --size 20000 --periodic)
trikkos_add_mpi_test(Example.distributed_solve.wrong 2 trikkos_distributed_solve --size none)
set_tests_properties(Example.distributed_solve.ring PROPERTIES
  PASS_REGULAR_EXPRESSION "backward error +[0-9.]+e-1[5-9]\nstatus +ok")
set_tests_properties(Example.distributed_solve.wrong PROPERTIES
  PASS_REGULAR_EXPRESSION
  "trikkos_distributed_solve: --size is 'none', expected a whole number from 1 to 1e9")
