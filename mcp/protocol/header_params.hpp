// Members of params that Streamable HTTP repeats in headers (2026-07-28, "Standard Request Headers" and "Custom Headers
// from Tool Parameters"): the one of Mcp-Name, `x-mcp-header` in the schemas of tools, and the values out of the
// arguments of calls. Pure functions over raw JSON.
#pragma once
#include "mcp/json/raw_json.hpp"
#include "mcp/protocol/features.hpp"
#include "mcp/support/error.hpp"
#include "mcp/support/keyed_hash.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::mcp::protocol {

/// One argument that is repeated in a header.
struct header_param {
  std::vector<std::string> path;  ///< keys from the arguments down to the value
  std::string name;               ///< the value of `x-mcp-header`, without "Mcp-Param-"
};
using header_params = std::vector<header_param>;
using header_params_of_tools = text_map<header_params>;

/// Returns the member of a method's params that Mcp-Name repeats; "": the method has none.
std::string_view named_member(std::string_view method);

/// Reads the annotations of an inputSchema. An error is a clause that says which rule of the specification is broken.
result<header_params> read_header_params(const json::raw_json& input_schema);
/// Refuses a tool whose annotations break a rule, as a client over HTTP must.
result<void> check_header_params(const feature_item& tool);
/// Returns the tools that have annotations.
header_params_of_tools header_params_of(const std::vector<feature_item>& tools);

/// Returns the names and values for the headers of a call. A value that is absent, null, or no text, number or boolean
/// has none. Numbers stay as they are written.
std::vector<std::pair<std::string, std::string>> header_values(const header_params& params,
                                                               const json::raw_json& arguments);

/// Returns `value` in the form in which headers carry it: as it is, or =?base64?…?= if a header cannot hold it so.
std::string header_text(std::string_view value);

}  // namespace mcpbx::mcp::protocol
