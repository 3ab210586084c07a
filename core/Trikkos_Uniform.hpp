// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_UNIFORM_HPP
#define TRIKKOS_UNIFORM_HPP

#include <Trikkos_Concepts.hpp>
#include <concepts>

namespace Trikkos {

/// A band whose n entries are equal, of which one is stored: it takes the place of a View.
///
///   Kokkos::View<double, Exec> off("off");
///   Kokkos::deep_copy(exec, off, -1.);
///   Trikkos::Tridiagonal A{Trikkos::Uniform{off, n}, diag, Trikkos::Uniform{off, n}};
///
/// For one matrix the value is a View of rank 0. For many, each with an entry of its own, there is
/// a value for each system: rank 1 (system) is a band (system, row), rank 2 (system, system) a band
/// (system, system, row). Like a View it keeps its memory alive, and new values in it are seen by
/// the next solve. `toeplitz` makes whole matrices.
///
/// Cost: no traffic for the band but that of its values; a Plan stores all n entries.
template <ViewType Value>
struct Uniform {
  using value_type = typename Value::value_type;
  using non_const_value_type = typename Value::non_const_value_type;
  using memory_space = typename Value::memory_space;

  Value value;
  std::int64_t n = 0;

  Uniform() = default;
  template <std::integral Size>
  KOKKOS_FUNCTION Uniform(const Value& value_, Size n_)
      : value(value_), n(static_cast<std::int64_t>(n_)) {}

  // As of a View whose entries of one system share their place in memory.
  static KOKKOS_INLINE_FUNCTION constexpr std::size_t rank() { return Value::rank() + 1; }
  KOKKOS_INLINE_FUNCTION value_type* data() const { return value.data(); }
  KOKKOS_INLINE_FUNCTION std::size_t extent(std::size_t axis) const {
    if constexpr (Value::rank() > 0)
      if (axis < Value::rank()) return value.extent(axis);
    return static_cast<std::size_t>(n);
  }
  KOKKOS_INLINE_FUNCTION std::size_t stride(std::size_t axis) const {
    if constexpr (Value::rank() > 0)
      if (axis < Value::rank()) return value.stride(axis);
    return 0;
  }
};
template <class Value, class Size>
Uniform(Value, Size) -> Uniform<Value>;

template <class T>
inline constexpr bool is_uniform_v = false;
template <class Value>
inline constexpr bool is_uniform_v<Uniform<Value>> = true;

/// A diagonal of a matrix.
template <class T>
concept BandType = ViewType<T> || is_uniform_v<std::remove_cvref_t<T>>;

}  // namespace Trikkos

#endif
