// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Runs all tests, or with --file=Test_X.hpp those that this header defines, so that CTest can run
// the headers one by one without knowing their tests. GoogleTest's own options work as always.

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <cstdio>
#include <string>
#include <string_view>

namespace {

// GoogleTest filter that selects the tests defined in the given file.
std::string filter_for_file(std::string_view file) {
  std::string filter;
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  for (int s = 0; s < all.total_test_suite_count(); ++s) {
    const testing::TestSuite& suite = *all.GetTestSuite(s);
    for (int t = 0; t < suite.total_test_count(); ++t) {
      const testing::TestInfo& test = *suite.GetTestInfo(t);
      if (std::string_view(test.file()).ends_with(file)) {
        filter += std::string(suite.name()) + "." + test.name() + ":";
      }
    }
  }
  return filter;
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  constexpr std::string_view file_option = "--file=";
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.starts_with(file_option)) {
      const std::string_view file = argument.substr(file_option.size());
      const std::string filter = filter_for_file(file);
      if (filter.empty()) {
        std::fprintf(stderr, "No test is defined in %s\n", argv[i] + file_option.size());
        return 1;
      }
      testing::GTEST_FLAG(filter) = filter;
    }
  }
  const Kokkos::ScopeGuard kokkos(argc, argv);
  return RUN_ALL_TESTS();
}
