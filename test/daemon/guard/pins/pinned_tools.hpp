// Lists of tools as servers give them, and servers as the pins know them.
#pragma once
#include "daemon/guard/pins/pin_worker.hpp"
#include "mcp/protocol/tools.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace mcpbx::test {

/// A definition of this name; `description` makes it another one.
inline mcp::protocol::feature_item tool_of(const std::string& name, const std::string& description = "does it") {
  auto read = mcp::protocol::read_tool(json::raw_json::own("{\"name\":" + json::json_quoted(name) +
                                                           ",\"description\":" + json::json_quoted(description) +
                                                           R"(,"inputSchema":{"type":"object"}})"));
  REQUIRE(read);
  return std::move(*read);
}

inline mcp::protocol::feature_list list_of(std::vector<mcp::protocol::feature_item> tools) {
  return std::make_shared<const std::vector<mcp::protocol::feature_item>>(std::move(tools));
}

inline daemon::pins::pinned_server server_of(const std::string& name, daemon::pins::pin_mode mode,
                                             const std::string& command = "run-it") {
  return {name, mode, daemon::pins::origin_text({command, {"--flag"}, ""})};
}

}  // namespace mcpbx::test
