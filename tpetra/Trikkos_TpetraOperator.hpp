// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_TPETRAOPERATOR_HPP
#define TRIKKOS_TPETRAOPERATOR_HPP

#include <Tpetra_Map.hpp>
#include <Tpetra_MultiVector.hpp>
#include <Tpetra_Operator.hpp>
#include <Tpetra_Vector.hpp>
#include <Trikkos_IncompleteFactors.hpp>
#include <Trikkos_Solve.hpp>
#include <Trikkos_TpetraLines.hpp>
#include <Trikkos_TriangularPlan.hpp>
#include <Trikkos_Views.hpp>
#include <complex>
#include <impl/Trikkos_TpetraFaults.hpp>
#include <optional>
#include <utility>

namespace Trikkos {

namespace Impl {
template <class T>
struct TpetraScalar {
  using type = T;
};
template <class T>
struct TpetraScalar<Kokkos::complex<T>> {
  using type = std::complex<T>;
};

/// Has matrices of its own for many systems, and takes them in two axes.
template <class Plan>
concept PlanOfMatrices = requires(const Plan& plan) {
  plan.matrices();
};
template <class Plan>
concept PlanOfTranspose = requires(const Plan& plan) {
  { plan.options().transpose() } -> std::convertible_to<Transpose>;
};
}  // namespace Impl

/// A plan as a Tpetra::Operator, Y = alpha A^-1 X + beta Y, for instance as preconditioner in
/// Belos. Each rank solves with its own plan: A is block diagonal, a block or many a rank.
///
///   const Trikkos::IncompleteCholesky ic(exec, Trikkos::local_block(exec, A));
///   auto M = Teuchos::rcp(new Trikkos::TpetraOperator(ic, A.getRowMap()));
///   problem.setLeftPrec(M);
///
/// With `TpetraLines` the rows of a rank are the points of a grid, and the plan, of one matrix or
/// of one for each line, solves along its lines. Several columns of a vector are solved in one
/// call, with lines column by column.
///
/// Works on the default instance of Node's execution space, as Tpetra does: the plan is made on it.
/// `apply` does not wait for the result; it allocates only where alpha or beta want it. What its
/// solve found, the plan's status tells. A handle like the plan, whose copies share the memory:
/// plan.update(exec, A) is new values for the operator.
///
/// \tparam Plan  what `solve(exec, plan, b, x)` takes: Plan, TriangularPlan, IncompleteLu,
///               IncompleteCholesky
template <class Plan, class Scalar = typename Impl::TpetraScalar<typename Plan::value_type>::type,
          class LO = Tpetra::Map<>::local_ordinal_type,
          class GO = Tpetra::Map<>::global_ordinal_type, class Node = Tpetra::Map<>::node_type>
class TpetraOperator : public Tpetra::Operator<Scalar, LO, GO, Node> {
 public:
  using map_type = Tpetra::Map<LO, GO, Node>;
  using vector_type = Tpetra::MultiVector<Scalar, LO, GO, Node>;

  /// Collective: one reduction.
  ///
  /// \param plan        of this rank
  /// \param map         of the vectors; the rows of a rank are those of its plan
  /// \param lines       what lines they make; none: they are one system
  /// \param transposed  plan of the transpose for `apply` with TRANS, of the conjugate transpose
  ///                    for CONJ_TRANS; real ones are for both
  /// \throws std::invalid_argument on all ranks where the numbers of rows do not fit on one
  TpetraOperator(Plan plan, Teuchos::RCP<const map_type> map, TpetraLines lines = {},
                 std::optional<std::type_identity_t<Plan>> transposed = {})
      : m_plan(std::move(plan)),
        m_map(std::move(map)),
        m_lines(std::move(lines)),
        m_transposed(std::move(transposed)) {
    std::string fault = fault_of(m_plan, "the plan");
    if (m_transposed && fault.empty()) fault = fault_of(*m_transposed, "the transposed plan");
    Impl::throw_on_all_ranks(*m_map->getComm(), fault.empty() ? "" : std::string(function) + fault);
  }

  /// \throws std::invalid_argument for vectors of another map or another number of columns, and for
  ///         a transpose that there is no plan of
  void apply(const vector_type& X, vector_type& Y, Teuchos::ETransp mode = Teuchos::NO_TRANS,
             Scalar alpha = Teuchos::ScalarTraits<Scalar>::one(),
             Scalar beta = Teuchos::ScalarTraits<Scalar>::zero()) const override {
    expect_map("X", X);
    expect_map("Y", Y);
    if (X.getNumVectors() != Y.getNumVectors())
      throw std::invalid_argument(std::string(called) + "Y has " +
                                  std::to_string(Y.getNumVectors()) + " columns, expected " +
                                  std::to_string(X.getNumVectors()) + " (X)");
    const Plan& plan = plan_of(mode);
    if (alpha == Scalar(0)) {
      scale(Y, beta);
    } else if (alpha == Scalar(1) && beta == Scalar(0)) {
      solve_all(plan, X, Y);
    } else {
      vector_type solution(m_map, X.getNumVectors(), false);
      solve_all(plan, X, solution);
      Y.update(alpha, solution, beta);
    }
  }

  Teuchos::RCP<const map_type> getDomainMap() const override { return m_map; }
  Teuchos::RCP<const map_type> getRangeMap() const override { return m_map; }
  bool hasTransposeApply() const override { return m_transposed.has_value(); }

