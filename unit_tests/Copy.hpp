// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_TEST_COPY_HPP
#define TRIKKOS_TEST_COPY_HPP

#include <Kokkos_Core.hpp>

/// \file
/// Kokkos::deep_copy for Views of any rank up to 2, layout and memory space, through one type of
/// View: compiled once a scalar (Instances.hpp), not once for each pair of types.

namespace Test {

/// A View of rank 0, 1 or 2 as one of rank 2.
template <class T, class Space>
using Array = Kokkos::View<T**, Kokkos::LayoutStride, Space, Kokkos::MemoryUnmanaged>;

template <class View>
auto as_array(const View& v) {
  constexpr int rank = View::rank();
  static_assert(rank <= 2, "Test::copy: Views of rank 0, 1 or 2");
  std::size_t extent[2] = {1, 1}, stride[2] = {1, 1};
  for (int k = 0; k < rank; ++k) {
    extent[2 - rank + k] = v.extent(k);
    stride[2 - rank + k] = v.stride(k);
  }
  return Array<typename View::value_type, typename View::memory_space>(
      v.data(), Kokkos::LayoutStride(extent[0], stride[0], extent[1], stride[1]));
}

/// Between the memory of an execution space and that of the host.
template <class T, class Exec>
struct Transfer {
  using Device = typename Exec::memory_space;
  using Host = Kokkos::HostSpace;

  static void within(const Array<T, Device>& to, const Array<const T, Device>& from);
  static void to_host(const Array<T, Host>& to, const Array<const T, Device>& from);
  static void to_device(const Array<T, Device>& to, const Array<const T, Host>& from);
  static void fill(const Array<T, Device>& to, const T& value);

 private:
  /// Memory spaces exchange what lies side by side.
  template <class To, class From>
  static void cross(const To& to, const From& from) {
    using Space = typename From::memory_space;
    const Kokkos::View<T**, Kokkos::LayoutRight, Space> gathered("Test::copy", from.extent(0),
                                                                 from.extent(1));
    Kokkos::deep_copy(gathered, from);
    Kokkos::deep_copy(to,
                      Kokkos::create_mirror_view_and_copy(typename To::memory_space{}, gathered));
  }
};
template <class T, class Exec>
void Transfer<T, Exec>::within(const Array<T, Device>& to, const Array<const T, Device>& from) {
  Kokkos::deep_copy(to, from);
}
template <class T, class Exec>
void Transfer<T, Exec>::to_host(const Array<T, Host>& to, const Array<const T, Device>& from) {
  cross(to, from);
}
template <class T, class Exec>
void Transfer<T, Exec>::to_device(const Array<T, Device>& to, const Array<const T, Host>& from) {
  cross(to, from);
}
template <class T, class Exec>
void Transfer<T, Exec>::fill(const Array<T, Device>& to, const T& value) {
  Kokkos::deep_copy(to, value);
}

/// That of the execution space that is tested, or of the host's own for Views of the host.
template <class T, class... Spaces>
using TransferOf =
    Transfer<T, std::conditional_t<(std::is_same_v<Spaces, Kokkos::HostSpace> && ...),
                                   Kokkos::DefaultHostExecutionSpace, TEST_EXECSPACE>>;

template <class View, class FromView>
void copy(const View& to, const FromView& from) {
  using T = typename View::value_type;
  using To = typename View::memory_space;
  using From = typename FromView::memory_space;
  using Of = TransferOf<T, To, From>;
  const Array<const T, From> source = as_array(from);
  if constexpr (std::is_same_v<To, From>)
    Of::within(as_array(to), source);
  else if constexpr (std::is_same_v<To, Kokkos::HostSpace>)
    Of::to_host(as_array(to), source);
  else
    Of::to_device(as_array(to), source);
}
template <class View>
void fill(const View& to, const typename View::value_type& value) {
  TransferOf<typename View::value_type, typename View::memory_space>::fill(as_array(to), value);
}
/// On the host, with the strides of a View of its own.
template <class View>
auto host_copy(const View& from) {
  const auto host = Kokkos::create_mirror(from);
  copy(host, from);
  return host;
}

}  // namespace Test

#endif
