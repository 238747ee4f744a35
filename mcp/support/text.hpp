// Small text helpers that several layers need: suggestions for misspelt names, cleaning of foreign text for people,
// cutting at a UTF-8 boundary, globs, stable hashes.
#pragma once
#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx {

/// The known word nearest to `word` by edit distance, or "" when none is close enough to be meant.
std::string_view nearest(std::string_view word, std::span<const std::string_view> known);
/// Up to `most` of them, the nearest first, found in one pass over `known`. Words over 256 bytes resemble nothing.
/// `work` is raised by the cells that were compared, for tests.
std::vector<std::string_view> nearest_few(std::string_view word, std::span<const std::string_view> known,
                                          std::size_t most, std::size_t* work = nullptr);
/// ` (did you mean "X"?)`, or "" when nothing is near. Ready to be appended to an error.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> known);

/// `text` without the blanks of JSON (space, tab, CR, LF) at its ends.
std::string_view trimmed(std::string_view text);
/// At most `bytes` bytes of `text`, cut at a character boundary.
std::string_view cut_utf8(std::string_view text, std::size_t bytes);
/// At most the last `bytes` bytes, cut at a character boundary.
std::string_view tail_utf8(std::string_view text, std::size_t bytes);

/// `word` as a shell takes it, for commands that people are told: plain words as they are, others in quotes.
std::string shell_word(std::string_view word);

/// Whether `name` matches `pattern`, in which `*` stands for any run of characters and `?` for one. The work is at most
/// pattern times name / 64.
bool glob_match(std::string_view pattern, std::string_view name);

/// FNV-1a, 64 bits: stable over versions, for names and cache keys, not for security.
std::uint64_t stable_hash(std::string_view text);
/// The low `digits` (1 … 16) hexadecimal digits of a hash.
std::string hex(std::uint64_t value, int digits);

/// "1 round", "2 rounds"; `one` is a word whose plural has an s.
template <std::integral Number>
std::string counted(Number n, std::string_view one) {
  return std::to_string(n).append(" ").append(one).append(n == 1 ? "" : "s");
}

}  // namespace mcpbx
