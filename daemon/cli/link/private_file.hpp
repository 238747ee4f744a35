// Small files of the state folder that only this program reads.
#pragma once
#include <string>
#include <string_view>

namespace mcpbx::cli {

/// Replaces the file as a whole, with mode 0600: a reader finds the old or the new text. Creates a missing folder with
/// mode 0700. Returns false if that failed; then the old text stays.
bool replace_private_file(const std::string& path, std::string_view text);

}  // namespace mcpbx::cli
