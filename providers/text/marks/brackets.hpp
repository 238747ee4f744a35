// Finds the end of a bracketed text that need not be strict JSON, while it arrives. Brackets inside comments and
// strings, in several kinds of quotes, do not count.
#pragma once
#include <cstddef>
#include <string_view>

namespace mcpbx::providers::text::marks {

class bracket_scanner {
 public:
  /// Takes bytes, in pieces of any size, from the first opening bracket until it is closed. Returns the number of bytes
  /// taken, which is all of them unless closed().
  std::size_t feed(std::string_view bytes);
  bool closed() const { return closed_; }
  void reset() { *this = bracket_scanner(); }

 private:
  enum class inside : unsigned char { nothing, line_comment, block_comment, string, curly_string };
  void step(unsigned char c);
  bool may_open() const;

  inside inside_ = inside::nothing;
  unsigned char quote_ = 0;                 // quote of the open string; the last byte of a typographic one
  unsigned char before_ = 0, before2_ = 0;  // the two previous bytes
  unsigned char token_ = 0;                 // the last byte that was no blank, outside of strings and comments
  std::size_t depth_ = 0;
  bool escaped_ = false, closed_ = false;
};

}  // namespace mcpbx::providers::text::marks
