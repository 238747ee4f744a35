// Small files of the state folder that only this program reads.
#pragma once
#include <string>
#include <string_view>

namespace mcpbx::cli::link {

/// Replaces the file as a whole, with mode 0600: a reader finds the old or the new text. Creates a missing folder with
/// mode 0700. Returns false if that failed; then the old text stays.
bool replace_private_file(const std::string& path, std::string_view text);

/// Keeps other processes of this user from changing the file meanwhile, by a lock on PATH.lock beside it, which stays.
/// Waits 1 s at most for others, one of which may be stopped (Ctrl-Z), and then does without: no command may hang for
/// such a file.
class private_lock {
 public:
  explicit private_lock(const std::string& path);
  ~private_lock();
  private_lock(const private_lock&) = delete;
  private_lock& operator=(const private_lock&) = delete;
  bool is_held() const noexcept { return held_; }

 private:
  int fd_ = -1;
  bool held_ = false;
};

}  // namespace mcpbx::cli::link
