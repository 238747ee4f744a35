// The one walk over checked JSON: members and elements of one level as views into the text, without owners and without
// allocation. Stream chunks, of which a model sends hundreds of thousands per second, are read with it.
#pragma once
#include "mcp/json/json_skip.hpp"
#include "mcp/json/raw_json.hpp"
#include "mcp/support/byte_search.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace mcpbx::json::walk {

/// Walks over the members of one level of checked text. Safe on any text: what is not cut into members is broken().
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

  std::string_view key, value;  // tokens of the member that next() found
  bool key_has_escapes = false;

  bool key_is(std::string_view name) const {
    if (key_has_escapes) return unescaped_key_is(name);
    return key.size() == name.size() + 2 && key.substr(1, name.size()) == name;
  }
  /// The key's text: a view into the walked text, or into `room` where the key has escapes.
  std::string_view name(std::string& room) const {
    if (key_has_escapes) return room = unescaped(key);
    return key.substr(1, key.size() - 2);
  }

  /// Returns false behind the last member, and for malformed text. Inline, because each chunk of a stream is read with
  /// it.
  [[gnu::always_inline]] bool next() {
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

/// Walks over the elements of one level of checked text; none where it is no array. Safe on any text.
class element_walk {
 public:
  explicit element_walk(std::string_view array) : p_(array.data()), end_(p_ + array.size()) {
    p_ = array.starts_with('[') ? byte_search::skip_blanks(p_ + 1, end_) : end_;
  }

  std::string_view value;  // the element that next() found

  /// Returns false behind the last element, and for malformed text.
  bool next() {
    const char* const value_end = json_skip::value(p_, end_);
    if (value_end == p_) return false;
    value = {p_, static_cast<std::size_t>(value_end - p_)};
    p_ = byte_search::skip_blanks(value_end, end_);
    p_ = p_ != end_ && *p_ == ',' ? byte_search::skip_blanks(p_ + 1, end_) : end_;
    return true;
  }

 private:
  const char* p_;
  const char* end_;
};

/// Calls `f(key, value)` for each member; `key` is unescaped, `value` the bytes of one value. Nothing for other kinds.
template <class F>
void members(std::string_view object, F&& f) {
  member_walk walk(object);
  std::string room;
  while (walk.next()) f(walk.name(room), walk.value);
}

/// Calls `f(value)` for each element of an array. Nothing for other kinds.
template <class F>
void elements(std::string_view array, F&& f) {
  element_walk walk(array);
  while (walk.next()) f(walk.value);
}

/// The value of the last member called `key`, or "".
inline std::string_view find(std::string_view object, std::string_view key) {
  std::string_view found;
  member_walk walk(object);
  while (walk.next())
    if (walk.key_is(key)) found = walk.value;
  return found;
}

inline bool is_string(std::string_view value) {
  return value.starts_with('"');
}
inline bool is_object(std::string_view value) {
  return value.starts_with('{');
}
inline bool is_array(std::string_view value) {
  return value.starts_with('[');
}

/// The text of a string value; "" for other kinds.
inline std::string text(std::string_view value) {
  return is_string(value) ? unescaped(value) : std::string();
}
/// Returns the integer in a member of `object`; 0 if the member is missing or no integer.
inline std::int64_t count(std::string_view object, std::string_view key) {
  return raw_json::literal(find(object, key)).as_integer().value_or(0);
}

}  // namespace mcpbx::json::walk
