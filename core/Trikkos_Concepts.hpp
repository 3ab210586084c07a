// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_CONCEPTS_HPP
#define TRIKKOS_CONCEPTS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

/// \file
/// The first argument of every `Trikkos::solve` says who works: an execution space instance (a host
/// call), a team member (a whole team inside a kernel) or `this_thread` (one thread inside a
/// kernel).

namespace Trikkos {

/// Tag for "the calling thread solves one system", inside a kernel or on the host.
struct ThisThread {};
inline constexpr ThisThread this_thread{};

template <class T>
concept ExecutionSpace = Kokkos::is_execution_space_v<std::remove_cvref_t<T>>;

template <class T>
concept TeamMember = Kokkos::is_team_handle_v<std::remove_cvref_t<T>>;

template <class T>
concept ThisThreadTag = std::is_same_v<std::remove_cvref_t<T>, ThisThread>;

template <class T>
concept ViewType = Kokkos::is_view_v<std::remove_cvref_t<T>>;

namespace Impl {

template <class T>
inline constexpr bool is_scalar_v =
    std::is_same_v<T, float> || std::is_same_v<T, double> ||
    std::is_same_v<T, Kokkos::complex<float>> || std::is_same_v<T, Kokkos::complex<double>>;

template <class Exec, class View>
inline constexpr bool is_accessible_v =
    Kokkos::SpaceAccessibility<Exec, typename View::memory_space>::accessible;

/// True where the execution space is the host's: one thread then drives SIMD lanes instead of a
/// team of device threads. Where its memory can be read from does not matter: a device may share
/// it.
template <class Exec>
inline constexpr bool is_host_v = std::is_same_v<typename Exec::memory_space, Kokkos::HostSpace>;

}  // namespace Impl
}  // namespace Trikkos

#endif
