// The inputs of earlier conversations, for the line editor: which are kept, and their file in the state directory.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::cli::chat {

/// Returns true if the history may keep an input: not one that begins with a blank, looks as if it held a secret, is
/// blank, or has more than `most_entry` bytes.
bool may_be_kept(std::string_view input);

/// File with one JSON string a line, the oldest first. Failures to read or write it are ignored: only the arrow keys
/// need it.
class line_history {
 public:
  static constexpr std::size_t most_entries = 1'000, most_bytes = 512u << 10, most_entry = 16u << 10;

  /// `path` may be "": nothing is kept.
  explicit line_history(std::string path) : path_(std::move(path)) {}
  /// Returns the file in the state folder of this user.
  static line_history of_user();

  /// Returns the kept inputs, the oldest first.
  std::vector<std::string> read() const;
  /// Adds an input that may be kept, drops the oldest beyond the bounds, and replaces the file as a whole, with mode
  /// 0600. Reads it again first, under a lock, because other conversations add to it, too.
  void add(std::string_view input) const;

 private:
  std::string path_;
};

}  // namespace mcpbx::cli::chat
