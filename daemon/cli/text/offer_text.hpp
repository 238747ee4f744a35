// Text for prompts, resources and the content of both, as people read them.
#pragma once
#include "daemon/cli/terminal/fitted_table.hpp"
#include "mcp/json/raw_json.hpp"

#include <string>
#include <vector>

namespace mcpbx::cli::text {

/// Returns a content block as text: its own, or that of the resource in it, or a line that names anything else. Ends
/// with a line break unless it is empty.
std::string text_of_block(const json::raw_json& block);

/// Rows with a head, for output that is no terminal.
using plain_rows = std::vector<std::vector<std::string>>;

plain_rows prompt_rows(const std::vector<json::raw_json>& prompts);
plain_rows resource_rows(const std::vector<json::raw_json>& resources);
plain_rows template_rows(const std::vector<json::raw_json>& templates);

/// Returns such rows as a table for a terminal: the first column is never left out, and the last one, with the
/// descriptions, stands below the rows.
terminals::fitted_table offer_table(const plain_rows& rows);

/// Returns the result of prompts/get as people read it: the description, then each message behind its role.
std::vector<terminals::styled> prompt_lines(const json::raw_json& result);

}  // namespace mcpbx::cli::text
