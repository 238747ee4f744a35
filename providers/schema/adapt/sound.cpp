// A cursor that descends into schemas, skips all other values, and stops at the first doubt.
#include "providers/schema/adapt/sound.hpp"

#include "mcp/json/json_skip.hpp"
#include "mcp/support/byte_search.hpp"
#include "providers/schema/adapt/keywords.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace mcpbx::providers::adapt {
namespace {

constexpr std::size_t max_compared = 32;  // largest list whose texts are compared with each other

class inspector {
 public:
  explicit inspector(std::string_view text) : p_(text.data()), end_(p_ + text.size()) {}

  // Each of these functions begins at the first byte of a value. If it returns true, the cursor is behind the last one.
  bool schema(int levels) {
    if (levels < 0) return skip();
    bool array = false, items = false;
    const auto sound = members([&](std::string_view name) {
      const auto what = find_keyword(name);
      switch (what) {
        case keyword::type:
          return types(array);
        case keyword::required:
          return names();
        case keyword::properties:
        case keyword::schema_map:
          return members([&](std::string_view) { return is('{') && schema(levels - 1); });
        case keyword::schema:
          return is('{') ? schema(levels - 1) : fits(what, value());
        case keyword::items:
          items = true;
          return is('{') && schema(levels - 1);
        case keyword::schema_list:
          return filled() && elements([&] { return is('{') ? schema(levels - 1) : is_flag(value()); });
        default:
          return fits(what, value());
      }
    });
    return sound && (items || !array);
  }

 private:
  bool is(char c) const { return p_ != end_ && *p_ == c; }
  bool take(char c) {
    p_ = byte_search::skip_blanks(p_, end_);
    if (!is(c)) return false;
    ++p_;
    return true;
  }
  std::string_view value() {
    const char* const from = p_;
    p_ = json::json_skip::value(p_, end_);
    return {from, static_cast<std::size_t>(p_ - from)};
  }
  bool skip() { return !value().empty(); }

  // Reads a string without escapes.
  bool plain_text(std::string_view& text) {
    if (!is('"')) return false;
    const char* const from = p_ + 1;
    p_ = byte_search::quote_or_escape(from, end_);
    text = {from, static_cast<std::size_t>(p_ - from)};
    if (!is('"')) return false;
    ++p_;
    return true;
  }

  template <class F>
  bool members(F&& f) {
    if (!take('{')) return false;
    if (take('}')) return true;
    do {
      std::string_view name;
      p_ = byte_search::skip_blanks(p_, end_);
      if (!plain_text(name) || !take(':')) return false;
      p_ = byte_search::skip_blanks(p_, end_);
      if (!f(name)) return false;
    } while (take(','));
    return take('}');
  }

  template <class F>
  bool elements(F&& f) {
    if (!take('[')) return false;
    if (take(']')) return true;
    do {
      p_ = byte_search::skip_blanks(p_, end_);
      if (!f()) return false;
    } while (take(','));
    return take(']');
  }

  // Returns true at a list with an element, without moving.
  bool filled() const { return is_filled({p_, static_cast<std::size_t>(end_ - p_)}); }

  // Accepts a list of distinct texts.
  bool names() {
    std::array<std::string_view, max_compared> known;
    std::size_t count = 0;
    return elements([&] {
      std::string_view name;
      return count < known.size() && plain_text(name) && is_new(name, known, count);
    });
  }

  bool types(bool& array) {
    std::array<std::string_view, 7> known;
    std::size_t count = 0;
    const auto one = [&] {
      const auto type = value();
      array = array || type == R"("array")";
      return is_type(type) && is_new(type, known, count);
    };
    return is('"') ? one() : filled() && elements(one);
  }

  // Adds `text`; returns false if it is there already. The caller bounds the number of texts.
  template <std::size_t N>
  static bool is_new(std::string_view text, std::array<std::string_view, N>& known, std::size_t& count) {
    const auto end = known.begin() + static_cast<std::ptrdiff_t>(count);
    if (std::find(known.begin(), end, text) != end) return false;
    known[count++] = text;
    return true;
  }

  const char* p_;
  const char* end_;
};

}  // namespace

bool is_sound(std::string_view schema, int levels) {
  return inspector(schema).schema(levels);
}

}  // namespace mcpbx::providers::adapt
