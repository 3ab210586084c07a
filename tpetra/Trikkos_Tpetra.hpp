// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_TPETRA_HPP
#define TRIKKOS_TPETRA_HPP

/// \file
/// Every public header of the component `Trikkos::tpetra`. Programs that include it link Tpetra.

#include <Trikkos_TpetraBlock.hpp>
#include <Trikkos_TpetraLines.hpp>
#include <Trikkos_TpetraOperator.hpp>

#endif
