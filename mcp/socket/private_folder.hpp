// The folder of a daemon that belongs to one command: its socket, the lock beside it, its log. Whoever made it removes
// it; when that one is killed the daemon does, and when both are, the next one who makes such a folder.
#pragma once
#include "mcp/process/unique_fd.hpp"
#include "mcp/support/error.hpp"

#include <string>
#include <utility>

namespace mcpbx::mcp {

/// Held by a lock for the life of the object, which removes it at its end.
class private_folder {
 public:
  /// Sweeps `parent`, then makes a folder of mode 0700 there.
  static result<private_folder> make(const std::string& parent);

  private_folder() = default;
  private_folder(private_folder&& other) noexcept
      : path_(std::exchange(other.path_, {})), lock_(std::move(other.lock_)) {}
  private_folder& operator=(private_folder&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(lock_, other.lock_);
    return *this;
  }
  ~private_folder();

  const std::string& path() const noexcept { return path_; }
  std::string socket() const;
  std::string log() const;

 private:
  private_folder(std::string path, unique_fd lock) : path_(std::move(path)), lock_(std::move(lock)) {}
  std::string path_;
  unique_fd lock_;
};

/// Removes what such a folder holds, and the folder unless there is something else in it. Nothing else is touched,
/// whatever `path` names.
void remove_private_folder(const std::string& path);

/// Removes the private folders in `parent` that belong to this user and are held neither by the one who made them nor
/// by a daemon.
void sweep_private_folders(const std::string& parent);

}  // namespace mcpbx::mcp
