// Small text helpers: suggestions, cutting, hashes; globs, matched with work of at most pattern times name / 64.
#include "mcp/support/text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace mcpbx {
namespace {

// Bounds beyond which a word is no misspelling of another. They limit the cost of a wrong word, which may be hostile.
constexpr std::size_t longest_word = 256, most_edits = 8;

/// Returns the Damerau-Levenshtein distance of neighbours, or limit + 1 once it must exceed `limit`. Computes the band
/// that can stay within it, and adds the number of its cells to `cells`.
std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t limit, std::size_t& cells) {
  const std::size_t longer = std::max(a.size(), b.size()), shorter = std::min(a.size(), b.size());
  if (longer - shorter > limit || longer > longest_word) return limit + 1;
  const std::size_t far = limit + 1;
  std::array<std::array<std::size_t, longest_word + 2>, 3> rows;  // [j + 1] is the cell of b's first j characters
  for (auto& row : rows) std::fill_n(row.begin(), b.size() + 2, far);
  for (std::size_t j = 0; j <= std::min(b.size(), limit); ++j) rows[0][j + 1] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    auto &row = rows[i % 3], &last = rows[(i + 2) % 3], &before_last = rows[(i + 1) % 3];
    const std::size_t from = i > limit ? i - limit : 0, to = std::min(b.size(), i + limit);
    row[from] = far;
    std::size_t best = far;
    for (std::size_t j = from; j <= to; ++j) {
      std::size_t cell = j == 0 ? i : far;
      if (j > 0) {
        cell = std::min({last[j + 1] + 1, row[j] + 1, last[j] + (a[i - 1] == b[j - 1] ? 0 : 1)});
        if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
          cell = std::min(cell, before_last[j - 1] + 1);
      }
      row[j + 1] = std::min(cell, far);
      best = std::min(best, row[j + 1]);
    }
    if (to < b.size()) row[to + 2] = far;
    cells += to + 1 - from;
    if (best > limit) return far;
  }
  return rows[a.size() % 3][b.size() + 1];
}

bool continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

// Globs. All positions in the name where the part of the pattern read so far may end are bits of a few words.

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

std::vector<std::string_view> nearest_few(std::string_view word, std::span<const std::string_view> known,
                                          std::size_t most, std::size_t* work) {
  struct match {
    std::size_t distance;
    std::string_view word;
  };
  std::vector<match> best;  // sorted by distance; equal ones in their order
  std::size_t cells = 0;
  std::size_t limit = std::clamp<std::size_t>(word.size() / 3, 1, most_edits);
  for (const std::string_view candidate : known) {
    if (candidate.empty() || most == 0) continue;
    const std::size_t distance = edit_distance(word, candidate, limit, cells);
    if (distance > limit) continue;
    const auto place = std::ranges::upper_bound(best, distance, {}, &match::distance);
    best.insert(place, {distance, candidate});
    if (best.size() > most) best.pop_back();
    if (best.size() < most) continue;
    if (best.back().distance == 0) break;
    limit = best.back().distance - 1;
  }
  if (work != nullptr) *work += cells;
  std::vector<std::string_view> words;
  for (const match& m : best) words.push_back(m.word);
  return words;
}

std::string_view nearest(std::string_view word, std::span<const std::string_view> known) {
  const auto found = nearest_few(word, known, 1);
  return found.empty() ? std::string_view() : found.front();
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> known) {
  const std::string_view best = nearest(word, known);
  // Names may be those of strangers: one with a line break or an escape sequence is no hint.
  const bool plain = std::ranges::none_of(best, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  if (best.empty() || !plain) return {};
  return " (did you mean \"" + std::string(best) + "\"?)";
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const auto from = text.find_first_not_of(blanks);
  return from == text.npos ? std::string_view() : text.substr(from, text.find_last_not_of(blanks) - from + 1);
}

std::string_view cut_utf8(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  std::size_t at = bytes;
  // A character has at most four bytes; if there is no boundary within them, the text is no UTF-8.
  while (at > 0 && bytes - at < 3 && continuation(text[at])) --at;
  return text.substr(0, continuation(text[at]) ? bytes : at);
}

std::string_view tail_utf8(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  const std::size_t from = text.size() - bytes;
  std::size_t at = from;
  while (at < text.size() && at - from < 3 && continuation(text[at])) ++at;
  return text.substr(at < text.size() && continuation(text[at]) ? from : at);
}

std::string shell_word(std::string_view word) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.:/+@%,";
  if (!word.empty() && word.find_first_not_of(plain) == std::string_view::npos) return std::string(word);
  std::string quoted = "'";
  for (const char one : word) quoted += one == '\'' ? std::string(R"('\'')") : std::string(1, one);
  return quoted + "'";
}

std::uint64_t stable_hash(std::string_view text) {
  std::uint64_t h = 14695981039346656037u;
  for (const char c : text) {
    h ^= static_cast<unsigned char>(c);
    h *= 1099511628211u;
  }
  return h;
}

std::string hex(std::uint64_t value, int digits) {
  std::string out(static_cast<std::size_t>(std::clamp(digits, 1, 16)), '0');
  for (auto at = out.rbegin(); at != out.rend(); ++at, value >>= 4) *at = "0123456789abcdef"[value & 0xF];
  return out;
}

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
