// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_LINEREADER_HPP
#define TRIKKOS_IMPL_LINEREADER_HPP

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace Trikkos::Impl {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

/// \throws std::runtime_error `PATH: cannot be opened: <reason of the system>`
inline File open_file(const std::string& path, const char* mode) {
  File file(std::fopen(path.c_str(), mode));
  if (!file) {
    throw std::runtime_error(path + ": cannot be opened: " + std::strerror(errno));
  }
  return file;
}

/// A piece of a file, fit for an error message: in quotes, printable and not too long.
inline std::string quoted(std::string_view text) {
  if (text.empty()) return "nothing";
  constexpr std::size_t longest = 40;
  std::string result = "'";
  for (const char c : text.substr(0, longest)) result += c >= ' ' && c <= '~' ? c : '?';
  return result + (text.size() > longest ? "...'" : "'");
}

/// The lines of a text file, without their ends and surrounding blanks.
class LineReader {
 public:
  /// Far above the 1024 characters that Matrix Market allows.
  static constexpr std::size_t longest_line = std::size_t(1) << 20;

  explicit LineReader(const std::string& path)
      : m_path(path), m_file(open_file(path, "rb")), m_buffer(longest_line) {
    std::error_code ignored;
    const auto size = std::filesystem::file_size(path, ignored);
    if (!ignored) m_bytes = static_cast<std::int64_t>(size);
  }

  /// The size of the file, -1 where it is no regular file.
  std::int64_t bytes() const { return m_bytes; }
  std::int64_t number() const { return m_number; }
  /// What `word` has left of the line.
  std::string_view rest() const { return m_line; }

  /// Goes on to the next line, false at the end of the file.
  bool next() {
    for (std::size_t searched = 0;;) {
      const char* const begin = m_buffer.data() + m_begin;
      const std::size_t size = m_end - m_begin;
      if (size > searched) {
        const void* const newline = std::memchr(begin + searched, '\n', size - searched);
        if (newline != nullptr) {
          const std::size_t length = static_cast<const char*>(newline) - begin;
          set_line({begin, length});
          m_begin += length + 1;
          return true;
        }
        searched = size;
      }
      if (!refill()) {  // the last line needs no line end
        if (size == 0) return false;
        set_line({m_buffer.data() + m_begin, size});
        m_begin = m_end;
        return true;
      }
    }
  }

  /// Goes on to the next line that is neither blank nor a comment.
  bool next_content() {
    while (next()) {
      if (!m_line.empty() && m_line.front() != '%') return true;
    }
    return false;
  }

  /// The next word of the line, empty at its end.
  std::string_view word() {
    std::size_t end = 0;
    while (end < m_line.size() && !is_blank(m_line[end])) ++end;
    const std::string_view result = m_line.substr(0, end);
    while (end < m_line.size() && is_blank(m_line[end])) ++end;
    m_line.remove_prefix(end);
    return result;
  }

  /// \throws std::runtime_error `FILE:LINE: what`
  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error(m_path + ":" + std::to_string(m_number > 0 ? m_number : 1) + ": " +
                             what);
  }
  [[noreturn]] void fail_expected(const std::string& expected, std::string_view got) const {
    fail("expected " + expected + ", got " + quoted(got));
  }

 private:
  static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

  void set_line(std::string_view line) {
    while (!line.empty() && is_blank(line.back())) line.remove_suffix(1);
    while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
    m_line = line;
    ++m_number;
  }

  // Moves the unread rest to the front of the buffer and reads on behind it, false at the end.
  bool refill() {
    const std::size_t rest = m_end - m_begin;
    if (rest == m_buffer.size()) {
      ++m_number;
      fail("the line is longer than " + std::to_string(longest_line) +
           " characters, expected at most 1024");
    }
    std::memmove(m_buffer.data(), m_buffer.data() + m_begin, rest);
    m_begin = 0;
    m_end = rest + std::fread(m_buffer.data() + rest, 1, m_buffer.size() - rest, m_file.get());
    if (std::ferror(m_file.get())) {
      throw std::runtime_error(m_path + ": cannot be read: " + std::strerror(errno));
    }
    return m_end > rest;
  }

  std::string m_path;
  File m_file;
  std::vector<char> m_buffer;
  std::size_t m_begin = 0, m_end = 0;  // the part of the buffer not yet read
  std::string_view m_line;
  std::int64_t m_number = 0;
  std::int64_t m_bytes = -1;
};

}  // namespace Trikkos::Impl

#endif
