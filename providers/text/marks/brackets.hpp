// Where a bracketed text that may be no strict JSON ends, found while it arrives: strings of several kinds of quotes
// and comments are looked through, so that markers and brackets inside of them do not count.
#pragma once
#include <cstddef>
#include <string_view>

namespace mcpbx::providers::text {

class bracket_scanner {
 public:
  /// Takes bytes from the first opening bracket on, wherever they are cut, until that one is closed. Returns how many
  /// bytes were taken: all of them unless closed().
  std::size_t feed(std::string_view bytes);
  bool closed() const { return closed_; }
  void reset() { *this = bracket_scanner(); }

 private:
  enum class inside : unsigned char { nothing, line_comment, block_comment, string, curly_string };
  void step(unsigned char c);
  bool may_open() const;

  inside inside_ = inside::nothing;
  unsigned char quote_ = 0;                 // of the string; the last byte of its kind for typographic quotes
  unsigned char before_ = 0, before2_ = 0;  // the bytes just before
  unsigned char token_ = 0;                 // the last byte that was no blank, outside of strings and comments
  std::size_t depth_ = 0;
  bool escaped_ = false, closed_ = false;
};

}  // namespace mcpbx::providers::text
