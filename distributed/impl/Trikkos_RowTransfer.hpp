// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_ROWTRANSFER_HPP
#define TRIKKOS_IMPL_ROWTRANSFER_HPP

#include <impl/Trikkos_Check.hpp>
#include <impl/Trikkos_CopyWindow.hpp>
#include <impl/Trikkos_Launch.hpp>
#include <impl/Trikkos_MessageBuffer.hpp>
#include <impl/Trikkos_RowBlocks.hpp>
#include <vector>

/// \file
/// Vectors between one rank and the blocks of all, a window of systems and rows at a time, so that
/// buffers are small and the counts of MPI suffice.

namespace Trikkos::Impl {

/// Systems and rows of the whole that go in one message. The buffer has those of one rank behind
/// those of the other.
struct Window {
  static constexpr std::int64_t most_values = std::int64_t(1) << 24;

  std::int64_t system, systems, row, rows;

  /// Rows of the rank that are in it: from `begin` on, so many.
  std::int64_t begin(const RowBlocks& blocks, int rank) const {
    return std::clamp(blocks.first(rank), row, row + rows);
  }
  std::int64_t length(const RowBlocks& blocks, int rank) const {
    return std::clamp(blocks.end(rank), row, row + rows) - begin(blocks, rank);
  }
};
template <class F>
void for_windows(std::int64_t systems, std::int64_t rows, const F& f,
                 std::int64_t most_values = Window::most_values) {
  if (systems == 0 || rows == 0) return;
  const std::int64_t most_rows = std::min(rows, most_values);
  const std::int64_t most_systems = std::min(systems, most_values / most_rows);
  for (std::int64_t k = 0; k < systems; k += most_systems)
    for (std::int64_t i = 0; i < rows; i += most_rows)
      f(Window{k, std::min(most_systems, systems - k), i, std::min(most_rows, rows - i)});
}

template <class T, class Exec>
class RowTransfer {
 public:
  /// Collective. `all` is that of the root.
  template <class All, class Block>
  RowTransfer(const char* function, const Exec& exec, MPI_Comm comm, int root, const All& all,
              const Block& block, std::int64_t most_values = Window::most_values)
      : m_blocks(function, Communicator(function, comm), {}, row_count(block),
                 {common_scalar<T>(),
                  {"root", root},
                  {"the number of systems of block", system_count(block)}}),
        m_root(root),
        m_systems(system_count(block)),
        m_most_values(most_values) {
    const Fault fault = attempt([&] {
      if (root < 0 || root >= m_blocks.ranks())
        throw std::invalid_argument(std::string(function) + ": root is " + std::to_string(root) +
                                    ", expected 0 to " + std::to_string(m_blocks.ranks() - 1));
      if (is_root()) {
        expect_extent(function, "all", "rows", row_count(all), m_blocks.total(), "all blocks");
        expect_extent(function, "all", "systems", system_count(all), m_systems, "block");
      }
      std::int64_t whole = 0, mine = 0;
      for_windows([&](const Window& w) {
        whole = std::max(whole, w.systems * w.rows);
        mine = std::max(mine, w.systems * w.length(m_blocks, m_blocks.rank()));
      });
      m_all = {exec, is_root() ? whole : 0};
      m_mine = {exec, mine};
    });
    agree(m_blocks.comm(), fault);
  }

  void scatter(const Exec& exec, const Vectors<const T>& all, const Vectors<T>& block) const {
    for_windows([&](const Window& w) {
      for (int r = 0; is_root() && r < m_blocks.ranks(); ++r)
        copy(exec, w, r,
             {all, in_window(w, r), w.system, w.begin(m_blocks, r), 0, 0, w.length(m_blocks, r)});
      m_all.to_host(exec);
      const Counts n = counts(w);
      check_mpi(MPI_Scatterv(m_all.host.data(), n.words.data(), n.starts.data(), type(),
                             m_mine.host.data(), n.mine, type(), m_root, m_blocks.comm().comm()),
                "MPI_Scatterv");
      m_mine.to_device(exec);
      copy(exec, w, me(),
           {mine(w).read_only(), block, 0, 0, w.system, from_first(w), w.length(m_blocks, me())});
      exec.fence("Trikkos::scatter: the buffer is free again");
    });
  }
  void gather(const Exec& exec, const Vectors<const T>& block, const Vectors<T>& all) const {
    for_windows([&](const Window& w) {
      copy(exec, w, me(),
           {block, mine(w), w.system, from_first(w), 0, 0, w.length(m_blocks, me())});
      m_mine.to_host(exec);
      const Counts n = counts(w);
      check_mpi(MPI_Gatherv(m_mine.host.data(), n.mine, type(), m_all.host.data(), n.words.data(),
                            n.starts.data(), type(), m_root, m_blocks.comm().comm()),
                "MPI_Gatherv");
      if (!is_root()) return;
      m_all.to_device(exec);
      for (int r = 0; r < m_blocks.ranks(); ++r)
        copy(exec, w, r,
             {in_window(w, r).read_only(), all, 0, 0, w.system, w.begin(m_blocks, r),
              w.length(m_blocks, r)});
      exec.fence("Trikkos::gather: the buffer is free again");
    });
  }

 private:
  struct Counts {
    std::vector<int> words, starts;  // of each rank, in real numbers
    int mine = 0;
  };
  Counts counts(const Window& w) const {
    Counts n;
    for (int r = 0; r < m_blocks.ranks(); ++r) {
      n.words.push_back(real_words(w.systems * w.length(m_blocks, r)));
      n.starts.push_back(real_words(start(w, r)));
    }
    n.mine = n.words[static_cast<std::size_t>(me())];
    return n;
  }
  static int real_words(std::int64_t values) {
    return static_cast<int>(MessageOf<T>::words * values);
  }
  static MPI_Datatype type() { return MessageOf<T>::type(); }

  template <class F>
  void for_windows(const F& f) const {
    Impl::for_windows(m_systems, m_blocks.total(), f, m_most_values);
  }
  bool is_root() const { return me() == m_root; }
  int me() const { return m_blocks.rank(); }
  std::int64_t start(const Window& w, int rank) const {
    return w.systems * (w.begin(m_blocks, rank) - w.row);
  }
  std::int64_t from_first(const Window& w) const {
    return w.begin(m_blocks, me()) - m_blocks.first();
  }
  /// What a rank has of a window, in the buffer of the root and in its own.
  Vectors<T> in_window(const Window& w, int rank) const {
    return {m_all.device.data() + start(w, rank), w.length(m_blocks, rank), 1};
  }
  Vectors<T> mine(const Window& w) const {
    return {m_mine.device.data(), w.length(m_blocks, me()), 1};
  }
  void copy(const Exec& exec, const Window& w, int rank, const CopyWindow<T>& kernel) const {
    Kokkos::parallel_for("Trikkos::distributed::copy",
                         range(exec, w.systems * w.length(m_blocks, rank)), kernel);
  }

  RowBlocks m_blocks;
  int m_root;
  std::int64_t m_systems, m_most_values;
  MessageBuffer<T, Exec> m_all, m_mine;
};

}  // namespace Trikkos::Impl

#endif
