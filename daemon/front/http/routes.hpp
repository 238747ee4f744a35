// The table of HTTP routes.
#pragma once
#include "daemon/front/base/route.hpp"

#include <span>

namespace mcpbx::daemon {

std::span<const route> http_routes();

}  // namespace mcpbx::daemon
