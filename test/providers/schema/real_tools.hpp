// The tool definitions of real servers (test/data/tools).
#pragma once
#include "mcp/json/raw_json.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>

namespace mcpbx::test {

/// Calls f(definition) for each, with the server's file and the tool's name in what a failing check says.
template <class F>
void for_each_real_tool(F f) {
  std::size_t tools = 0;
  for (const auto& file : std::filesystem::directory_iterator(std::string(MCPBX_SOURCE_DIR) + "/test/data/tools")) {
    if (file.path().extension() != ".jsonl") continue;
    std::ifstream in(file.path());
    for (std::string line; std::getline(in, line); ++tools) {
      const auto definition = json::raw_json::parse(line).value();
      const auto name = json::member_text(definition, "name");
      CAPTURE(file.path().string());
      CAPTURE(name);
      f(definition);
    }
  }
  CHECK(tools >= 280);
}

}  // namespace mcpbx::test
