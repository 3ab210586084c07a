// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_SPIKE_HPP
#define TRIKKOS_IMPL_SPIKE_HPP

#include <impl/Trikkos_Check.hpp>
#include <impl/partition/Trikkos_Partitioned.hpp>
#include <impl/spike/Trikkos_GlobalPartitions.hpp>
#include <variant>

namespace Trikkos::Impl {

/// `Algorithm::spike` as a host call: partitions on chip (SIMD lanes on a host, staged tiles on a
/// device) or, on a device, in its memory; each with and without pivoting.
template <class T, class Exec>
class Spike {
 public:
  Spike(std::int64_t n, const Options& options) : m_method(method(n, options)) {}

  std::int64_t storage_words() const {
    return std::visit([](const auto& m) { return m.storage_words(); }, m_method);
  }
  std::int64_t parallel_items() const {
    return std::visit([](const auto& m) { return m.parallel_items(); }, m_method);
  }
  void launch(const Exec& exec, const Bands<T>& A, const Columns<const T>& b, const Columns<T>& x,
              std::int64_t rhs_count, T* storage, const Diagnosis& diagnosis, bool reset) const {
    std::visit(
        [&](const auto& m) { m.launch(exec, A, b, x, rhs_count, storage, diagnosis, reset); },
        m_method);
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
  static Method method_with(std::int64_t n, const Options& options) {
    if constexpr (!is_host_v<Exec>) {
      // Longer partitions leave scratch for fewer threads: 32 rows take 3.3 times as long on chip
      // as 16, and 1.3 times as long as marshaled ones (H200, double).
      const std::int64_t rows = options.partition_size();
      const bool fits = options.dynamic_tiling() == 0 && rows <= longest_staged &&
                        tile_shape<T>(rows).lanes() == DefaultTile<T>::lanes;
      const Marshaling how = options.marshaling();
      if (how == Marshaling::global || how == Marshaling::none ||
          (how == Marshaling::automatic && !fits))
        return Global<P>(n, options);
    }
    return OnChip<P>(n, options);
  }
  static Method method(std::int64_t n, const Options& options) {
    return options.pivoting() == Pivoting::none ? method_with<Pivoting::none>(n, options)
                                                : method_with<Pivoting::diagonal>(n, options);
  }

  Method m_method;
};

}  // namespace Trikkos::Impl

#endif
