// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_TEST_MESSAGE_HPP
#define TRIKKOS_TEST_MESSAGE_HPP

#include <stdexcept>
#include <string>

namespace Test {

/// The text of the std::invalid_argument that the body throws.
template <class Body>
std::string message(const Body& body) {
  try {
    body();
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "(no exception)";
}

}  // namespace Test

#endif
