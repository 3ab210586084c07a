// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_METHODS_HPP
#define TRIKKOS_IMPL_METHODS_HPP

#include <impl/Trikkos_Method.hpp>
#include <impl/factored/Trikkos_Factored.hpp>
#include <impl/pcr/Trikkos_PcrInTeam.hpp>
#include <impl/segmented/Trikkos_Segmented.hpp>
#include <impl/spike/Trikkos_Spike.hpp>
#include <impl/thomas/Trikkos_ThomasCall.hpp>
#include <impl/truncated/Trikkos_Truncated.hpp>
#include <variant>

namespace Trikkos {

namespace Impl {

KOKKOS_INLINE_FUNCTION constexpr Algorithm chosen(Algorithm algorithm, std::int64_t n) {
  return algorithm == Algorithm::automatic ? choose_algorithm(n) : algorithm;
}

/// f(forms) with the forms of the algorithm that solves systems of n rows, with W diagonals on
/// either side: the one list of algorithms, for calls and kernels. In kernels there are no windows.
TRIKKOS_CALLS_ITS_ARGUMENT
template <int W = 1, class F>
requires(W == 1) KOKKOS_INLINE_FUNCTION constexpr auto with_forms(Algorithm algorithm,
                                                                  std::int64_t n, const F& f) {
  switch (chosen(algorithm, n)) {
    case Algorithm::automatic:  // is never chosen
    case Algorithm::segmented:
    case Algorithm::truncated:
      break;
    case Algorithm::spike:
      return f(FormsOf<Algorithm::spike>{});
    case Algorithm::pcr:
      return f(FormsOf<Algorithm::pcr>{});
    case Algorithm::thomas:
      return f(FormsOf<Algorithm::thomas>{});
    case Algorithm::factored:
      return f(FormsOf<Algorithm::factored>{});
  }
  return f(FormsOf<Algorithm::segmented>{});
}
TRIKKOS_CALLS_ITS_ARGUMENT
template <int W, class F>
requires(W > 1) KOKKOS_INLINE_FUNCTION constexpr auto with_forms(Algorithm algorithm,
                                                                 std::int64_t n, const F& f) {
  const Algorithm known = chosen(algorithm, n);
  if (known == Algorithm::thomas) return f(FormsOf<Algorithm::thomas>{});
  if (known != Algorithm::segmented)
    Kokkos::abort(
        "Trikkos::solve: expected algorithm automatic, segmented or thomas (A is pentadiagonal)");
  return f(FormsOf<Algorithm::segmented>{});
}

/// Any of the methods for W diagonals on either side.
template <class T, class Exec, int W>
struct MethodsOf {
  using type = std::variant<typename FormsOf<Algorithm::segmented>::template Call<T, Exec, W>,
                            typename FormsOf<Algorithm::thomas>::template Call<T, Exec, W>,
                            typename FormsOf<Algorithm::factored>::template Call<T, Exec, W>>;
};
template <class T, class Exec>
struct MethodsOf<T, Exec, 1> {
  using type = std::variant<typename FormsOf<Algorithm::segmented>::template Call<T, Exec>,
                            typename FormsOf<Algorithm::truncated>::template Call<T, Exec>,
                            typename FormsOf<Algorithm::spike>::template Call<T, Exec>,
                            typename FormsOf<Algorithm::pcr>::template Call<T, Exec>,
                            typename FormsOf<Algorithm::thomas>::template Call<T, Exec>,
                            typename FormsOf<Algorithm::factored>::template Call<T, Exec>>;
};
template <class T, class Exec, int W = 1>
using AnyMethod = typename MethodsOf<T, Exec, W>::type;

/// The algorithm of a host call.
template <class T, class Exec, int W = 1>
Algorithm chosen(const Options& options, const Shape& shape) {
  const Algorithm algorithm = options.algorithm();
  if (algorithm == Algorithm::automatic && FactoredCall<T, Exec, W>::is_for(shape))
    return Algorithm::factored;
  if constexpr (W == 1)
    if (Truncated<T, Exec>::is_for(shape, options)) return Algorithm::truncated;
  return chosen(algorithm, shape.n);
}

template <class T, class Exec, int W>
requires(W > 1) AnyMethod<T, Exec, W> method(const Shape& shape, const Options& options) {
  const auto make = [&](auto forms) -> AnyMethod<T, Exec, W> {
    using Call = typename decltype(forms)::template Call<T, Exec, W>;
    static_assert(Method<Call, T, Exec, W>);
    return Call(shape, options);
  };
  switch (chosen<T, Exec, W>(options, shape)) {
    case Algorithm::thomas:
      return make(FormsOf<Algorithm::thomas>{});
    case Algorithm::factored:
      return make(FormsOf<Algorithm::factored>{});
    default:
      return make(FormsOf<Algorithm::segmented>{});
  }
}
template <class T, class Exec, int W = 1>
requires(W == 1) AnyMethod<T, Exec> method(const Shape& shape, const Options& options) {
  const Algorithm algorithm = chosen<T, Exec>(options, shape);
  const auto make = [&](auto forms) -> AnyMethod<T, Exec> {
    using Call = typename decltype(forms)::template Call<T, Exec>;
    static_assert(Method<Call, T, Exec>);
    return Call(shape, options);
  };
  if (algorithm == Algorithm::truncated) return make(FormsOf<Algorithm::truncated>{});
  return with_forms(algorithm, shape.n, make);
}

}  // namespace Impl
}  // namespace Trikkos

#endif
