// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_SPIKE_HPP
#define TRIKKOS_IMPL_SPIKE_HPP

#include <impl/Trikkos_Check.hpp>
#include <impl/partition/Trikkos_InKernelPartitions.hpp>
#include <impl/partition/Trikkos_Partitioned.hpp>
#include <impl/spike/Trikkos_GlobalPartitions.hpp>
#include <variant>

namespace Trikkos::Impl {

/// `Algorithm::spike` as a host call: partitions on chip (SIMD lanes on a host, staged tiles on a
/// device) or, on a device, in its memory; each with and without pivoting.
template <class T, class Exec>
class Spike {
 public:
  Spike(const Shape& shape, const Options& options) : m_method(method(shape, options)) {}

  std::int64_t storage_words() const {
    return std::visit([](const auto& m) { return m.storage_words(); }, m_method);
  }
  std::int64_t shared_words() const {
    return std::visit([](const auto& m) { return m.shared_words(); }, m_method);
  }
  std::int64_t parallel_items() const {
    return std::visit([](const auto& m) { return m.parallel_items(); }, m_method);
  }
  void solve(const Exec& exec, const Problem<T>& problem) const {
    std::visit([&](const auto& m) { m.solve(exec, problem); }, m_method);
  }

 private:
  template <Pivoting P>
  using OnChip = Partitioned<T, Exec, DiagonalPivoting<P>>;
  template <Pivoting P>
  using Global = GlobalPartitions<T, Exec, P>;
  using Method =
      std::conditional_t<is_host_v<Exec>,
                         std::variant<OnChip<Pivoting::diagonal>, OnChip<Pivoting::none>>,
                         std::variant<OnChip<Pivoting::diagonal>, OnChip<Pivoting::none>,
                                      Global<Pivoting::diagonal>, Global<Pivoting::none>>>;

  template <Pivoting P>
  static Method method_with(const Shape& shape, const Options& options) {
    if constexpr (!is_host_v<Exec>) {
      // Longer partitions leave scratch for fewer threads: 32 rows take 3.3 times as long on chip
      // as 16, and 1.3 times as long as marshaled ones (H200, double).
      const std::int64_t rows = options.partition_size();
      const bool fits = options.spike().dynamic_tiling == 0 && rows <= longest_staged &&
                        tile_shape<T>(rows).lanes() == DefaultTile<T>::lanes;
      const Marshaling how = options.spike().marshaling;
      if (how == Marshaling::global || how == Marshaling::none ||
          (how == Marshaling::automatic && !fits))
        return Global<P>(shape, options);
    }
    return OnChip<P>(shape, options);
  }
  static Method method(const Shape& shape, const Options& options) {
    return options.spike().pivoting == Pivoting::none
               ? method_with<Pivoting::none>(shape, options)
               : method_with<Pivoting::diagonal>(shape, options);
  }

  Method m_method;
};

template <>
struct FormsOf<Algorithm::spike> {
  template <class T, class Exec>
  using Call = Spike<T, Exec>;

  static KOKKOS_INLINE_FUNCTION constexpr std::int64_t team_words(std::int64_t n,
                                                                  const Options& options, bool) {
    return partition_team_words<DiagonalPivoting<Pivoting::diagonal>>(n, options);
  }
  template <class T, class Member>
  static KOKKOS_INLINE_FUNCTION std::int64_t solve_in_team(const Member& member, const Bands<T>& A,
                                                           const Strided<const T>& b,
                                                           const Strided<T>& x,
                                                           const Options& options) {
    if (options.spike().pivoting == Pivoting::none)
      return solve_partitions_in_team<DiagonalPivoting<Pivoting::none>>(member, A, b, x, options);
    return solve_partitions_in_team<DiagonalPivoting<Pivoting::diagonal>>(member, A, b, x, options);
  }
};

}  // namespace Trikkos::Impl

#endif
