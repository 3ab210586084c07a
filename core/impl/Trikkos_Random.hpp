// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_RANDOM_HPP
#define TRIKKOS_IMPL_RANDOM_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>

/// \file
/// Random numbers without state: the number for (seed, stream, index) is always the same one, on
/// every backend and for any number of threads.

namespace Trikkos::Impl {

/// The output function of splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number
/// generators, OOPSLA 2014; constants of Vigna's splitmix64.c).
KOKKOS_INLINE_FUNCTION constexpr std::uint64_t mix64(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// 64 random bits: output `index` of the splitmix64 generator that (seed, stream) starts.
KOKKOS_INLINE_FUNCTION constexpr std::uint64_t random_bits(std::uint64_t seed, std::uint64_t stream,
                                                           std::int64_t index) {
  constexpr std::uint64_t golden = 0x9e3779b97f4a7c15u;
  const std::uint64_t start = mix64(seed + golden * (stream + 1));
  return mix64(start + golden * (static_cast<std::uint64_t>(index) + 1));
}

/// Uniform on (-1,1): an odd multiple of 2^-53, so never zero and exact in double.
KOKKOS_INLINE_FUNCTION constexpr double random_uniform(std::uint64_t seed, std::uint64_t stream,
                                                       std::int64_t index) {
  const auto k = static_cast<std::int64_t>(random_bits(seed, stream, index) >> 11);  // 53 bits
  return static_cast<double>(2 * k + 1 - (std::int64_t{1} << 53)) * 0x1p-53;
}

}  // namespace Trikkos::Impl

#endif
