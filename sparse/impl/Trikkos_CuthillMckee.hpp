// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_CUTHILLMCKEE_HPP
#define TRIKKOS_IMPL_CUTHILLMCKEE_HPP

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

/// \file
/// The reverse Cuthill-McKee order of a graph, by one thread of the host.

namespace Trikkos::Impl {

/// Component after component, breadth first from a row at its rim, neighbours by their degree
/// (Cuthill and McKee 1969); then backwards (George 1971).
class CuthillMckee {
 public:
  /// \param start, neighbour  neighbours of n rows, as RowGraph's
  CuthillMckee(std::int64_t n, const std::int64_t* start, const std::int32_t* neighbour)
      : m_start(start), m_neighbour(neighbour), m_seen(n, 0) {
    m_order.reserve(n);
    for (std::int64_t i = 0; i < n; ++i)
      if (m_seen[i] == 0) add_component(static_cast<std::int32_t>(i));
    std::reverse(m_order.begin(), m_order.end());
  }
  /// The row of each position.
  const std::vector<std::int32_t>& order() const { return m_order; }

 private:
  auto rank(std::int32_t i) const { return std::tuple(m_start[i + 1] - m_start[i], i); }
  bool is_before(std::int32_t i, std::int32_t j) const { return rank(i) < rank(j); }

  /// From one end to the other, as long as that is farther (George and Liu 1979).
  void add_component(std::int32_t root) {
    const std::size_t begin = m_order.size();
    std::int64_t depth = 0;
    while (true) {
      const std::int64_t found = visit(begin, root);
      if (found <= depth) return;
      depth = found;
      root = *std::min_element(m_order.begin() + static_cast<std::ptrdiff_t>(m_last_level),
                               m_order.end(), [this](auto i, auto j) { return is_before(i, j); });
    }
  }
  /// Lists the component of a row. Returns the number of levels.
  std::int64_t visit(std::size_t begin, std::int32_t root) {
    m_order.resize(begin);
    ++m_visit;
    see(root);
    std::int64_t levels = 0;
    for (std::size_t level = begin; level < m_order.size(); ++levels) {
      m_last_level = level;
      const std::size_t end = m_order.size();
      for (; level < end; ++level) see_neighbours(m_order[level]);
    }
    return levels;
  }
  void see(std::int32_t i) {
    if (m_seen[i] == m_visit) return;
    m_seen[i] = m_visit;
    m_order.push_back(i);
  }
  void see_neighbours(std::int32_t i) {
    const auto first = static_cast<std::ptrdiff_t>(m_order.size());
    for (std::int64_t k = m_start[i]; k < m_start[i + 1]; ++k) see(m_neighbour[k]);
    std::sort(m_order.begin() + first, m_order.end(),
              [this](auto a, auto b) { return is_before(a, b); });
  }

  const std::int64_t* m_start;
  const std::int32_t* m_neighbour;
  std::vector<std::int64_t> m_seen;  // by which visit
  std::vector<std::int32_t> m_order;
  std::int64_t m_visit = 0;
  std::size_t m_last_level = 0;
};

}  // namespace Trikkos::Impl

#endif
