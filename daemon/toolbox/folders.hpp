// The folders that the user gave, and the only access to them: each path is resolved below one of them, through no
// symbolic link, so that a model can open nothing else.
#pragma once
#include "mcp/support/error.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::toolbox {

/// An owned file descriptor.
class descriptor {
 public:
  descriptor() = default;
  explicit descriptor(int fd) noexcept : fd_(fd) {}
  descriptor(descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  descriptor& operator=(descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~descriptor();
  int get() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }
  /// Releases ownership to the caller.
  int release() noexcept { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

/// Ways to open a path below a folder: by openat2, or step by step if the kernel lacks it (before 5.6) or a sandbox
/// refuses it. Both refuse the same paths.
enum class open_way { best, stepwise };

/// Opens `relative` ("" or "." for the folder itself; no leading slash) below `folder` with open(2) `flags`. Returns
/// the descriptor or -errno: -ELOOP for a symbolic link anywhere on the way, -EXDEV for a way out.
int open_beneath(int folder, const std::string& relative, int flags, open_way way = open_way::best);

/// A folder that the user gave.
struct folder {
  std::string given;  ///< the path as written, made absolute
  std::string path;   ///< the real path, shown in answers; "" for the root of the file system
  descriptor fd;      ///< O_PATH
};

class folders {
 public:
  folders() = default;
  /// Opens all folders; links in these paths are the user's choice and followed. errc::invalid_argument names a path
  /// that is no folder.
  static result<folders> open(const std::vector<std::string>& paths);

  bool empty() const noexcept { return list_.empty(); }
  const std::vector<folder>& list() const noexcept { return list_; }

  /// An opened file or folder below one of the folders.
  struct place {
    const folder* root = nullptr;
    std::string relative;  ///< "" for the folder itself
    descriptor fd;
    /// Returns the absolute path for answers.
    std::string shown() const {
      if (!relative.empty()) return root->path + "/" + relative;
      return root->path.empty() ? "/" : root->path;
    }
  };
  /// Opens `path`: absolute and below one of the folders, or relative to the first folder that has it. `flags` as for
  /// open(2). Errors are sentences for a model.
  result<place> open_path(std::string_view path, int flags) const;

  /// Returns "/a" or "/a, /b", for errors and descriptions.
  std::string names() const;

 private:
  std::vector<folder> list_;
};

}  // namespace mcpbx::toolbox
