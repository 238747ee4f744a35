// Paths in entries of other programs.
#pragma once
#include <string>
#include <string_view>

namespace mcpbx::conf::imports {

/// Returns a path of a project as an absolute one.
inline std::string below(const std::string& folder, std::string_view path) {
  while (path.starts_with("./")) path.remove_prefix(2);
  if (path == "." || path.empty()) return folder;
  return folder + "/" + std::string(path);
}

/// Returns true if a path needs a folder to be one: neither from the root nor from the home folder nor a reference.
inline bool is_relative(std::string_view path) {
  return !path.starts_with('/') && path != "~" && !path.starts_with("~/") && !path.starts_with("${");
}

}  // namespace mcpbx::conf::imports
