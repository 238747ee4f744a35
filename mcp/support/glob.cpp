// Matches globs with work of at most pattern times name / 64. All positions in the name where the part of the pattern
// read so far may end are bits of a few words.
#include "mcp/support/text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace mcpbx {
namespace {

using word = std::uint64_t;
constexpr std::size_t bits = 64;
constexpr std::size_t small_words = 3;  // names of up to 191 bytes need no allocation

/// Positions 0 … name.size() of a name: bit i is set when the pattern read so far matches its first i bytes.
class positions {
 public:
  explicit positions(std::span<word> words) : words_(words) {
    for (auto& w : words_) w = 0;
    words_[0] = 1;
  }
  bool has(std::size_t i) const { return (words_[i / bits] >> (i % bits) & 1) != 0; }
  bool none() const {
    word any = 0;
    for (const auto w : words_) any |= w;
    return any == 0;
  }
  /// Applies a star: sets every later position too.
  void spread() {
    bool seen = false;
    for (auto& w : words_) {
      if (seen)
        w = ~word(0);
      else if (w != 0) {
        w |= ~(w - 1) | w;
        seen = true;
      }
    }
  }
  void keep(std::span<const word> mask) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] &= mask[i];
  }
  void advance() {
    word carry = 0;
    for (auto& w : words_) {
      const word next = w >> (bits - 1);
      w = w << 1 | carry;
      carry = next;
    }
  }
  /// Moves positions behind a `?` past the rest of the character.
  void skip_rest(std::string_view name) {
    for (std::size_t i = 0; i < name.size(); ++i)
      if (has(i) && (static_cast<unsigned char>(name[i]) & 0xC0) == 0x80) {
        words_[i / bits] &= ~(word(1) << (i % bits));
        words_[(i + 1) / bits] |= word(1) << ((i + 1) % bits);
      }
  }

 private:
  std::span<word> words_;
};

bool matches(std::string_view pattern, std::string_view name, std::span<word> now, std::span<word> mask) {
  positions at(now);
  char masked = 0;
  bool has_mask = false;
  for (std::size_t p = 0; p < pattern.size(); ++p) {
    const char c = pattern[p];
    if (c == '*') {
      if (p == 0 || pattern[p - 1] != '*') at.spread();
      if (p + 1 == pattern.size()) return !at.none();
      continue;
    }
    for (auto& w : mask)
      if (!has_mask || masked != c) w = 0;
    if (!has_mask || masked != c)
      for (std::size_t i = 0; i < name.size(); ++i)
        if (c == '?' || name[i] == c) mask[i / bits] |= word(1) << (i % bits);
    masked = c;
    has_mask = true;
    at.keep(mask);
    at.advance();
    if (c == '?') at.skip_rest(name);
    if (at.none()) return false;
  }
  return at.has(name.size());
}

/// Matches a pattern of stars and short parts between them: each part stands at the first place where it fits.
bool matches_parts(std::string_view pattern, std::string_view name) {
  for (;;) {
    pattern.remove_prefix(std::min(pattern.find_first_not_of('*'), pattern.size()));
    if (pattern.empty()) return true;
    const auto star = pattern.find('*');
    if (star == pattern.npos) return name.ends_with(pattern);
    const auto at = name.find(pattern.substr(0, star));
    if (at == name.npos) return false;
    name.remove_prefix(at + star);
    pattern.remove_prefix(star);
  }
}

/// Longest pattern for which searching part by part is no more work than the bits.
constexpr std::size_t short_pattern = 64;

}  // namespace

bool glob_match(std::string_view pattern, std::string_view name) {
  // The text before the first star rules out nearly all names.
  const auto plain = pattern.find_first_of("*?");
  if (plain == pattern.npos) return pattern == name;
  if (!name.starts_with(pattern.substr(0, plain))) return false;
  pattern.remove_prefix(plain);
  name.remove_prefix(plain);
  if (pattern == "*") return true;
  if (pattern.size() <= short_pattern && pattern.find('?') == pattern.npos) return matches_parts(pattern, name);
  std::size_t least = 0;
  for (const char c : pattern) least += c == '*' ? 0 : 1;
  if (least > name.size()) return false;
  const std::size_t words = name.size() / bits + 1;
  if (words <= small_words) {
    std::array<word, small_words> now, mask;
    return matches(pattern, name, std::span(now).first(words), std::span(mask).first(words));
  }
  std::vector<word> now(words), mask(words);
  return matches(pattern, name, now, mask);
}

}  // namespace mcpbx
