// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_DISTRIBUTED_HPP
#define TRIKKOS_DISTRIBUTED_HPP

/// \file
/// Every public header of Trikkos::mpi.

#include <Trikkos_DistributedMatrix.hpp>
#include <Trikkos_DistributedPlan.hpp>
#include <Trikkos_DistributedRows.hpp>
#include <Trikkos_DistributedSolve.hpp>
#include <Trikkos_DistributedWorkspace.hpp>

#endif