  const Plan& plan() const { return m_plan; }
  const TpetraLines& lines() const { return m_lines; }

 private:
  using Exec = typename Node::execution_space;
  using T = typename Plan::value_type;
  static_assert(std::is_same_v<T, typename vector_type::impl_scalar_type>,
                "Trikkos::TpetraOperator: the plan must have the value type of Scalar");
  static_assert(std::is_same_v<typename Plan::execution_space, Exec>,
                "Trikkos::TpetraOperator: the plan must have the execution space of Node");

  static constexpr auto function = "Trikkos::TpetraOperator: ";
  static constexpr auto called = "Trikkos::TpetraOperator::apply: ";

  /// Why this rank's rows cannot be solved with the plan; empty if they can.
  std::string fault_of(const Plan& plan, const char* name) const {
    const auto fault = [&](const std::string& what, std::int64_t actual, std::int64_t expected,
                           const std::string& source) {
      return what + " " + std::to_string(actual) + ", expected " + std::to_string(expected) + " (" +
             source + ")";
    };
    const auto rows = static_cast<std::int64_t>(m_map->getLocalNumElements());
    const int axes = static_cast<int>(m_lines.extents.size());
    std::int64_t count = 1;
    if (axes > 0) {
      if (m_lines.axis < 0 || m_lines.axis >= axes)
        return "axis is " + std::to_string(m_lines.axis) + ", expected 0 to " +
               std::to_string(axes - 1);
      if (m_lines.length() != plan.size())
        return fault("rows of a line are", m_lines.length(), plan.size(), name);
      if (!Impl::PlanOfMatrices<Plan> && m_lines.before() > 1 && m_lines.after() > 1)
        return "lines are those of a middle axis, expected the first or last (" +
               std::string(name) + ")";
      count = m_lines.count();
    }
    if (count * plan.size() != rows)
      return fault("rows of the map are", rows, count * plan.size(),
                   axes > 0 ? "lines.extents" : name);
    if constexpr (Impl::PlanOfMatrices<Plan>)
      if (plan.matrices() != 1 && plan.matrices() != count)
        return fault(std::string("matrices of ") + name + " are", plan.matrices(), count,
                     axes > 0 ? "lines.extents" : "without lines");
    return {};
  }

  /// Collective, but without a message where the vector has the operator's own map.
  void expect_map(const char* name, const vector_type& v) const {
    if (!m_map->isSameAs(*v.getMap()))
      throw std::invalid_argument(std::string(called) + "the map of " + name +
                                  " is not that of the operator");
  }

  const Plan& plan_of(Teuchos::ETransp mode) const {
    if (mode == Teuchos::NO_TRANS) return m_plan;
    const bool conjugates = mode == Teuchos::CONJ_TRANS;
    bool fits = m_transposed.has_value();
    if constexpr (Impl::PlanOfTranspose<Plan> && Teuchos::ScalarTraits<Scalar>::isComplex)
      fits = fits && m_transposed->options().transpose() ==
                         (conjugates ? Transpose::conjugate_transpose : Transpose::transpose);
    if (!fits)
      throw std::invalid_argument(std::string(called) + "mode is " +
                                  (conjugates ? "CONJ_TRANS" : "TRANS") +
                                  ", of which there is no plan");
    return *m_transposed;
  }

  static void scale(vector_type& Y, Scalar beta) {
    if (beta == Scalar(0))
      Y.putScalar(beta);  // also what is Inf or NaN
    else
      Y.scale(beta);
  }

  void solve_all(const Plan& plan, const vector_type& X, vector_type& Y) const {
    if (m_lines.extents.empty() && X.isConstantStride() && Y.isConstantStride()) {
      solve(Exec{}, plan, columns(X.getLocalViewDevice(Tpetra::Access::ReadOnly)),
            columns(Y.getLocalViewDevice(Tpetra::Access::OverwriteAll)));
      return;
    }
    for (std::size_t j = 0; j < X.getNumVectors(); ++j) {
      const auto x = X.getVector(j);
      const auto y = Y.getVectorNonConst(j);
      solve_lines(plan, x->getLocalViewDevice(Tpetra::Access::ReadOnly),
                  y->getLocalViewDevice(Tpetra::Access::OverwriteAll));
    }
  }

  /// The lines of one column, or the column. Many matrices are in the order of the axes.
  template <class B, class X>
  void solve_lines(const Plan& plan, const B& b, const X& x) const {
    if (m_lines.extents.empty()) return solve(Exec{}, plan, columns(b), columns(x));
    const std::int64_t n = m_lines.length(), before = m_lines.before(), after = m_lines.after();
    if (before == 1 || after == 1) {
      const Kokkos::LayoutStride layout(before * after, after == 1 ? n : 1, n, after);
      solve(Exec{}, plan, shaped<2>(b, layout), shaped<2>(x, layout));
    } else if constexpr (Impl::PlanOfMatrices<Plan>) {
      const Kokkos::LayoutStride layout(before, n * after, after, 1, n, after);
      solve(Exec{}, plan, shaped<3>(b, layout), shaped<3>(x, layout));
    }
  }
  template <int rank, class View>
  static auto shaped(const View& v, const Kokkos::LayoutStride& layout) {
    return Impl::Referring<View, rank>(v.data(), layout);
  }

  Plan m_plan;
  Teuchos::RCP<const map_type> m_map;
  TpetraLines m_lines;
  std::optional<Plan> m_transposed;
};

}  // namespace Trikkos

#endif
