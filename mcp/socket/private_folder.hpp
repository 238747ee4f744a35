// The folder of a daemon that belongs to one command, with its socket, lock and log. The maker removes it; if the maker
// is killed the daemon does, and if both are, the next maker of such a folder.
#pragma once
#include "mcp/process/unique_fd.hpp"
#include "mcp/support/error.hpp"

#include <string>
#include <utility>

namespace mcpbx::mcp::socket {

/// A private folder, locked during the life of the object. The destructor removes it.
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
  private_folder(std::string path, process::unique_fd lock) : path_(std::move(path)), lock_(std::move(lock)) {}
  std::string path_;
  process::unique_fd lock_;
};

/// Removes the files of such a folder, and the folder unless it contains something else. Touches nothing else, whatever
/// `path` names.
void remove_private_folder(const std::string& path);

/// Removes private folders in `parent` that belong to this user and are locked neither by their maker nor by a daemon.
void sweep_private_folders(const std::string& parent);

}  // namespace mcpbx::mcp::socket
