// Puts typed lines together to inputs of several lines. No I/O.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace mcpbx::cli::chat {

/// One input is a line; or lines of which all but the last end in a backslash; or all between a line that begins with
/// `"""` and one that ends with it. A pasted text of several lines counts as one line.
class typed_lines {
 public:
  /// Largest input, in bytes.
  static constexpr std::size_t most = 16u << 20;

  /// Takes a line without its end. Returns true if the input is complete.
  bool add(std::string_view line);
  /// Returns the input, also an incomplete one, and begins the next one.
  std::string take();
  /// Returns true if further lines belong to the input.
  bool open() const noexcept { return open_; }
  /// Returns true if the input is longer than `most`; its rest was dropped.
  bool too_long() const noexcept { return too_long_; }

 private:
  void append(std::string_view text);

  std::string text_;
  bool open_ = false, quoted_ = false, too_long_ = false;
};

}  // namespace mcpbx::cli::chat
