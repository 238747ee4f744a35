// The latest conversation of each terminal and folder, in a file of the state folder, for `ask -c`.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::cli::link {

/// Returns the names of the places that this process is at: its terminal, if there is one, and its working directory.
/// The terminal's name is of use as long as its session of processes lives.
std::vector<std::string> own_places();

/// File with a line `SESSION PLACE` for each place, the latest first, 256 at most. Failures to read or write it are
/// ignored: only `-c` needs it.
class last_sessions {
 public:
  /// `path` may be "": nothing is kept.
  explicit last_sessions(std::string path) : path_(std::move(path)) {}
  /// Returns the file in the state folder of this user.
  static last_sessions of_user();

  /// Returns the sessions of these places in their order, each once.
  std::vector<std::string> of(const std::vector<std::string>& places) const;
  /// Notes that `session` was used last at these places. Two commands at the same moment may lose one note.
  void note(std::string_view session, const std::vector<std::string>& places) const;

 private:
  std::string path_;
};

}  // namespace mcpbx::cli::link
