// Small text helpers: suggestions for misspelt names, cutting at UTF-8 boundaries, globs, stable hashes.
#pragma once
#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx {

/// Returns the known word nearest to `word` by edit distance, or "" if none is near enough.
std::string_view nearest(std::string_view word, std::span<const std::string_view> known);
/// Returns up to `most` near words, the nearest first, in one pass over `known`. Words over 256 bytes resemble nothing.
/// Adds the number of compared cells to `work`, for tests.
std::vector<std::string_view> nearest_few(std::string_view word, std::span<const std::string_view> known,
                                          std::size_t most, std::size_t* work = nullptr);
/// Returns ` (did you mean "X"?)` to append to an error, or "" if no word is near.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> known);

/// Removes the blanks of JSON (space, tab, CR, LF) at both ends.
std::string_view trimmed(std::string_view text);
/// Returns at most the first `bytes` bytes, cut at a character boundary.
std::string_view cut_utf8(std::string_view text, std::size_t bytes);
/// Returns at most the last `bytes` bytes, cut at a character boundary.
std::string_view tail_utf8(std::string_view text, std::size_t bytes);

/// Quotes `word` for a shell, for commands that are shown to people. Plain words stay as they are.
std::string shell_word(std::string_view word);

/// Returns true if `name` matches `pattern`, in which `*` stands for any run of characters and `?` for one. The work is
/// at most pattern times name / 64.
bool glob_match(std::string_view pattern, std::string_view name);

/// Returns the 64-bit FNV-1a hash, which never changes between versions. For names and cache keys, not for security.
std::uint64_t stable_hash(std::string_view text);
/// Returns the low `digits` (1 … 16) hexadecimal digits of a hash.
std::string hex(std::uint64_t value, int digits);

/// Returns "1 round" or "2 rounds"; `one` is a word whose plural ends in s.
template <std::integral Number>
std::string counted(Number n, std::string_view one) {
  return std::to_string(n).append(" ").append(one).append(n == 1 ? "" : "s");
}

}  // namespace mcpbx
