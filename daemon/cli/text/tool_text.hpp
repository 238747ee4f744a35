// Formats tool definitions for a person.
#pragma once
#include "daemon/cli/terminal/fitted_table.hpp"
#include "mcp/json/raw_json.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::cli::text {

/// Returns the first line of a tool's description.
std::string summary_of(const json::raw_json& definition);

/// Returns lines for a terminal of `width` columns: each tool with the beginning of its description, which stands below
/// a long name.
std::vector<terminals::styled> tool_lines(const json::raw_json& list, std::size_t width, std::string_view mark = "…");

/// Returns name, server (if not ""), title, description and annotations of a tool: a row for each that it has.
terminals::fitted_table tool_facts(const json::raw_json& definition, const std::string& server);

/// Returns a row for each argument: name, type, whether it is required, description with choices, default and bounds.
/// Members of objects follow their object as `object.member`, three levels deep.
terminals::fitted_table argument_table(const json::raw_json& schema);

}  // namespace mcpbx::cli::text
