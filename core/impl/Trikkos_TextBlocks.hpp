// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_TEXTBLOCKS_HPP
#define TRIKKOS_IMPL_TEXTBLOCKS_HPP

#include <cstring>
#include <impl/Trikkos_TextFile.hpp>
#include <memory>
#include <string_view>
#include <utility>

namespace Trikkos::Impl {

/// Takes the first line off the text, without its end; the last one needs none.
inline std::string_view take_line(std::string_view& text) {
  const void* const newline = std::memchr(text.data(), '\n', text.size());
  const std::size_t length =
      newline == nullptr ? text.size() : static_cast<const char*>(newline) - text.data();
  const std::string_view line = text.substr(0, length);
  text.remove_prefix(newline == nullptr ? length : length + 1);
  return line;
}

/// Takes whole lines off the text, as few as have `size` characters.
inline std::string_view take_lines(std::string_view& text, std::size_t size) {
  std::string_view rest = text;
  rest.remove_prefix(std::min(size > 0 ? size - 1 : 0, text.size()));
  if (!rest.empty()) take_line(rest);
  const std::string_view lines = text.substr(0, text.size() - rest.size());
  text = rest;
  return lines;
}

/// A text file in blocks of whole lines, through one buffer.
class TextBlocks {
 public:
  /// Far above the 1024 characters that Matrix Market allows.
  static constexpr std::size_t longest_line = std::size_t(1) << 20;

  /// \param size of a block, more where a line is longer
  TextBlocks(const std::string& path, std::size_t size) : m_file(path) { reserve(size); }

  const InputFile& file() const { return m_file; }

  /// The next lines, none at the end of the file; they are there until the next call. A line that
  /// is longer than longest_line comes cut off.
  std::string_view next() {
    m_end -= m_begin;
    std::memmove(m_buffer.get(), m_buffer.get() + m_begin, m_end);
    m_begin = 0;
    for (;;) {
      m_end += m_file.read(m_buffer.get() + m_end, m_size - m_end);
      const std::string_view text(m_buffer.get(), m_end);
      const std::size_t newline = text.rfind('\n');
      if (newline != text.npos) {
        m_begin = newline + 1;
      } else if (m_end < m_size || m_end > longest_line) {
        m_begin = m_end;  // the end of the file, or of patience
      } else {
        reserve(2 * m_size);
        continue;
      }
      return text.substr(0, m_begin);
    }
  }

 private:
  void reserve(std::size_t size) {
    auto buffer =
        std::make_unique_for_overwrite<char[]>(size);  // pages that are not used cost nothing
    if (m_end > 0) std::memcpy(buffer.get(), m_buffer.get(), m_end);
    m_buffer = std::move(buffer);
    m_size = size;
  }

  InputFile m_file;
  std::unique_ptr<char[]> m_buffer;
  std::size_t m_size = 0;
  std::size_t m_begin = 0, m_end = 0;  // the part of the buffer that was not returned
};

}  // namespace Trikkos::Impl

#endif
