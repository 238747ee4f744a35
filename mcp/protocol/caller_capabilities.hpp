// Capabilities that a caller declares in `initialize`, and the check of a request of ours against them (2025-11-25,
// client features: roots, sampling, elicitation).
#pragma once
#include "mcp/json/raw_json.hpp"
#include "mcp/support/error.hpp"

#include <string_view>

namespace mcpbx::mcp::protocol {

struct caller_capabilities {
  bool roots = false;
  bool sampling = false;
  bool sampling_tools = false;  ///< sampling with tools and toolChoice
  bool elicitation_form = false;
  bool elicitation_url = false;
};

/// Reads ClientCapabilities. A member that is no object declares nothing; `"elicitation": {}` means forms, as it did
/// before there were modes.
caller_capabilities read_caller_capabilities(const json::raw_json& capabilities);

/// Says why the caller cannot answer this request, as errc::not_found with a sentence that names the capability. `ping`
/// needs none; a method that no caller has is refused.
result<void> check_answerable(const caller_capabilities& c, std::string_view method, const json::raw_json& params);

}  // namespace mcpbx::mcp::protocol
