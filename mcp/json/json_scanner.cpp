// The scanner's state machine; json_scanner_tokens.cpp has the tokens. It is a chain of labels, entered by the state in
// which the last feed() ended; common sequences (key, colon, value, comma) run from label to label without a switch.
#include "mcp/json/json_scanner.hpp"

#include "mcp/json/raw_json.hpp"
#include "mcp/search/long_search.hpp"
#include "mcp/support/byte_search.hpp"

#include <algorithm>

namespace mcpbx::json {
namespace {

constexpr std::uint8_t key_too_long = 255;

/// Returns the member that a key names, or -1. Compares the length first, since every line has several keys and most
/// are then decided by comparing one word.
int member_called(std::string_view key) {
  using enum envelope_member;
  const auto index = [](envelope_member m) { return static_cast<int>(m); };
  switch (key.size()) {
    case 2:
      return key == "id" ? index(id) : -1;
    case 5:
      return key == "error" ? index(error) : -1;
    case 6:
      return key == "method" ? index(method) : key == "params" ? index(params) : key == "result" ? index(result) : -1;
    case 7:
      return key == "jsonrpc" ? index(jsonrpc) : -1;
    default:
      return -1;
  }
}

/// Finds the first special byte of a string, the far ones of a long string in larger steps.
const char* find_special(const char* p, const char* end) {
  constexpr std::ptrdiff_t near = 64;
  if (end - p <= near) return byte_search::string_special(p, end);
  const char* const found = byte_search::string_special(p, p + near);
  return found != p + near ? found : search::byte_search::string_special_far(found, end);
}

/// Skips blanks. Kept out of scan_blanks, which is inlined at every place for blanks and nearly always finds none.
[[gnu::noinline]] const char* behind_blanks(const char* p, const char* end, bool& line_break) {
  for (; p != end; ++p) {
    if (*p == '\n' || *p == '\r')
      line_break = true;
    else if (*p != ' ' && *p != '\t')
      break;
  }
  return p;
}

}  // namespace

json_scanner::json_scanner(options o) : options_(o) {
  options_.max_depth = std::clamp(o.max_depth, 1, most_depth);
  depth_limit_ = options_.max_depth;
  stack_.resize(1);
}

void json_scanner::reset() {
  state_ = state::value;
  utf8_need_ = escape_ = key_size_ = 0;
  in_key_ = saw_invalid_utf8_ = saw_line_break_ = false;
  first_ = 0;
  fault_ = fault::none;
  current_member_ = -1;
  depth_ = 0;
  depth_limit_ = options_.max_depth;
  deep_offset_ = 0;
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

bool json_scanner::may_go_deeper(std::size_t at) noexcept {
  if (!options_.tolerate_deep_result || depth_limit_ == most_depth || !envelope_.has_seen(envelope_member::result))
    return false;
  depth_limit_ = most_depth;
  deep_offset_ = at;
  return true;
}

void json_scanner::push(bool object) {
  const auto level = static_cast<unsigned>(depth_++);
  const std::uint64_t bit = std::uint64_t{1} << (level & 63);
  if (level >> 6 == stack_.size()) stack_.resize(stack_.size() + 1);
  std::uint64_t& word = stack_[level >> 6];
  word = object ? word | bit : word & ~bit;
}

bool json_scanner::in_object() const noexcept {
  const auto level = static_cast<unsigned>(depth_ - 1);
  return (stack_[level >> 6] >> (level & 63) & 1) != 0;
}

const char* json_scanner::scan_blanks(const char* p, const char* end) {
  if (p == end || static_cast<unsigned char>(*p) > ' ') return p;
  bool outside = false;
  return behind_blanks(p, end, depth_ > 0 ? saw_line_break_ : outside);
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

void json_scanner::end_key(const char* from, const char* to) {
  current_member_ = -1;
  std::string_view key(from, to);
  if (key_size_ != 0) {  // the key began in an earlier feed
    keep_key(from, to);
    if (key_size_ == key_too_long) return;
    key = {key_.data(), key_size_};
  }
  int member = member_called(key);
  if (member < 0 && key.size() <= key_.size() && key.find('\\') != std::string_view::npos)
    member = member_called(unescaped(key));
  if (member < 0) return;
  const auto bit = static_cast<std::uint8_t>(1u << member);
  if ((envelope_.seen & bit) != 0)
    envelope_.duplicates |= bit;
  else
    current_member_ = member;
  envelope_.seen |= bit;
}

bool json_scanner::feed(std::string_view bytes) {
  if (fault_ != fault::none) return false;
  const char* const begin = bytes.data();
  const char* const end = begin + bytes.size();
  const char* p = begin;
  const char* key_from = begin;
  const auto at = [this, begin](const char* q) { return offset_ + static_cast<std::size_t>(q - begin); };
  state resume = state_;
  // Pass a copy, so that `p` itself can stay in a register.
  const auto scan = [&](bool (json_scanner::*token)(const char*&, const char*)) {
    const char* q = p;
    const bool ended = (this->*token)(q, end);
    p = q;
    return ended;
  };

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
      if (depth_ == depth_limit_ && !may_go_deeper(at(p))) {
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
      if (*p > '0' && *p <= '9') {
        number_ = number_part::integer;
        ++p;
        goto on_number;
      }
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
  // Most strings are plain up to an end within these bytes.
  if (utf8_need_ == 0 && escape_ == 0) p = find_special(p, end);
  if ((p == end || *p != '"' || utf8_need_ != 0 || escape_ != 0) && !scan(&json_scanner::scan_string)) {
    if (fault_ != fault::none) goto failed;
    if (capturing()) keep_key(key_from, p);
    resume = state::string;
    goto suspend;
  }
  if (!in_key_) {
    ++p;
    goto value_ends;
  }
  if (depth_ == 1) end_key(key_from, p);
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
  if (scan(&json_scanner::scan_number)) goto value_ends;
  if (fault_ != fault::none) goto failed;
  resume = state::number;
  goto suspend;

on_literal:
  if (scan(&json_scanner::scan_literal)) goto value_ends;
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

}  // namespace mcpbx::json
