# SPDX-FileCopyrightText: Trikkos contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

function(trikkos_distributed_example name ranks)
  add_test(NAME Example.distributed_solve.${name}
    COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks} ${MPIEXEC_PREFLAGS}
            $<TARGET_FILE:trikkos_distributed_solve> ${MPIEXEC_POSTFLAGS} ${ARGN})
  set_tests_properties(Example.distributed_solve.${name} PROPERTIES
    LABELS example TIMEOUT 60 PROCESSORS 2 ENVIRONMENT "${Trikkos_MPI_ENVIRONMENT}")
endfunction()

trikkos_distributed_example(ring 3 --size 20000 --periodic)
trikkos_distributed_example(wrong 2 --size none)
set_tests_properties(Example.distributed_solve.ring PROPERTIES
  PASS_REGULAR_EXPRESSION "backward error +[0-9.]+e-1[5-9]\nstatus +ok")
set_tests_properties(Example.distributed_solve.wrong PROPERTIES
  PASS_REGULAR_EXPRESSION
  "trikkos_distributed_solve: --size is 'none', expected a whole number from 1 to 1e9")
