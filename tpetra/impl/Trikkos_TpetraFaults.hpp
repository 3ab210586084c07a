// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_TPETRAFAULTS_HPP
#define TRIKKOS_IMPL_TPETRAFAULTS_HPP

#include <Teuchos_CommHelpers.hpp>
#include <stdexcept>
#include <string>

namespace Trikkos::Impl {

/// Throws on all ranks what is wrong on the first that has a fault, an empty one being none. Else
/// the others would wait for it in their next collective call.
inline void throw_on_all_ranks(const Teuchos::Comm<int>& comm, std::string fault) {
  const int own = fault.empty() ? comm.getSize() : comm.getRank();
  int first = 0;
  Teuchos::reduceAll(comm, Teuchos::REDUCE_MIN, own, Teuchos::outArg(first));
  if (first == comm.getSize()) return;
  int length = static_cast<int>(fault.size());
  Teuchos::broadcast(comm, first, Teuchos::outArg(length));
  fault.resize(length);
  Teuchos::broadcast(comm, first, length, fault.data());
  throw std::invalid_argument(fault + ", on rank " + std::to_string(first));
}

}  // namespace Trikkos::Impl

#endif
