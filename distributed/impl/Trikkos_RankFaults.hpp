// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_RANKFAULTS_HPP
#define TRIKKOS_IMPL_RANKFAULTS_HPP

#include <algorithm>
#include <exception>
#include <impl/Trikkos_Communicator.hpp>
#include <limits>

/// \file
/// What goes wrong on one rank is thrown on all: a rank that threw by itself would leave the others
/// waiting for it in the next collective call. So it keeps its fault, takes part in that call, and
/// tells.

namespace Trikkos::Impl {

struct Fault {
  enum Kind : int { none, argument, other };  // what is thrown: invalid_argument, runtime_error

  Kind kind = none;
  std::string sentence;
};

/// What `local`, which has no collective calls, throws.
template <class F>
Fault attempt(const F& local) {
  try {
    local();
  } catch (const std::invalid_argument& e) {
    return {Fault::argument, e.what()};
  } catch (const std::exception& e) {
    return {Fault::other, e.what()};
  } catch (...) {
    return {Fault::other, "an unknown exception"};
  }
  return {};
}

/// Throws the fault of rank `from` on all ranks, all of which know that it has one. Collective.
[[noreturn]] inline void raise(const Communicator& comm, const Fault& mine, Fault::Kind kind,
                               int from) {
  char text[512] = {};
  if (comm.rank() == from)
    mine.sentence.copy(text, std::min(mine.sentence.size(), sizeof text - 1));
  comm.broadcast(text, sizeof text, from);
  const std::string sentence = std::string(text) + ", on rank " + std::to_string(from);
  if (kind == Fault::argument) throw std::invalid_argument(sentence);
  throw std::runtime_error(sentence);
}

/// Of all ranks' codes the least is that of the first rank that has a fault.
inline constexpr std::int64_t no_fault = std::numeric_limits<std::int64_t>::max();
inline std::int64_t fault_code(const Communicator& comm, const Fault& mine) {
  return mine.kind == Fault::none ? no_fault : std::int64_t(4) * comm.rank() + mine.kind;
}
inline void raise_first(const Communicator& comm, const Fault& mine, std::int64_t least) {
  if (least != no_fault)
    raise(comm, mine, static_cast<Fault::Kind>(least % 4), static_cast<int>(least / 4));
}

/// Goes on where no rank has a fault, else throws that of the first on all. Collective.
inline void agree(const Communicator& comm, const Fault& mine) {
  const std::int64_t code[1] = {fault_code(comm, mine)};
  std::int64_t least[1];
  comm.minimum_of_all(code, least);
  raise_first(comm, mine, least[0]);
}

}  // namespace Trikkos::Impl

#endif
