// The text of a document with comments, read from front to back: where it stands, what to skip, the values that are no
// lists or objects, and the errors with their places. jsonc.cpp makes the tree on top of it.
#pragma once
#include "conf/document/jsonc.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::conf {

/// Whether a bare word (a keyword, a key without quotes) may start with `c`, or go on with it.
bool word_start(char c);
bool word_part(char c);

class jsonc_reader {
 public:
  /// As parse_jsonc(). What is no UTF-8 is reported and replaced.
  jsonc_reader(std::string_view text, std::uint32_t file, std::string_view name, std::vector<diagnostic>& errors);
  jsonc_reader(const jsonc_reader&) = delete;
  jsonc_reader& operator=(const jsonc_reader&) = delete;

  bool end() const { return pos_ >= text_.size(); }
  /// The next character, or NUL at the end.
  char peek() const { return end() ? '\0' : text_[pos_]; }
  place here() const { return {file_, line_, column_}; }
  void step();
  /// Skips blanks and comments.
  void blanks();
  /// Skips to the next comma or closing bracket of this level, or to the end.
  void recover();

  /// The way to what is read now, for the errors.
  void enter(std::string key) { path_.push_back({std::move(key), no_index}); }
  void enter(std::size_t index) { path_.push_back({{}, index}); }
  void leave() { path_.pop_back(); }
  std::size_t error_count() const { return errors_.size(); }
  void report(const place& at, std::string what, std::string mend);
  /// The text ended inside something: told once, for the innermost bracket.
  void report_end(std::string what, std::string mend);
  /// Reports, recovers, and stands for the value that cannot be read.
  node broken(const place& at, std::string what, std::string mend);

  /// A value that is no list and no object.
  node scalar();
  /// Reads a string token. False after an error, which has been reported; the text has been passed all the same.
  bool quoted_text(std::string& out);
  /// Passes a text in single quotes, which the caller has reported.
  std::string single_quoted_text();
  /// Whether a string that was not closed has swallowed the comma behind it; asked once.
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

}  // namespace mcpbx::conf
