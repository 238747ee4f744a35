// Walks over the members of one level of an object; readers and editors of members are built on it.
#pragma once
#include "mcp/json/json_skip.hpp"
#include "mcp/json/raw_json.hpp"
#include "mcp/support/byte_search.hpp"

#include <cstddef>
#include <string_view>

namespace mcpbx {

/// Walks over the members of one level. The text should be checked, but any text is safe: broken() reports a text that
/// is not cut into members.
class member_walk {
 public:
  explicit member_walk(std::string_view object) : p_(object.data()), end_(p_ + object.size()) {
    if (p_ == end_ || *p_ != '{') {
      broken_ = true;
      return;
    }
    p_ = byte_search::skip_blanks(p_ + 1, end_);
    if (p_ != end_ && *p_ == '}') ended();
  }

  std::string_view key, value;  // JSON tokens of the member that next() found
  bool key_has_escapes = false;

  bool key_is(std::string_view name) const {
    if (key_has_escapes) return unescaped_key_is(name);
    return key.size() == name.size() + 2 && key.substr(1, name.size()) == name;
  }

  /// Moves to the next member. Returns false behind the last one, and for a broken text.
  bool next() {
    if (done_ || broken_) return false;
    broken_ = true;  // until the member turns out to be whole
    if (p_ == end_ || *p_ != '"') return false;
    const char* const first_special = byte_search::quote_or_escape(p_ + 1, end_);
    key_has_escapes = first_special != end_ && *first_special == '\\';
    const char* const key_end =
        key_has_escapes || first_special == end_ ? json_skip::string(p_, end_) : first_special + 1;
    key = {p_, static_cast<std::size_t>(key_end - p_)};
    if (key.size() < 2 || key.back() != '"') return false;
    p_ = byte_search::skip_blanks(key_end, end_);
    if (p_ == end_ || *p_ != ':') return false;
    p_ = byte_search::skip_blanks(p_ + 1, end_);
    const char* const value_end = json_skip::value(p_, end_);
    if (value_end == p_) return false;
    value = {p_, static_cast<std::size_t>(value_end - p_)};
    p_ = byte_search::skip_blanks(value_end, end_);
    if (p_ == end_) return false;
    if (*p_ == '}') {
      ended();
      return true;
    }
    if (*p_ != ',') return false;
    p_ = byte_search::skip_blanks(p_ + 1, end_);
    broken_ = false;
    return true;
  }
  bool broken() const { return broken_; }

 private:
  [[gnu::noinline]] bool unescaped_key_is(std::string_view name) const { return unescaped(key) == name; }
  void ended() {
    done_ = true;
    broken_ = p_ + 1 != end_;
  }
  const char* p_;
  const char* end_;
  bool done_ = false, broken_ = false;
};

}  // namespace mcpbx
