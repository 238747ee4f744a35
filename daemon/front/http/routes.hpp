// The table of HTTP routes.
#pragma once
#include "daemon/front/exchange/route.hpp"

#include <span>

namespace mcpbx::daemon {

std::span<const route> http_routes();

}  // namespace mcpbx::daemon
