// Tests of the parts of a call that an approval is bound to.
#include "daemon/guard/approval_seal.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>

using namespace mcpbx;
using namespace mcpbx::daemon::guard;
using namespace mcpbx::json;

namespace {

mcp::catalogs::catalog_entry entry_of(const std::string& server, const std::string& origin, const std::string& tool,
                                      std::string definition) {
  mcp::catalogs::catalog_entry e;
  e.name = "shown";
  e.server = server;
  e.tool = tool;
  e.origin = std::make_shared<std::string>(origin);
  e.definition = raw_json::own(std::move(definition));
  return e;
}

}  // namespace

TEST_CASE("G39: a seal covers server, origin, tool, definition and the bytes of the arguments, and nothing else") {
  const auto usual = entry_of("s", "o", "t", R"({"name":"t"})");
  const auto seal = seal_of(usual, raw_json::literal("{}"));
  CHECK(seal.tool.size() == 64);
  CHECK(seal.arguments == "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a");
  for (const auto& other :
       {entry_of("S", "o", "t", R"({"name":"t"})"), entry_of("s", "O", "t", R"({"name":"t"})"),
        entry_of("s", "o", "T", R"({"name":"t"})"), entry_of("s", "o", "t", R"({"name": "t"})"),
        entry_of("s\",\"o", "", "t", R"({"name":"t"})"), entry_of("so", "", "t", R"({"name":"t"})")}) {
    CHECK(seal_of(other, raw_json::literal("{}")).tool != seal.tool);
    CHECK(seal_of(other, raw_json::literal("{}")).arguments == seal.arguments);
    CHECK_FALSE(same_tool(usual, other));
  }
  CHECK(seal_of(usual, raw_json::literal("{ }")).arguments != seal.arguments);
  auto renamed = usual;
  renamed.name = "of a profile";
  renamed.hash = 1;
  CHECK(seal_of(renamed, raw_json::literal("{}")).tool == seal.tool);
  CHECK(same_tool(usual, renamed));
  auto nowhere = usual;
  nowhere.origin.reset();
  CHECK(seal_of(nowhere, {}).tool != seal.tool);
  CHECK_FALSE(same_tool(usual, nowhere));
}
