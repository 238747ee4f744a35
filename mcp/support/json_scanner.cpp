// The scanner's machine. One loop over labels, entered by the state that the last feed() ended in; the common sequences
// (key, colon, value, comma) run straight from label to label without coming back to the state.
#include "mcp/support/json_scanner.hpp"

#include "mcp/support/byte_search.hpp"
#include "mcp/support/raw_json.hpp"
#include "mcp/support/utf8.hpp"

#include <algorithm>
#include <cstring>

namespace mcpbx {
namespace {

constexpr std::array<std::string_view, 3> literals = {"true", "false", "null"};
constexpr std::array<std::string_view, 6> member_names = {"jsonrpc", "id", "method", "params", "result", "error"};
constexpr std::uint8_t key_too_long = 255;

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

json_scanner::json_scanner(options o) : options_(o) {
  options_.max_depth = std::clamp(o.max_depth, 1, 10'000);
  stack_.resize((static_cast<std::size_t>(options_.max_depth) + 63) / 64);
}

void json_scanner::reset() {
  state_ = state::value;
  utf8_need_ = escape_ = key_size_ = 0;
  in_key_ = saw_invalid_utf8_ = saw_line_break_ = false;
  first_ = 0;
  fault_ = fault::none;
  current_member_ = -1;
  depth_ = 0;
  offset_ = fault_offset_ = value_begin_ = value_end_ = member_begin_ = 0;
  envelope_ = {};
}

bool json_scanner::complete() const noexcept {
  return fault_ == fault::none && state_ == state::done;
}

bool json_scanner::fail(fault f) {
  fault_ = f;
  return false;
}

void json_scanner::push(bool object) {
  const auto level = static_cast<unsigned>(depth_++);
  const std::uint64_t bit = std::uint64_t{1} << (level & 63);
  std::uint64_t& word = stack_[level >> 6];
  word = object ? word | bit : word & ~bit;
}

bool json_scanner::in_object() const noexcept {
  const auto level = static_cast<unsigned>(depth_ - 1);
  return (stack_[level >> 6] >> (level & 63) & 1) != 0;
}

const char* json_scanner::scan_blanks(const char* p, const char* end) {
  for (; p != end; ++p) {
    if (*p == '\n' || *p == '\r')
      saw_line_break_ |= depth_ > 0;
    else if (*p != ' ' && *p != '\t')
      break;
  }
  return p;
}

void json_scanner::keep_key(const char* from, const char* to) {
  const auto size = static_cast<std::size_t>(to - from);
  if (key_size_ == key_too_long) return;
  if (key_size_ + size > key_.size()) {
    key_size_ = key_too_long;
    return;
  }
  std::copy(from, to, key_.data() + key_size_);
  key_size_ = static_cast<std::uint8_t>(key_size_ + size);
}

void json_scanner::end_key() {
  current_member_ = -1;
  if (key_size_ == key_too_long) return;
  const std::string_view raw(key_.data(), key_size_);
  std::string plain;
  std::string_view key = raw;
  if (raw.find('\\') != std::string_view::npos) {
    plain = unescaped(raw);
    key = plain;
  }
  const auto found = std::ranges::find(member_names, key);
  if (found == member_names.end()) return;
  const auto member = static_cast<int>(found - member_names.begin());
  const auto bit = static_cast<std::uint8_t>(1u << member);
  if ((envelope_.seen & bit) != 0)
    envelope_.duplicates |= bit;
  else
    current_member_ = member;
  envelope_.seen |= bit;
}

/// The inside of a string. True at the closing quote; false at the end of the bytes or at a fault.
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
      // Byte by byte from here, as if the bytes had come one at a time: the fault is then found at the same place.
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

/// True at the first byte behind the number; false at the end of the bytes or at a fault.
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

/// True behind the last letter; false at the end of the bytes or at a fault.
bool json_scanner::scan_literal(const char*& p, const char* end) {
  const std::string_view word = literals[literal_kind_];
  while (p != end) {
    if (*p != word[literal_pos_]) return fail(fault::syntax);
    ++p;
    if (++literal_pos_ == word.size()) return true;
  }
  return false;
}

bool json_scanner::feed(std::string_view bytes) {
  if (fault_ != fault::none) return false;
  const char* const begin = bytes.data();
  const char* const end = begin + bytes.size();
  const char* p = begin;
  const char* key_from = begin;
  const auto at = [this, begin](const char* q) { return offset_ + static_cast<std::size_t>(q - begin); };
  state resume = state_;

  switch (state_) {
    case state::value:
      goto on_value;
    case state::array_first:
      goto on_array_first;
    case state::object_first:
      goto on_object_first;
    case state::key:
      goto on_key;
    case state::colon:
      goto on_colon;
    case state::after:
      goto on_after;
    case state::string:
      goto on_string;
    case state::number:
      goto on_number;
    case state::literal:
      goto on_literal;
    case state::done:
      goto on_done;
  }

on_value:
  p = scan_blanks(p, end);
  if (p == end) {
    resume = state::value;
    goto suspend;
  }
value_begins:
  if (depth_ <= 1) {
    if (depth_ == 1) {
      member_begin_ = at(p);
    } else {
      first_ = *p;
      value_begin_ = at(p);
    }
  }
  switch (*p) {
    case '"':
      in_key_ = false;
      ++p;
      goto on_string;
    case '{':
    case '[':
      if (depth_ == options_.max_depth) {
        fail(fault::depth);
        goto failed;
      }
      push(*p == '{');
      if (*p++ == '{') goto on_object_first;
      goto on_array_first;
    case '-':
      number_ = number_part::minus;
      ++p;
      goto on_number;
    case '0':
      number_ = number_part::zero;
      ++p;
      goto on_number;
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
    case '6':
    case '7':
    case '8':
    case '9':
      number_ = number_part::integer;
      ++p;
      goto on_number;
    case 't':
      literal_kind_ = 0;
      literal_pos_ = 0;
      goto on_literal;
    case 'f':
      literal_kind_ = 1;
      literal_pos_ = 0;
      goto on_literal;
    case 'n':
      literal_kind_ = 2;
      literal_pos_ = 0;
      goto on_literal;
    default:
      fail(fault::syntax);
      goto failed;
  }

on_array_first:
  p = scan_blanks(p, end);
  if (p == end) {
    resume = state::array_first;
    goto suspend;
  }
  if (*p != ']') goto value_begins;
  goto close;

on_object_first:
  p = scan_blanks(p, end);
  if (p == end) {
    resume = state::object_first;
    goto suspend;
  }
  if (*p == '"') goto key_begins;
  if (*p == '}') goto close;
  fail(fault::syntax);
  goto failed;

on_key:
  p = scan_blanks(p, end);
  if (p == end) {
    resume = state::key;
    goto suspend;
  }
  if (*p != '"') {
    fail(fault::syntax);
    goto failed;
  }
key_begins:
  in_key_ = true;
  key_size_ = 0;
  ++p;
  key_from = p;

on_string:
  if (!scan_string(p, end)) {
    if (fault_ != fault::none) goto failed;
    if (capturing()) keep_key(key_from, p);
    resume = state::string;
    goto suspend;
  }
  if (!in_key_) {
    ++p;
    goto value_ends;
  }
  if (depth_ == 1) {
    keep_key(key_from, p);
    end_key();
  }
  ++p;

on_colon:
  p = scan_blanks(p, end);
  if (p == end) {
    resume = state::colon;
    goto suspend;
  }
  if (*p != ':') {
    fail(fault::syntax);
    goto failed;
  }
  ++p;
  goto on_value;

on_number:
  if (scan_number(p, end)) goto value_ends;
  if (fault_ != fault::none) goto failed;
  resume = state::number;
  goto suspend;

on_literal:
  if (scan_literal(p, end)) goto value_ends;
  if (fault_ != fault::none) goto failed;
  resume = state::literal;
  goto suspend;

close:
  ++p;
  --depth_;
value_ends:
  if (depth_ <= 1) {
    if (depth_ == 0) {
      value_end_ = at(p);
      goto on_done;
    }
    if (current_member_ >= 0) {
      envelope_.members[static_cast<std::size_t>(current_member_)] = {member_begin_, at(p)};
      current_member_ = -1;
    }
  }

on_after:
  p = scan_blanks(p, end);
  if (p == end) {
    resume = state::after;
    goto suspend;
  }
  if (*p == ',') {
    ++p;
    if (in_object()) goto on_key;
    goto on_value;
  }
  if (*p == (in_object() ? '}' : ']')) goto close;
  fail(fault::syntax);
  goto failed;

on_done:
  p = scan_blanks(p, end);
  if (p == end) {
    resume = state::done;
    goto suspend;
  }
  fail(fault::syntax);

failed:
  fault_offset_ = at(p);
  offset_ += bytes.size();
  return false;

suspend:
  state_ = resume;
  offset_ += bytes.size();
  return true;
}

bool json_scanner::finish() {
  if (fault_ != fault::none) return false;
  if (state_ == state::done) return true;
  if (state_ == state::number && depth_ == 0 && number_may_end()) {
    value_end_ = offset_;
    state_ = state::done;
    return true;
  }
  fault_offset_ = offset_;
  return fail(fault::truncated);
}

json_scanner::fault check_json(std::string_view text, int max_depth, std::size_t* offset) {
  json_scanner scanner({.max_depth = max_depth});
  if (!scanner.feed(text) || !scanner.finish()) {
    if (offset != nullptr) *offset = scanner.fault_offset();
    return scanner.fault_kind();
  }
  return json_scanner::fault::none;
}

std::string_view to_string(json_scanner::fault f) {
  switch (f) {
    case json_scanner::fault::none:
      return "no fault";
    case json_scanner::fault::syntax:
      return "invalid JSON";
    case json_scanner::fault::depth:
      return "nested too deeply";
    case json_scanner::fault::utf8:
      return "invalid UTF-8";
    case json_scanner::fault::control_character:
      return "a control character in a string";
    case json_scanner::fault::truncated:
      return "cut off";
  }
  return "invalid JSON";
}

}  // namespace mcpbx
