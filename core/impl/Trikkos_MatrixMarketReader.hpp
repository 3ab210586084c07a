// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_MATRIXMARKETREADER_HPP
#define TRIKKOS_IMPL_MATRIXMARKETREADER_HPP

#include <Kokkos_Core.hpp>
#include <impl/Trikkos_MatrixMarketChunk.hpp>

namespace Trikkos::Impl {

enum class MatrixMarketContent { matrix, vector };

/// How much text a thread parses at a time: some thousand lines, which stay in its cache.
inline constexpr std::size_t matrix_market_chunk = std::size_t(1) << 16;

/// A Matrix Market file of Ts: the constructor reads header and size, `for_each` the entries. It
/// holds a matrix, or a vector (not symmetric, one column).
///
/// Blocks of lines are read one after the other; the host's threads parse their chunks side by
/// side; then the entries are handed out in the order of the file. So what is reported is the first
/// thing that is wrong, on its line, whatever the number of threads. What is held is one block.
template <class T>
class MatrixMarketReader {
 public:
  using Format = MatrixMarketFormat;
  using Symmetry = MatrixMarketSymmetry;

  /// \throws std::runtime_error unless the file starts with a header and size line fit for Ts
  MatrixMarketReader(const std::string& path, MatrixMarketContent content,
                     std::size_t chunk_size = matrix_market_chunk)
      : m_chunk_size(chunk_size),
        m_chunks(8 * Host().concurrency()),
        m_blocks(path, chunk_size * m_chunks.size()) {
    at_line([&] {
      read_kind();
      if (content == MatrixMarketContent::vector && !m_header.is_general()) {
        throw LineError{std::string("a vector cannot be '") + name(symmetry()) +
                        "', expected 'general'"};
      }
      read_size();
      if (content == MatrixMarketContent::vector && columns() != 1) {
        throw LineError{"there are " + std::to_string(columns()) +
                        " columns, expected a vector, one column"};
      }
    });
  }

  const std::string& path() const { return m_blocks.file().path(); }
  Format format() const { return m_header.format; }
  MatrixMarketField field() const { return m_header.field; }
  Symmetry symmetry() const { return m_header.symmetry; }
  std::int64_t rows() const { return m_header.rows; }
  std::int64_t columns() const { return m_header.columns; }
  /// The number of entries that the file promises.
  std::int64_t entries() const { return m_header.entries; }
  /// No more entries than these can be in the text: a line "1 1" has four characters.
  std::int64_t most_entries() const {
    const std::int64_t bytes = m_blocks.file().most_bytes();
    return bytes < 0 ? entries() : std::min(entries(), bytes / 4 + 1);
  }

  /// Refuses sizes that only a typing error can mean, before they take all memory.
  void expect_size_to_fit() const {
    constexpr std::int64_t harmless = 10000000;
    const std::int64_t bytes = m_blocks.file().most_bytes();
    if (bytes < 0) return;
    const std::string text = std::to_string(bytes) + " bytes of text ";
    if (format() == Format::array && entries() > bytes) {
      fail(text + "cannot hold " + std::to_string(entries()) + " values");
    }
    if (rows() > harmless && rows() > bytes) {
      fail("the matrix has " + std::to_string(rows()) + " rows, but in " + text +
           "most of them must be empty");
    }
  }

  /// A View of zeros. The last word says what they are, "rows".
  template <class V>
  V allocate(const std::string& label, std::int64_t count, const char* what) const {
    constexpr std::int64_t largest = std::numeric_limits<std::ptrdiff_t>::max() /
                                     std::int64_t(8 * sizeof(typename V::value_type));
    if (count <= largest) {
      try {
        return V(label, count);
      } catch (const std::exception&) {  // says so below
      }
    }
    fail_memory(count, what);
  }
  [[noreturn]] void fail_memory(std::int64_t count, const char* what) const {
    fail("there is not enough memory for " + std::to_string(count) + " " + what);
  }

  /// Calls f(row, column, value) for the stored entries in the order of the file, counting from 0.
  /// What they stand for above the diagonal is for f to say. Once only.
  template <class Function>
  void for_each(const Function& f) {
    m_at = {0, first_row(0)};
    while (next_block()) {
      const std::size_t chunks = parse_block();
      for (std::size_t c = 0; c < chunks; ++c) hand_out(m_chunks[c], f);
    }
    if (m_entry < entries()) {
      fail("the file ends after " + std::to_string(m_entry) + " of the " + promised());
    }
  }

  /// \throws std::runtime_error `FILE:LINE: what`
  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error(path() + ":" + std::to_string(m_line > 0 ? m_line : 1) + ": " + what);
  }

