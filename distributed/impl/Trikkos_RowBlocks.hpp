// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_ROWBLOCKS_HPP
#define TRIKKOS_IMPL_ROWBLOCKS_HPP

#include <algorithm>
#include <impl/Trikkos_RankFaults.hpp>
#include <impl/Trikkos_Scalar.hpp>
#include <vector>

namespace Trikkos::Impl {

/// Numbers that must be the same on all ranks.
struct Common {
  const char* what;
  std::int64_t value;
};
template <class T>
Common common_scalar() {
  const auto bytes = static_cast<std::int64_t>(sizeof(Real<T>));
  return {"the scalar (its bytes, negative if complex)", is_complex_v<T> ? -bytes : bytes};
}

/// Which rows of the whole each rank has: known to all.
class RowBlocks {
 public:
  /// `rows` of this rank, and what else it brings, or its fault. Collective, and the first thing
  /// that is: what does not fit together is thrown on all ranks.
  RowBlocks(const char* function, const Communicator& comm, const Fault& fault, std::int64_t rows,
            const std::vector<Common>& common)
      : m_comm(comm), m_first(1) {
    std::vector<std::int64_t> mine{fault.kind, rows};
    for (const Common& c : common) mine.push_back(c.value);
    const std::size_t words = mine.size(), ranks = static_cast<std::size_t>(comm.size());
    std::vector<std::int64_t> all(words * ranks);
    comm.gather_to_all(mine.data(), all.data(), static_cast<std::int64_t>(words));

    for (std::size_t r = 0; r < ranks; ++r)
      if (all[words * r] != Fault::none)
        raise(comm, fault, static_cast<Fault::Kind>(all[words * r]), static_cast<int>(r));
    for (std::size_t r = 0; r < ranks; ++r) {
      for (std::size_t k = 2; k < words; ++k)
        if (all[words * r + k] != all[k])
          throw std::invalid_argument(std::string(function) + ": " + common[k - 2].what + " is " +
                                      std::to_string(all[words * r + k]) + " on rank " +
                                      std::to_string(r) + ", expected " + std::to_string(all[k]) +
                                      " (rank 0)");
      m_first.push_back(m_first.back() + all[words * r + 1]);
    }
  }

  const Communicator& comm() const { return m_comm; }
  int rank() const { return m_comm.rank(); }
  int ranks() const { return m_comm.size(); }
  /// Of all ranks.
  std::int64_t total() const { return m_first.back(); }
  std::int64_t first(int rank) const { return m_first[static_cast<std::size_t>(rank)]; }
  std::int64_t end(int rank) const { return first(rank + 1); }
  std::int64_t rows(int rank) const { return end(rank) - first(rank); }
  std::int64_t first() const { return first(rank()); }
  std::int64_t rows() const { return rows(rank()); }

 private:
  Communicator m_comm;
  std::vector<std::int64_t> m_first;
};

}  // namespace Trikkos::Impl

#endif
