// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_TEST_MODE_HPP
#define TRIKKOS_TEST_MODE_HPP

namespace Test {

/// What so few ranks and systems would not do of themselves: form groups, main.cpp --tree; share
/// the roots, of two parts of the systems, --shared.
enum class Mode { usual, tree, shared };
extern Mode mode;

}  // namespace Test

#endif