 private:
  using Host = Kokkos::DefaultHostExecutionSpace;

  /// Where the next value of an array stands.
  struct Place {
    std::int64_t column, row;
  };

  struct ParseChunks {
    MatrixMarketChunk<T>* chunks;
    const MatrixMarketHeader* header;
    void operator()(int c) const { chunks[c].parse(*header); }
  };

  /// Calls f and says on which line what it throws went wrong.
  template <class Function>
  void at_line(const Function& f) const {
    try {
      f();
    } catch (const LineError& error) {
      fail(error.what);
    }
  }

  bool next_block() {
    if (m_text.empty()) m_text = m_blocks.next();
    return !m_text.empty();
  }

  /// Goes on to the next line, false at the end of the file.
  bool next_line(std::string_view& line) {
    if (!next_block()) return false;
    line = take_line(m_text);
    ++m_line;
    check_length(line);
    return true;
  }

  void read_kind() {
    std::string_view line;
    next_line(line);
    if (line.starts_with("\x1f\x8b")) {
      throw LineError{
          "the file is compressed, expected text: Trikkos was compiled without zlib "
          "(TRIKKOS_HAVE_ZLIB), so unpack it with gunzip"};
    }
    m_header.read_kind(LineWords(line));
    if (m_header.field == MatrixMarketField::complex && !is_complex_v<T>) {
      throw LineError{"the numbers are complex, expected real ones"};
    }
  }

  void read_size() {
    std::string_view line;
    do {
      if (!next_line(line)) {
        throw LineError{"the file ends before its size, expected " + m_header.expected_size()};
      }
    } while (LineWords(line).no_content());
    m_header.read_size(LineWords(line));
    m_size_line = m_line;
  }

  /// \return the number of chunks
  std::size_t parse_block() {
    std::size_t count = 0;
    while (!m_text.empty() && count < m_chunks.size()) {
      m_chunks[count++].text = take_lines(m_text, m_chunk_size);
    }
    using Policy = Kokkos::RangePolicy<Host, Kokkos::Schedule<Kokkos::Dynamic>, int>;
    const Host host;
    Kokkos::parallel_for("Trikkos::MatrixMarketReader::parse",
                         Policy(host, 0, static_cast<int>(count)).set_chunk_size(1),
                         ParseChunks{m_chunks.data(), &m_header});
    host.fence("Trikkos::MatrixMarketReader::parse");
    return count;
  }

  template <class Function>
  void hand_out(const MatrixMarketChunk<T>& chunk, const Function& f) {
    const std::int64_t lines_before = m_line;
    for (const MatrixMarketEntry<T>& entry : chunk.entries) {
      m_line = lines_before + entry.line;
      expect_entry(chunk.text, entry.line);
      hand_out(entry, f);
      ++m_entry;
    }
    m_line = lines_before + chunk.lines;
    if (chunk.no_memory) std::rethrow_exception(chunk.no_memory);
    if (!chunk.wrong.empty()) {
      expect_entry(chunk.text, chunk.lines);
      fail(chunk.wrong);
    }
  }
  template <class Function>
  void hand_out(const MatrixMarketEntry<T>& entry, const Function& f) {
    if (format() == Format::coordinate) return f(entry.row, entry.column, entry.value);
    at_line([&] { check_place(symmetry(), m_at.row, m_at.column, entry.value); });
    f(m_at.row, m_at.column, entry.value);
    if (++m_at.row == rows()) m_at.row = first_row(++m_at.column);
  }
  std::int64_t first_row(std::int64_t column) const {
    return m_header.is_general() ? 0 : symmetry() == Symmetry::skew_symmetric ? column + 1 : column;
  }

  std::string promised() const {
    return std::to_string(entries()) + " entries that line " + std::to_string(m_size_line) +
           " promises";
  }
  /// \param line  of the text
  void expect_entry(std::string_view text, std::int64_t line) const {
    if (m_entry < entries()) return;
    while (--line > 0) take_line(text);
    fail("expected the end of the file after the " + promised() + ", got " +
         quoted(LineWords(take_line(text)).rest()));
  }

  std::size_t m_chunk_size;
  std::vector<MatrixMarketChunk<T>> m_chunks;
  TextBlocks m_blocks;
  std::string_view m_text;  // of the block, what was not read yet
  MatrixMarketHeader m_header;
  std::int64_t m_line = 0, m_size_line = 0;
  std::int64_t m_entry = 0;  // the next one
  Place m_at{0, 0};
};

}  // namespace Trikkos::Impl

#endif
