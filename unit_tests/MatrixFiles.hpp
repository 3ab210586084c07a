// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_TEST_MATRIXFILES_HPP
#define TRIKKOS_TEST_MATRIXFILES_HPP

#include <Trikkos_MatrixMarket.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

/// \file
/// Real matrices, which do not come with Trikkos.

namespace Test {

/// Matrix Market files that can be read, by name.
struct MatrixFiles {
  std::filesystem::path directory;
  std::vector<std::filesystem::path> paths;

  /// Those of the directory that TRIKKOS_MATRICES names; if it names none, those of
  /// ../shared/matrices, seen from the repository, of at most 500 kB. None where there
  /// is no such directory.
  MatrixFiles() {
    const char* const named = std::getenv("TRIKKOS_MATRICES");
    const auto repository = std::filesystem::path(__FILE__).parent_path().parent_path();
    directory = named != nullptr ? std::filesystem::path(named)
                                 : repository.parent_path() / "shared" / "matrices";
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(directory, none)) {
      const std::string name = entry.path().string();
      const bool is_readable =
          name.ends_with(".mtx") || (name.ends_with(".mtx.gz") && Trikkos::Impl::have_zlib);
      const bool is_small = entry.file_size(none) <= 500'000;
      if (is_readable && (is_small || named != nullptr)) paths.push_back(entry.path());
    }
    std::sort(paths.begin(), paths.end());
  }

  std::string why_none() const {
    return "no matrices in " + directory.string() + ", name another directory by TRIKKOS_MATRICES";
  }
};

}  // namespace Test

#endif
