// The table of HTTP routes.
#pragma once
#include "daemon/front/exchange/route.hpp"

#include <span>

namespace mcpbx::daemon::http_door {

std::span<const routes::route> http_routes();

}  // namespace mcpbx::daemon::http_door
