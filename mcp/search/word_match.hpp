// Searching texts by words, in any case: which texts have them, where they stand, and the line that shows it.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::search {

/// Returns the text in lower case: ASCII, and the letters of Latin-1, Greek and Cyrillic. It has the same number of
/// bytes, so that places in it are places in `text`.
std::string folded_case(std::string_view text);

/// Words that are searched for, folded, each once.
class word_search {
 public:
  static constexpr std::size_t most_words = 16;
  /// Splits at blanks. Words beyond most_words are ignored.
  explicit word_search(std::string_view words);

  const std::vector<std::string>& words() const noexcept { return words_; }
  bool empty() const noexcept { return words_.empty(); }
  /// Returns true if the text has all words, within longer ones too.
  bool matches(std::string_view text) const;
  /// Returns false only if no JSON text with these bytes can have all words. Looks at words that JSON never escapes.
  bool may_match_json(std::string_view json) const;

  using place = std::pair<std::size_t, std::size_t>;  ///< first byte, and the byte behind the last one
  /// Returns the places of the words in order, without overlaps.
  std::vector<place> places(std::string_view text) const;
  /// Returns the line of `text` that has most of the words, the first of those, without blanks at its ends. A line of
  /// more than `most` bytes is cut around its first word, with … where something was left out.
  std::string best_line(std::string_view text, std::size_t most) const;

 private:
  std::vector<std::string> words_;
};

}  // namespace mcpbx::search
