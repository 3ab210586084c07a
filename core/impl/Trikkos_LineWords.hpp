// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_LINEWORDS_HPP
#define TRIKKOS_IMPL_LINEWORDS_HPP

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace Trikkos::Impl {

/// What is wrong with a line. Who knows which line it is says so.
struct LineError {
  std::string what;
};

/// A piece of a file, fit for an error message: in quotes, printable and not too long.
inline std::string quoted(std::string_view text) {
  if (text.empty()) return "nothing";
  constexpr std::size_t longest = 40;
  std::string result = "'";
  for (const char c : text.substr(0, longest)) result += c >= ' ' && c <= '~' ? c : '?';
  return result + (text.size() > longest ? "...'" : "'");
}

/// The words and numbers of a line, one after the other. What is not as expected is a LineError.
class LineWords {
 public:
  explicit LineWords(std::string_view line)
      : m_next(line.data()), m_end(line.data() + line.size()) {
    while (m_next < m_end && is_blank(m_end[-1])) --m_end;
    skip_blanks();
  }

  bool at_end() const { return m_next == m_end; }
  /// Nothing to read: blank, or a comment.
  bool no_content() const { return at_end() || *m_next == '%'; }
  std::string_view rest() const { return std::string_view(m_next, m_end - m_next); }

  /// The next word, empty at the end.
  std::string_view word() {
    const std::string_view result = peek();
    move_to(m_next + result.size());
    return result;
  }

  /// Takes an integer if the next word is one that fits.
  bool integer(std::int64_t& value) {
    const char* first = m_next;
    if (m_end - first > 1 && *first == '+' && is_digit(first[1])) ++first;
    const auto [rest, error] = std::from_chars(first, m_end, value);
    if (!ends_word(rest) || error == std::errc::invalid_argument) return false;
    if (error == std::errc::result_out_of_range) {
      throw LineError{"the integer " + quoted(peek()) + " does not fit into 64 bits"};
    }
    move_to(rest);
    return true;
  }

  /// A place in [1, size], counted from 0.
  std::int64_t index(const char* what, std::int64_t size) {
    std::int64_t value = 0;
    if (!integer(value)) fail_expected(std::string("a ") + what + " index");
    if (value < 1 || value > size) {
      throw LineError{std::string("the ") + what + " index " + std::to_string(value) +
                      " is out of range, expected 1 to " + std::to_string(size)};
    }
    return value - 1;
  }

  /// A finite number. What is too small for Real is zero.
  template <class Real>
  Real number(const char* expected) {
    const char* first = m_next;
    if (first < m_end && *first == '+') ++first;
    // from_chars also reads "inf" and "nan", and a sign that must not follow another one
    const char* const digits =
        first == m_next && first < m_end && *first == '-' ? first + 1 : first;
    if (digits == m_end || !(is_digit(*digits) || *digits == '.')) fail_expected(expected);
    Real value = 0;
    const auto [rest, error] = std::from_chars(first, m_end, value);
    if (!ends_word(rest) || error == std::errc::invalid_argument) fail_expected(expected);
    if (error == std::errc::result_out_of_range) {
      if (is_large(std::string_view(digits, rest - digits))) {
        throw LineError{"the number " + quoted(peek()) + " is too large for " +
                        (std::is_same_v<Real, float> ? "float" : "double")};
      }
      value = std::copysign(Real(0), *first == '-' ? Real(-1) : Real(1));
    }
    move_to(rest);
    return value;
  }

  void expect_end() const {
    if (!at_end()) fail_expected("the end of the line", rest());
  }
  [[noreturn]] void fail_expected(const std::string& expected) const {
    fail_expected(expected, peek());
  }
  [[noreturn]] static void fail_expected(const std::string& expected, std::string_view got) {
    throw LineError{"expected " + expected + ", got " + quoted(got)};
  }

 private:
  static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  bool ends_word(const char* p) const { return p == m_end || is_blank(*p); }

  void skip_blanks() {
    while (m_next < m_end && is_blank(*m_next)) ++m_next;
  }
  void move_to(const char* p) {
    m_next = p;
    skip_blanks();
  }
  std::string_view peek() const {
    return std::string_view(m_next, std::find_if(m_next, m_end, is_blank) - m_next);
  }

  // from_chars calls numbers too large and too small alike: is this one, without sign, at least 1?
  static bool is_large(std::string_view digits) {
    const std::size_t e = std::min(digits.find_first_of("eE"), digits.size());
    const std::size_t point = std::min(digits.find('.'), e);
    const std::size_t first = std::min(digits.find_first_of("123456789"), e);
    std::int64_t exponent = 0;
    std::string_view text = digits.substr(std::min(e + 1, digits.size()));
    if (text.starts_with('+')) text.remove_prefix(1);
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), exponent);
    if (parsed.ec == std::errc::result_out_of_range) return !text.starts_with('-');
    const auto p = static_cast<std::int64_t>(point), f = static_cast<std::int64_t>(first);
    return exponent > f - p;  // both are below 2^62: no line is that long
  }

  const char *m_next, *m_end;
};

}  // namespace Trikkos::Impl

#endif
