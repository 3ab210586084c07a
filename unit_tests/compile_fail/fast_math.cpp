// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// flags: -ffast-math
// expect: Trikkos needs Inf, NaN and sums in the order in which they are written

#include <Trikkos.hpp>
