// JSON of a test.
#pragma once
#include "mcp/json/raw_json.hpp"

#include <string_view>

namespace mcpbx::test {

inline json::raw_json parsed(std::string_view text) {
  return json::raw_json::parse(text).value();
}

}  // namespace mcpbx::test
