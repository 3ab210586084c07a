// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_MARSHAL_HPP
#define TRIKKOS_MARSHAL_HPP

#include <impl/Trikkos_Check.hpp>
#include <impl/Trikkos_TiledTranspose.hpp>

namespace Trikkos {

namespace Impl {
/// The index with the smaller stride, or the only one that has neighbours.
template <class View>
Adjacent adjacent(const View& v) {
  if (v.extent(0) == 1) return Adjacent::rows;
  if (v.extent(1) == 1) return Adjacent::systems;
  return v.stride(0) < v.stride(1) ? Adjacent::systems : Adjacent::rows;
}
}  // namespace Impl

/// Copies many vectors into another layout: to(k, i) = from(k, i).
///
/// LAPACK and its kin keep each system contiguous (LayoutRight); threads that each work on a system
/// want row i of neighbouring systems side by side (LayoutLeft). Where the layouts differ, a device
/// transposes tiles of 32 x 32 values in team scratch, so that loads and stores are both coalesced
/// (Chang, Stratton, Kim and Hwu, SC'12, section III-A).
///
///   Kokkos::View<double**, Kokkos::LayoutLeft> by_row("by_row", b.extent(0), b.extent(1));
///   Trikkos::marshal(exec, b, by_row);
///
/// \param from  rank 2 (system, row), any layout, strides included; not modified
/// \param to    rank 2 of the same extents and value type, any layout; must not overlap `from`
/// \throws std::invalid_argument for extents that differ
///
/// Asynchronous on `exec`: no fence, no allocation. (Kokkos' CUDA backend makes one for each team
/// launch on an instance that no Workspace or Plan was made for.) Reads and writes each value once:
/// 16 bytes a value in double.
template <ExecutionSpace Exec, class From, class To>
void marshal(const Exec& exec, const From& from, const To& to) {
  static_assert(ViewType<From> && ViewType<To>,
                "Trikkos::marshal: from and to must be Kokkos::Views");
  static_assert(From::rank() == 2 && To::rank() == 2,
                "Trikkos::marshal: from and to must have rank 2 (system, row)");
  static_assert(!std::is_const_v<typename To::value_type>,
                "Trikkos::marshal: to must not be const: it receives the values");
  using T = typename From::non_const_value_type;
  static_assert(Impl::is_scalar_v<T>,
                "Trikkos::marshal: from must hold float, double or Kokkos::complex of either");
  static_assert(std::is_same_v<typename To::non_const_value_type, T>,
                "Trikkos::marshal: to must have the value type of from");
  static_assert(Impl::is_accessible_v<Exec, From> && Impl::is_accessible_v<Exec, To>,
                "Trikkos::marshal: from and to must be accessible from the execution space");
  constexpr auto function = "Trikkos::marshal";
  Impl::expect_extent(function, "to", "systems", to.extent(0), from.extent(0), "from.extent(0)");
  Impl::expect_extent(function, "to", "rows", to.extent(1), from.extent(1), "from.extent(1)");

  Impl::TiledTranspose{Impl::ReadVectors<T>{Impl::vectors<const T>(from)},
                       Impl::WriteVectors<T>{Impl::vectors<T>(to)},
                       static_cast<std::int64_t>(from.extent(0)),
                       static_cast<std::int64_t>(from.extent(1)),
                       Impl::adjacent(from),
                       Impl::adjacent(to)}
      .launch(exec, function);
}

}  // namespace Trikkos

#endif
