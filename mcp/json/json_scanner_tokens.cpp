// The scanner's tokens: strings, numbers, literals. Each continues at the point where the last feed() ended.
#include "mcp/json/json_scanner.hpp"
#include "mcp/support/byte_search.hpp"
#include "mcp/support/utf8.hpp"

#include <array>

namespace mcpbx::json {
namespace {

constexpr std::array<std::string_view, 3> literals = {"true", "false", "null"};

bool digit(char c) {
  return c >= '0' && c <= '9';
}
bool hex_digit(char c) {
  return digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
bool simple_escape(char c) {
  return c == '"' || c == '\\' || c == '/' || c == 'b' || c == 'f' || c == 'n' || c == 'r' || c == 't';
}

}  // namespace

/// Scans the inside of a string. Returns true at the closing quote; false at the end of the bytes or at a fault.
bool json_scanner::scan_string(const char*& p, const char* end) {
  while (p != end) {
    if (utf8_need_ != 0) {
      const auto c = static_cast<unsigned char>(*p);
      if (c < utf8_low_ || c > utf8_high_) {
        if (!options_.tolerate_invalid_utf8) return fail(fault::utf8);
        saw_invalid_utf8_ = true;
        utf8_need_ = 0;
        continue;  // the byte itself is looked at again: it may be the closing quote
      }
      utf8_low_ = 0x80;
      utf8_high_ = 0xBF;
      --utf8_need_;
      ++p;
      continue;
    }
    if (escape_ == 1) {
      if (*p == 'u')
        escape_ = 5;
      else if (simple_escape(*p))
        escape_ = 0;
      else
        return fail(fault::syntax);
      ++p;
      continue;
    }
    if (escape_ != 0) {
      if (!hex_digit(*p)) return fail(fault::syntax);
      if (--escape_ == 1) escape_ = 0;
      ++p;
      continue;
    }
    p = byte_search::string_special(p, end);
    if (p == end) return false;
    if (*p == '"') return true;
    if (*p == '\\') {
      if (end - p >= 2 && simple_escape(p[1])) {
        p += 2;
      } else {
        escape_ = 1;
        ++p;
      }
      continue;
    }
    if (static_cast<unsigned char>(*p) < 0x20) return fail(fault::control_character);
    do {
      const utf8::step s = utf8::next(p, end);
      if (s.what == utf8::status::valid) {
        p += s.size;
        continue;
      }
      const utf8::lead l = utf8::lead_of(static_cast<unsigned char>(*p));
      if (l.need == 0) {
        if (!options_.tolerate_invalid_utf8) return fail(fault::utf8);
        saw_invalid_utf8_ = true;
        ++p;
        continue;
      }
      // Continue byte by byte, as if the bytes had come one at a time, so that the fault has the same offset.
      utf8_need_ = l.need;
      utf8_low_ = l.low;
      utf8_high_ = l.high;
      ++p;
      break;
    } while (p != end && static_cast<unsigned char>(*p) >= 0x80);
  }
  return false;
}

bool json_scanner::number_may_end() const noexcept {
  return number_ == number_part::zero || number_ == number_part::integer || number_ == number_part::fraction ||
         number_ == number_part::exponent;
}

/// Scans a number. Returns true at the first byte behind it; false at the end of the bytes or at a fault.
bool json_scanner::scan_number(const char*& p, const char* end) {
  for (; p != end; ++p) {
    // Most bytes of a number are digits that change nothing.
    if (number_ == number_part::integer || number_ == number_part::fraction || number_ == number_part::exponent) {
      while (digit(*p))
        if (++p == end) return false;
    }
    const char c = *p;
    switch (number_) {
      case number_part::minus:
        if (!digit(c)) return fail(fault::syntax);
        number_ = c == '0' ? number_part::zero : number_part::integer;
        break;
      case number_part::integer:
      case number_part::zero:
        if (c == '.')
          number_ = number_part::dot;
        else if (c == 'e' || c == 'E')
          number_ = number_part::e;
        else
          return true;
        break;
      case number_part::dot:
        if (!digit(c)) return fail(fault::syntax);
        number_ = number_part::fraction;
        break;
      case number_part::fraction:
        if (c != 'e' && c != 'E') return true;
        number_ = number_part::e;
        break;
      case number_part::e:
        if (c == '+' || c == '-') {
          number_ = number_part::e_sign;
          break;
        }
        [[fallthrough]];
      case number_part::e_sign:
        if (!digit(c)) return fail(fault::syntax);
        number_ = number_part::exponent;
        break;
      case number_part::exponent:
        return true;
    }
  }
  return false;
}

/// Scans a literal. Returns true behind its last letter; false at the end of the bytes or at a fault.
bool json_scanner::scan_literal(const char*& p, const char* end) {
  const std::string_view word = literals[literal_kind_];
  while (p != end) {
    if (*p != word[literal_pos_]) return fail(fault::syntax);
    ++p;
    if (++literal_pos_ == word.size()) return true;
  }
  return false;
}

}  // namespace mcpbx::json
