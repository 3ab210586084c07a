// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_HPP
#define TRIKKOS_HPP

/// \file
/// Every public header.

#include <Trikkos_Algorithm.hpp>
#include <Trikkos_BackwardError.hpp>
#include <Trikkos_BiCgStab.hpp>
#include <Trikkos_Computed.hpp>
#include <Trikkos_ComputedInKernel.hpp>
#include <Trikkos_ComputedMatrix.hpp>
#include <Trikkos_Concepts.hpp>
#include <Trikkos_ConjugateGradient.hpp>
#include <Trikkos_CsrMatrix.hpp>
#include <Trikkos_CsrTriangle.hpp>
#include <Trikkos_Gallery.hpp>
#include <Trikkos_IncompleteFactors.hpp>
#include <Trikkos_IncompleteOptions.hpp>
#include <Trikkos_Inverse.hpp>
#include <Trikkos_InverseBatch.hpp>
#include <Trikkos_InverseGenerators.hpp>
#include <Trikkos_KernelFactors.hpp>
#include <Trikkos_KrylovOptions.hpp>
#include <Trikkos_Marshal.hpp>
#include <Trikkos_MatrixMarket.hpp>
#include <Trikkos_MatrixMarketSymmetry.hpp>
#include <Trikkos_Options.hpp>
#include <Trikkos_OutOfCore.hpp>
#include <Trikkos_Pentadiagonal.hpp>
#include <Trikkos_Plan.hpp>
#include <Trikkos_Solve.hpp>
#include <Trikkos_Status.hpp>
#include <Trikkos_Toeplitz.hpp>
#include <Trikkos_TriangularOptions.hpp>
#include <Trikkos_TriangularPlan.hpp>
#include <Trikkos_Tridiagonal.hpp>
#include <Trikkos_Uniform.hpp>
#include <Trikkos_VariableBatch.hpp>
#include <Trikkos_Version.hpp>
#include <Trikkos_Views.hpp>
#include <Trikkos_Workspace.hpp>

#endif
