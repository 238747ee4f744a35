// Lists of texts in answers of the daemon.
#pragma once
#include "mcp/json/raw_json.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::cli::link {

/// Returns the texts of an array member, "" for each other value; nothing without it.
std::vector<std::string> texts_of(const json::raw_json& object, std::string_view key);
/// Returns the words with commas between them.
std::string listed(const std::vector<std::string>& words);

}  // namespace mcpbx::cli::link
