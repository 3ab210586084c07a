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
#include <variant>

namespace Trikkos {

namespace Impl {

KOKKOS_INLINE_FUNCTION constexpr Algorithm chosen(Algorithm algorithm, std::int64_t n) {
  return algorithm == Algorithm::automatic ? choose_algorithm(n) : algorithm;
}

/// f(forms) with the forms of the algorithm that solves systems of n rows: the one list of
/// algorithms, for calls and kernels.
#ifdef __CUDACC__
#  pragma nv_exec_check_disable  // f is a host function in calls
#endif
template <class F>
KOKKOS_INLINE_FUNCTION constexpr auto with_forms(Algorithm algorithm, std::int64_t n, const F& f) {
  switch (chosen(algorithm, n)) {
    case Algorithm::automatic:  // is never chosen
    case Algorithm::segmented:
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

/// Any of the methods.
template <class T, class Exec>
using AnyMethod = std::variant<typename FormsOf<Algorithm::segmented>::template Call<T, Exec>,
                               typename FormsOf<Algorithm::spike>::template Call<T, Exec>,
                               typename FormsOf<Algorithm::pcr>::template Call<T, Exec>,
                               typename FormsOf<Algorithm::thomas>::template Call<T, Exec>,
                               typename FormsOf<Algorithm::factored>::template Call<T, Exec>>;

/// The algorithm of a host call.
template <class T, class Exec>
Algorithm chosen(Algorithm algorithm, const Shape& shape) {
  if (algorithm == Algorithm::automatic && FactoredCall<T, Exec>::is_for(shape))
    return Algorithm::factored;
  return chosen(algorithm, shape.n);
}

template <class T, class Exec>
AnyMethod<T, Exec> method(const Shape& shape, const Options& options) {
  const Algorithm algorithm = chosen<T, Exec>(options.algorithm(), shape);
  return with_forms(algorithm, shape.n, [&](auto forms) -> AnyMethod<T, Exec> {
    using Call = typename decltype(forms)::template Call<T, Exec>;
    static_assert(Method<Call, T, Exec>);
    return Call(shape, options);
  });
}

}  // namespace Impl
}  // namespace Trikkos

#endif
