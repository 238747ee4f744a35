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
inline mcp::feature_item tool_of(const std::string& name, const std::string& description = "does it") {
  auto read =
      mcp::read_tool(raw_json::own("{\"name\":" + json_quoted(name) + ",\"description\":" + json_quoted(description) +
                                   R"(,"inputSchema":{"type":"object"}})"));
  REQUIRE(read);
  return std::move(*read);
}

inline mcp::feature_list list_of(std::vector<mcp::feature_item> tools) {
  return std::make_shared<const std::vector<mcp::feature_item>>(std::move(tools));
}

inline daemon::pinned_server server_of(const std::string& name, daemon::pin_mode mode,
                                       const std::string& command = "run-it") {
  return {name, mode, daemon::origin_text({command, {"--flag"}, ""})};
}

}  // namespace mcpbx::test
