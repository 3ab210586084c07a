// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_TEXTFILE_HPP
#define TRIKKOS_IMPL_TEXTFILE_HPP

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#if defined(TRIKKOS_HAVE_ZLIB)
#  include <zlib.h>
#endif

/// \file
/// Files to read from and to write to, compressed by gzip or not: with zlib (TRIKKOS_HAVE_ZLIB) all
/// of them go through it, as it passes on what is not compressed.

namespace Trikkos::Impl {

#if defined(TRIKKOS_HAVE_ZLIB)

inline constexpr bool have_zlib = true;
using FileHandle = gzFile_s;

struct CloseFile {
  void operator()(gzFile file) const { gzclose(file); }
};
inline gzFile open_handle(const char* path, bool write, bool compress) {
  const gzFile file = gzopen(path, !write ? "rb" : compress ? "wb" : "wbT");
  if (file != nullptr) gzbuffer(file, 1 << 17);
  return file;
}
/// Why the last call failed, nothing if it did not.
inline std::string why_failed(gzFile file) {
  int error = Z_OK;
  const char* const words = gzerror(file, &error);
  if (error == Z_OK || error == Z_STREAM_END) return "";
  if (error == Z_ERRNO) return std::strerror(errno);
  // zlib puts the path in front, which the caller does, too
  const char* const colon = std::strstr(words, ": ");
  return std::string("zlib: ") + (colon != nullptr ? colon + 2 : words);
}
inline std::size_t read_some(gzFile file, char* to, std::size_t count) {
  const int got = gzread(file, to, static_cast<unsigned>(count));
  return got > 0 ? got : 0;
}
inline bool write_some(gzFile file, const char* from, std::size_t count) {
  return gzwrite(file, from, static_cast<unsigned>(count)) == static_cast<int>(count);
}
inline bool close_handle(gzFile file) { return gzclose(file) == Z_OK; }
inline bool is_compressed(gzFile file) { return gzdirect(file) == 0; }

#else

inline constexpr bool have_zlib = false;
using FileHandle = std::FILE;

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
inline std::FILE* open_handle(const char* path, bool write, bool) {
  return std::fopen(path, write ? "wb" : "rb");
}
inline std::string why_failed(std::FILE* file) {
  return std::ferror(file) ? std::strerror(errno) : "";
}
inline std::size_t read_some(std::FILE* file, char* to, std::size_t count) {
  return std::fread(to, 1, count, file);
}
inline bool write_some(std::FILE* file, const char* from, std::size_t count) {
  return std::fwrite(from, 1, count, file) == count;
}
inline bool close_handle(std::FILE* file) { return std::fclose(file) == 0; }
inline bool is_compressed(std::FILE*) { return false; }

#endif

/// \throws std::runtime_error `PATH: cannot be opened: <reason of the system>`
inline std::unique_ptr<FileHandle, CloseFile> open_file(const std::string& path, bool write,
                                                        bool compress = false) {
  std::unique_ptr<FileHandle, CloseFile> file(open_handle(path.c_str(), write, compress));
  if (!file) throw std::runtime_error(path + ": cannot be opened: " + std::strerror(errno));
  return file;
}

// zlib counts in int.
inline constexpr std::size_t longest_transfer = std::size_t(1) << 30;

/// A file that is read from its begin to its end.
class InputFile {
 public:
  /// \throws std::runtime_error if it cannot be opened
  explicit InputFile(const std::string& path) : m_path(path), m_file(open_file(path, false)) {}

  const std::string& path() const { return m_path; }

  /// Fills `to` up to `count` bytes, with fewer only at the end of the file.
  /// \throws std::runtime_error if it cannot be read
  std::size_t read(char* to, std::size_t count) {
    std::size_t total = 0;
    while (total < count) {
      const std::size_t got =
          read_some(m_file.get(), to + total, std::min(count - total, longest_transfer));
      total += got;
      if (got == 0) break;
    }
    if (total < count) {
      const std::string why = why_failed(m_file.get());
      if (!why.empty()) throw std::runtime_error(m_path + ": cannot be read: " + why);
    }
    return total;
  }

  /// No more bytes than these can be read, -1 where nobody knows. To be asked after some were read.
  std::int64_t most_bytes() const {
    constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
    constexpr std::int64_t deflate_ratio = 1032;  // at most (zlib's technical details)
    std::error_code failed;
    const std::uintmax_t size = std::filesystem::file_size(m_path, failed);
    if (failed) return -1;
    const std::int64_t ratio = is_compressed(m_file.get()) ? deflate_ratio : 1;
    return size > std::uintmax_t(largest / ratio) ? largest : std::int64_t(size) * ratio;
  }

 private:
  std::string m_path;
  std::unique_ptr<FileHandle, CloseFile> m_file;
};

/// A file that replaces the one of that name, compressed if the name ends in ".gz".
class OutputFile {
 public:
  /// \throws std::runtime_error if it cannot be opened
  explicit OutputFile(const std::string& path) : m_path(path) {
    const bool compress = path.ends_with(".gz");
    if (compress && !have_zlib) {
      throw std::runtime_error(path +
                               ": cannot be compressed: Trikkos was compiled without zlib "
                               "(TRIKKOS_HAVE_ZLIB), expected a name without .gz");
    }
    m_file = open_file(path, true, compress);
  }

  /// \throws std::runtime_error if it cannot be written, as `close`
  void write(std::string_view text) {
    for (; !text.empty(); text.remove_prefix(std::min(text.size(), longest_transfer))) {
      if (!write_some(m_file.get(), text.data(), std::min(text.size(), longest_transfer))) fail();
    }
  }
  /// Only then all is written.
  void close() {
    if (!close_handle(m_file.release())) fail();
  }

 private:
  [[noreturn]] void fail() const {
    throw std::runtime_error(m_path + ": cannot be written: " + std::strerror(errno));
  }

  std::string m_path;
  std::unique_ptr<FileHandle, CloseFile> m_file;
};

}  // namespace Trikkos::Impl

#endif
