// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_METHOD_HPP
#define TRIKKOS_IMPL_METHOD_HPP

#include <algorithm>
#include <concepts>
#include <impl/Trikkos_Diagnosis.hpp>
#include <impl/Trikkos_Launch.hpp>
#include <impl/Trikkos_System.hpp>

/// \file
/// What an algorithm is as a host call: an object that knows sizes and options, and no memory.

namespace Trikkos::Impl {

/// The size of what is to be solved.
struct Shape {
  std::int64_t n = 0, count = 1;  // rows of a system, systems
  std::int64_t matrices = 1;      // 1 where one serves all systems, else `count`
  // of a Plan: matrices are factored once and for many solves; whether they are periodic is known
  bool is_factored_once = false, periodic = false;
  bool interleaved = true;  // whether systems may lie so, as far as is known
};

/// Systems on their way through a method. `Matrices`: [k] is the matrix of the k-th; what
/// `segmented` asks of others than `Systems` is in Trikkos_ComputedSystems.hpp.
template <class T, int W = 1, class Matrices = Systems<T, W>>
struct Problem {
  Matrices A;
  Vectors<const T> b;
  Vectors<T> x;  // may be b
  T* storage;    // first what all share, then that of each system
  Diagnosis diagnosis;
  bool resets;  // the diagnosis, before anything is reported

  KOKKOS_INLINE_FUNCTION std::int64_t n() const { return A.first.n; }
  KOKKOS_INLINE_FUNCTION std::int64_t count() const { return A.count; }
  /// So many systems in a row are equally far apart; they are all, or divide them.
  std::int64_t slab() const { return std::min({A.slab, b.slab, x.slab, A.count}); }
  /// From the `first` on about as many as are to be `at_a_time`: of one slab, or of whole ones.
  std::int64_t block_size(std::int64_t first, std::int64_t at_a_time) const {
    const std::int64_t slab = this->slab();
    return at_a_time < slab ? std::min(at_a_time, slab - first % slab)
                            : std::min(at_a_time / slab * slab, count() - first);
  }
  /// So many of `block_size`.
  Problem block(std::int64_t first, std::int64_t count) const {
    return {A.block(first, count),    b.block(first), x.block(first), storage,
            diagnosis.of(first, n()), resets};
  }
};

/// Systems in tiles of `width`, the last of a slab with what is left.
struct SystemTiles {
  std::int64_t slab, in_slab;  // systems, and tiles, of a slab
  int width;

  SystemTiles(std::int64_t slab_, int width_)
      : slab(slab_), in_slab((slab_ + width_ - 1) / width_), width(width_) {}

  struct Tile {
    std::int64_t first;
    int count;
    bool is_inside;  // neither the first nor the last of its slab
  };
  KOKKOS_FORCEINLINE_FUNCTION Tile operator[](std::int64_t t) const {
    const auto [s, i] = split_index(t, in_slab);
    const std::int64_t begin = i * width, rest = slab - begin;
    return {s * slab + begin, rest < width ? static_cast<int>(rest) : width,
            begin > 0 && rest > width};
  }
  /// That so many systems make.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t count(std::int64_t systems) const {
    return slab > 0 ? systems / slab * in_slab : 0;
  }
};

/// Every call is asynchronous on `exec`, allocates nothing, and neither reads nor writes the host's
/// copy of any value.
template <class M, class T, class Exec, int W = 1>
concept Method = std::constructible_from<M, const Shape&, const Options&> &&
    requires(const M& m, const Exec& exec, const Problem<T, W>& problem) {
  // scalars that a system takes while it is being solved, and those that all systems share
  { m.storage_words() } -> std::same_as<std::int64_t>;
  { m.shared_words() } -> std::same_as<std::int64_t>;
  // what one system offers to be done side by side: where it is little, many are solved at a time;
  // members `at_once` and `at_least` tell how many at least, the former if they have one matrix
  { m.parallel_items() } -> std::same_as<std::int64_t>;
  m.solve(exec, problem);
};

/// A method that can make factors of a Plan's matrix, and solve with them in less time and without
/// memory for each system.
template <class M, class T, class Exec, int W = 1>
concept FactoringMethod = Method<M, T, Exec, W> &&
    requires(const M& m, const Exec& exec, const Systems<T, W>& A, const Problem<T, W>& problem,
             T* factors) {
  { m.factor_words() } -> std::same_as<std::int64_t>;  // scalars
  // waits, and tells whether they are to be used: if not, `solve` is
  { m.factor(exec, A, factors) } -> std::same_as<bool>;
  m.solve_factored(exec, problem, factors);
};

/// A method that reduces each system to a small one, which others may solve in its place.
template <class M, class T, class Exec>
concept MethodInPhases = Method<M, T, Exec> &&
    requires(const M& m, const Exec& exec, const Problem<T>& problem) {
  m.reduce(exec, problem);
  m.solve_reduced(exec, problem);
  m.substitute(exec, problem);
};

/// The forms of an algorithm, specialised in its folder:
///   Call<T, Exec>                                   the Method
///   team_words(n, options, periodic)                scalars of scratch that a team takes
///   solve_in_team(member, A, b, x, options)         inside a kernel; the first row that is not
///                                                   finite or not to be trusted, -1 if none, to
///                                                   every thread
template <Algorithm>
struct FormsOf;

}  // namespace Trikkos::Impl

#endif
