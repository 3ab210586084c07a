// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_TEST_TEMPORARYFILE_HPP
#define TRIKKOS_TEST_TEMPORARYFILE_HPP

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

namespace Test {

/// A file that goes with the object; other tests may run at the same time.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& text = "", const std::string& ending = ".mtx")
      : m_path(::testing::TempDir() + "Trikkos_MatrixMarket_" + std::to_string(getpid()) + ending) {
    write(text);
  }
  ~TemporaryFile() { std::remove(m_path.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;

  const std::string& path() const { return m_path; }
  void write(const std::string& text) const { std::ofstream(m_path, std::ios::binary) << text; }
  std::string text() const {
    std::ostringstream all;
    all << std::ifstream(m_path, std::ios::binary).rdbuf();
    return all.str();
  }

 private:
  std::string m_path;
};

}  // namespace Test

#endif
