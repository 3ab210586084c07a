// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_LINESAHEAD_HPP
#define TRIKKOS_IMPL_LINESAHEAD_HPP

#include <impl/Trikkos_LaneVectors.hpp>

namespace Trikkos::Impl {

/// Contiguous systems, one in each lane of a vector, are more streams than the hardware follows.
/// So memory is asked for lines of each array with each row that is solved: those of a block of
/// rows ahead, or of the systems behind these. Lines that lie side by side come one after the
/// other: in another order they take three times as long.
template <class T>
class LinesAhead {
 public:
  /// Of systems of n rows, `systems` of which are solved together, and are to be solved next.
  KOKKOS_FORCEINLINE_FUNCTION LinesAhead(std::int64_t n, int systems) : m_n(n), m_systems(systems) {
    next_block();
  }
  /// How many lines a row of a vector, the next one, is worth. After each of them `step` is called.
  KOKKOS_FORCEINLINE_FUNCTION int due() {
    m_bytes += lane_count<T> * static_cast<int>(sizeof(T));
    const int lines = m_bytes / line;
    m_bytes %= line;
    return lines;
  }
  template <bool to_write, class Number>
  KOKKOS_FORCEINLINE_FUNCTION void ask(const Vectors<Number>& of) const {
    [[maybe_unused]] const Number* const p =
        of.data + (m_first_system + m_system) * of.system_stride + m_first_row + m_line * words;
    KOKKOS_IF_ON_HOST((__builtin_prefetch(p, to_write, 3);))
  }
  KOKKOS_FORCEINLINE_FUNCTION void step() {
    if (++m_line < m_lines) return;
    m_line = 0;
    if (++m_system < m_systems) return;
    m_system = 0;
    next_block();
  }

 private:
  static constexpr int line = 64;                                       // bytes
  static constexpr std::int64_t words = line / sizeof(T), block = 256;  // rows

  KOKKOS_FORCEINLINE_FUNCTION void next_block() {
    m_first_row += block;
    if (m_first_row >= m_n) {
      m_first_row = 0;
      m_first_system += m_systems;
    }
    const std::int64_t rest = m_n - m_first_row;
    m_lines = ((rest < block ? rest : block) + words - 1) / words;
  }

  std::int64_t m_n, m_first_row = 0, m_first_system = 0;
  std::int64_t m_line = 0, m_lines = 0;  // of a system's block
  int m_systems, m_system = 0, m_bytes = 0;
};

}  // namespace Trikkos::Impl

#endif
