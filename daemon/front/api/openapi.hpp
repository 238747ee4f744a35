// The description of all paths over HTTP, as OpenAPI 3.1.
#pragma once
#include <string>
#include <string_view>

namespace mcpbx::daemon::api_door {

/// Returns the description, with the version of mcpbx.
std::string api_description(std::string_view version);

}  // namespace mcpbx::daemon::api_door
