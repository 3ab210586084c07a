// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <Ranks.hpp>

TRIKKOS_BLOCK_INSTANCES()
