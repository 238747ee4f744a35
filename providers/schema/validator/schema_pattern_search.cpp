// Matches patterns with Thompson's algorithm: a set of positions in the pattern moves over the text, one code point at
// a time, so the work is at most instructions times characters. A look-ahead starts a search of its own.
#include "mcp/support/utf8.hpp"
#include "providers/schema/validator/schema_pattern.hpp"

#include <algorithm>

namespace mcpbx::providers::schema {
namespace {

bool is_word(char32_t c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || c == '_' || (c >= 'a' && c <= 'z');
}
bool ends_line(char32_t c) {
  return c == '\n' || c == '\r' || c == 0x2028 || c == 0x2029;
}

constexpr char32_t outside = 0xFFFFFFFF;  // before the first and behind the last character

}  // namespace

class pattern_search {
 public:
  pattern_search(const pattern& p, std::string_view text, std::size_t& steps)
      : p_(p), end_(text.data() + text.size()), steps_(steps) {}

  bool exhausted() const { return exhausted_; }

  // Returns true if the code from `start` matches at `at`, or anywhere behind it unless anchored.
  bool from(std::uint32_t start, const char* at, char32_t before, bool anchored) {
    std::vector<std::uint32_t> now, next;
    std::vector<bool> marked(p_.code_.size());
    for (bool first = true;; first = false) {
      std::uint8_t size = 0;
      const auto c = read(at, size);
      if ((first || !anchored) && add(start, at, before, c, now, marked)) return true;
      if (exhausted_ || c == outside || (now.empty() && anchored)) return false;
      std::fill(marked.begin(), marked.end(), false);
      spend(marked.size() / 64);
      std::uint8_t after_size = 0;
      const auto after = read(at + size, after_size);
      next.clear();
      for (const auto pc : now)
        if (takes(p_.code_[pc], c) && add(pc + 1, at + size, c, after, next, marked)) return true;
      if (exhausted_) return false;
      now.swap(next);
      at += size;
      before = c;
    }
  }

 private:
  using code = pattern::code;

  char32_t read(const char* at, std::uint8_t& size) const {
    if (at >= end_) return outside;
    const auto s = utf8::next(at, end_);
    size = s.size;
    return s.what == utf8::status::valid ? utf8::decode(at, s.size) : char32_t{0xFFFD};
  }

  void spend(std::size_t n) {
    if (steps_ < n) exhausted_ = true;
    steps_ -= exhausted_ ? steps_ : n;
  }

  bool takes(const pattern::instruction& i, char32_t c) const {
    switch (i.what) {
      case code::one:
        return c == i.a;
      case code::any:
        return !ends_line(c);
      default:
        return p_.classes_[i.a].has(c);
    }
  }

  // Follows all instructions from `pc` that consume no character. Returns true at the end of the pattern.
  bool add(std::uint32_t pc, const char* at, char32_t before, char32_t c, std::vector<std::uint32_t>& to,
           std::vector<bool>& marked) {
    const auto base = todo_.size();  // a look-ahead's search works above what is left to do here
    todo_.push_back(pc);
    while (todo_.size() > base) {
      pc = todo_.back();
      todo_.pop_back();
      if (marked[pc]) continue;
      marked[pc] = true;
      spend(1);
      if (exhausted_) return false;
      const auto& i = p_.code_[pc];
      switch (i.what) {
        case code::match:
          todo_.resize(base);
          return true;
        case code::jump:
          todo_.push_back(i.a);
          break;
        case code::split:
          todo_.push_back(i.b);
          todo_.push_back(i.a);
          break;
        case code::begin:
          if (before == outside) todo_.push_back(pc + 1);
          break;
        case code::end:
          if (c == outside) todo_.push_back(pc + 1);
          break;
        case code::boundary:
        case code::no_boundary:
          if ((is_word(before) != is_word(c)) == (i.what == code::boundary)) todo_.push_back(pc + 1);
          break;
        case code::look:
        case code::look_not:
          if (from(pc + 1, at, before, true) == (i.what == code::look)) todo_.push_back(i.a);
          if (exhausted_) return false;
          break;
        default:
          to.push_back(pc);
      }
    }
    return false;
  }

  const pattern& p_;
  const char* end_;
  std::size_t& steps_;
  std::vector<std::uint32_t> todo_;
  bool exhausted_ = false;
};

pattern::outcome pattern::search(std::string_view text, std::size_t& steps) const {
  pattern_search s(*this, text, steps);
  const bool found = s.from(0, text.data(), outside, false);
  return s.exhausted() ? outcome::unknown : found ? outcome::match : outcome::no_match;
}

}  // namespace mcpbx::providers::schema
