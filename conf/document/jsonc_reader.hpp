// Reads the text of a JSONC document from front to back: position, blanks and comments, scalar values, and errors with
// their places. jsonc.cpp builds the tree on top of it.
#pragma once
#include "conf/document/jsonc.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::conf::documents {

/// Returns true if a bare word (a keyword, a key without quotes) may start with `c`.
bool word_start(char c);
/// Returns true if a bare word may contain `c` after its first character.
bool word_part(char c);

class jsonc_reader {
 public:
  /// Takes the parameters of parse_jsonc(). Reports invalid UTF-8 and replaces it.
  jsonc_reader(std::string_view text, std::uint32_t file, std::string_view name, std::vector<diagnostic>& errors);
  jsonc_reader(const jsonc_reader&) = delete;
  jsonc_reader& operator=(const jsonc_reader&) = delete;

  bool end() const { return pos_ >= text_.size(); }
  /// Returns the next character, or NUL at the end.
  char peek() const { return end() ? '\0' : text_[pos_]; }
  place here() const { return {file_, line_, column_}; }
  void step();
  /// Skips blanks and comments.
  void blanks();
  /// Skips to the next comma or closing bracket of this level, or to the end of the text.
  void recover();

  /// Adds a key or an index to the path of the value being read, which errors show; leave() takes it off.
  void enter(std::string key) { path_.push_back({std::move(key), no_index}); }
  void enter(std::size_t index) { path_.push_back({{}, index}); }
  void leave() { path_.pop_back(); }
  std::size_t error_count() const { return errors_.size(); }
  void report(const place& at, std::string what, std::string mend);
  /// Reports that the text ended too early; only the first call counts, which comes from the innermost bracket.
  void report_end(std::string what, std::string mend);
  /// Reports the error, skips as recover() does, and returns a broken node.
  node broken(const place& at, std::string what, std::string mend);

  /// Reads a value that is neither a list nor an object.
  node scalar();
  /// Reads a string token. Returns false after reporting an error; the position is behind the string either way.
  bool quoted_text(std::string& out);
  /// Reads a text in single quotes. The caller reports it as an error.
  std::string single_quoted_text();
  /// Returns true if an unclosed string swallowed the comma behind it, and resets that mark.
  bool take_swallowed_comma() { return std::exchange(swallowed_comma_, false); }

 private:
  void check_utf8();
  void comment();
  node word();
  node number();
  bool hex4(std::uint32_t& out);
  bool escape(std::string& out);

  struct step_of_path {
    std::string key;
    std::size_t index;
  };
  static constexpr std::size_t no_index = static_cast<std::size_t>(-1);

  std::string_view text_;
  std::string repaired_;
  std::uint32_t file_;
  std::string_view name_;
  std::vector<diagnostic>& errors_;
  std::size_t first_error_;
  std::size_t pos_ = 0;
  std::uint32_t line_ = 1, column_ = 1;
  bool swallowed_comma_ = false;
  bool ended_ = false;  // the early end of the text has been reported
  std::vector<step_of_path> path_;
};

}  // namespace mcpbx::conf::documents
