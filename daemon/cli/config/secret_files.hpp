// The files that secrets of entries are moved to: `secrets/SERVER.LABEL` in the folder of the configuration, mode 0600.
#pragma once
#include "mcp/support/error.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::cli::config {

/// One secret with the file that it is moved to.
struct moved_secret {
  std::string path;            ///< of its string in the entry: `env.GITHUB_TOKEN`
  std::filesystem::path file;  ///< chosen so that no other secret is overwritten
  std::string value;           ///< never printed
  bool is_there = false;       ///< the file exists and holds this value
};

/// An entry with its secrets replaced by references to those files.
struct moved_entry {
  std::string entry;
  std::vector<moved_secret> secrets;
};

/// Plans the move for the entry of the server `name`. `folder` is that of the configuration, `home` is written as `~`.
/// `taken` are files that other entries of this change use; the new ones are added. Reads the folder, writes nothing.
moved_entry plan_secrets(std::string_view name, std::string_view entry, const std::filesystem::path& folder,
                         const std::filesystem::path& home, std::vector<std::filesystem::path>& taken);

/// Writes the files that are not there yet. On errc::io those that it wrote are removed again.
result<void> write_secrets(const std::vector<moved_secret>& secrets);
/// Removes the files that write_secrets() wrote, after an entry that refers to them could not be written.
void take_back_secrets(const std::vector<moved_secret>& secrets);

}  // namespace mcpbx::cli::config
