// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_PAPERS_HPP
#define TRIKKOS_PAPERS_HPP

#include <cstdint>
#include <string>

#include "Perf_Harness.hpp"

/// \file
/// The tables and figures of four papers, made again with Trikkos:
///
///   SC'12      L.-W. Chang, J. A. Stratton, H.-S. Kim, W.-M. W. Hwu: A scalable, numerically
///              stable, high-performance tridiagonal solver using GPUs, SC'12
///   CTAC 2014  H. J. Macintosh, D. J. Warne, N. A. Kelson, J. E. Banks, T. W. Farrell:
///              Implementation of parallel tridiagonal solvers for a heterogeneous computing
///              environment, 17th Biennial Computational Techniques and Applications
///              Conference, ANZIAM J. (2016)
///   Gloster et al. 2019
///              A. Gloster, E. Carroll, M. Bustamante, L. O Naraigh: Efficient interleaved batch
///              matrix solvers for CUDA (2019)
///   Naumov 2011
///              M. Naumov: Parallel solution of sparse triangular linear systems in the
///              preconditioned iterative methods on the GPU, NVR-2011-001; its tables are those
///              of NVIDIA's white paper of the same author on ILU and Cholesky preconditioning
///
/// Figures are given here as tables. What a paper says of its own machine stands in columns or
/// lines called "paper".

namespace Papers {

struct Arguments {
  std::int64_t rows = std::int64_t{1} << 23;  // of the systems that are timed
  int seeds = 5;                              // matrices of each type whose errors are taken
  int repeats = 9;                            // times taken for a median
  std::string matrices;                       // a folder of Matrix Market files for `naumov`
};

/// For what is timed.
inline Perf::Harness timing_harness(const Arguments& arguments) {
  return Perf::Harness({arguments.rows, arguments.repeats, true});
}
/// For errors alone.
inline Perf::Harness error_harness() { return Perf::Harness({1024, 1, false}); }

// SC'12
void table4(const Arguments&);    // errors for the 16 types of matrices of Table III
void figure7(const Arguments&);   // data marshaling
void figure10(const Arguments&);  // dynamic tiling
void figure12(const Arguments&);  // one large system: our solvers and the libraries'

// CTAC 2014
void throughput(const Arguments&);  // Figures 1 and 2: many small systems
void table2(const Arguments&);      // errors in single precision

// Gloster et al. 2019
void figure2(const Arguments&);  // tridiagonal batches with one matrix
void figure3(const Arguments&);  // pentadiagonal ones, and Figure 4
void memory(const Arguments&);   // what they take

// Naumov 2011
void naumov(const Arguments&);  // CG and BiCGStab with incomplete factors

}  // namespace Papers

#endif
