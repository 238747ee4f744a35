// Capabilities of all servers together, and the extensions among them: who is told, and where their methods lead.
#include "mcp/client/catalog/catalog_offers.hpp"

#include "mcp/client/catalog/catalog_builder.hpp"
#include "mcp/client/views/narrowed.hpp"
#include "mcp/protocol/tools.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::mcp::catalogs;
using namespace mcpbx::mcp::protocol;
using namespace mcpbx::mcp::views;

namespace {

catalog_server ruled(std::string name) {
  return {.name = std::move(name), .tools = {}, .owner = {}};
}
/// A server that no rule is about.
catalog_server unruled(std::string name) {
  catalog_server s = ruled(std::move(name));
  s.extensions.open = true;
  return s;
}

}  // namespace

TEST_CASE("capabilities are the union of what servers have told") {
  catalog_builder b({unruled("a"), unruled("b"), ruled("c")});
  const auto tell = [&](std::size_t i, const char* capabilities) {
    b.set_offers(i, read_server_offers(raw_json::literal(capabilities)));
  };
  const auto before = b.build();
  CHECK(before->capabilities().tools);
  CHECK(before->capabilities().prompts);  // they may come
  CHECK(before->capabilities().resources);
  CHECK(before->capabilities().completions);
  CHECK(before->capabilities().subscribe);
  CHECK(before->capabilities().logging);
  CHECK(before->capabilities().tasks.text() == R"({"list":{},"cancel":{},"requests":{"tools":{"call":{}}}})");
  CHECK(before->capabilities().extensions.text() ==
        R"({"io.modelcontextprotocol/ui":{},"io.modelcontextprotocol/tasks":{}})");
  tell(0, R"({"tools":{},"extensions":{"x":{},"io.modelcontextprotocol/ui":{"v":1}},"experimental":{"e":{}}})");
  tell(1, R"({"resources":{"subscribe":true},"logging":{},"extensions":{"io.modelcontextprotocol/ui":{"v":2},"z":{}},)"
          R"("tasks":{"list":{}}})");
  CHECK(b.build()->capabilities().prompts);
  CHECK(b.build()->capabilities().tasks.text() == R"({"list":{}})");
  CHECK(b.build()->capabilities().extensions.text() ==
        R"({"x":{},"io.modelcontextprotocol/ui":{"v":1},"z":{},"io.modelcontextprotocol/tasks":{}})");
  b.set_silent(2, true);
  const auto c = b.build();
  CHECK(c != before);
  const catalog_offers& all = c->capabilities();
  CHECK(all.tools);
  CHECK_FALSE(all.prompts);
  CHECK(all.resources);
  CHECK(all.subscribe);
  CHECK(all.logging);
  CHECK_FALSE(all.completions);
  CHECK(all.extensions.text() == R"({"x":{},"io.modelcontextprotocol/ui":{"v":1},"z":{}})");
  CHECK(all.experimental.text() == R"({"e":{}})");
  CHECK(all.tasks.text() == R"({"list":{}})");
  CHECK(b.build() == c);
  // A server that has told and then fails still counts, since its lists stay.
  tell(2, R"({"prompts":{}})");
  CHECK(b.build()->capabilities().prompts);
}

TEST_CASE("extensions of more than 16 KiB of one server and 64 KiB of all do not reach callers") {
  const std::string large(17'000, 'x'), fair(15'000, 'x');
  for (const std::string member : {"extensions", "experimental"}) {
    CAPTURE(member);
    catalog_builder b({unruled("a"), unruled("b"), unruled("c"), unruled("d"), unruled("e"), unruled("f")});
    const auto tell = [&](std::size_t i, const std::string& name, const std::string& value) {
      b.set_offers(i, read_server_offers(raw_json::own("{\"" + member + "\":{\"" + name + R"(":{"x":")" + value +
                                                       R"("}},"prompts":{}})")));
      const auto offers = b.build()->capabilities();
      return member == "extensions" ? offers.extensions : offers.experimental;
    };
    const auto has = [](const raw_json& told, std::string_view name) { return !find_member(told, name).empty(); };
    CHECK_FALSE(has(tell(0, "n0", large), "n0"));
    CHECK(b.build()->capabilities().prompts);
    CHECK_FALSE(has(tell(0, std::string(257, 'n'), ""), std::string(257, 'n')));
    for (std::size_t i = 1; i < 5; ++i) CHECK(has(tell(i, "n" + std::to_string(i), fair), "n" + std::to_string(i)));
    CHECK_FALSE(has(tell(5, "n5", fair), "n5"));
    CHECK(has(tell(5, "n5", "small"), "n5"));
  }
}

TEST_CASE("the catalog of a profile has no methods of extensions, and no extensions that need them") {
  auto with = unruled("a");
  with.extensions.named["com.example/find"] = {"find/*"};
  with.extensions.named["com.example/data"] = {};
  catalog_builder b({with});
  const auto all = b.build();
  REQUIRE(all->rest().extensions);
  CHECK(all->rest().extensions->front().server == "a");
  CHECK(b.build() == all);
  CHECK_FALSE(narrowed(all->rest(), {}, {}).extensions);

  // Its callers hear of the extensions that work without methods, as far as anybody says so.
  b.set_offers(0, read_server_offers(raw_json::literal(
                      R"({"extensions":{"com.example/find":{},"com.example/data":{"v" : 1},"com.example/open":{},)"
                      R"("io.modelcontextprotocol/ui":{}},"experimental":{"com.example/find":{}}})")));
  const auto told = b.build()->rest();
  CHECK(
      told.offers.extensions.text() ==
      R"({"com.example/find":{},"com.example/data":{"v" : 1},"com.example/open":{},"io.modelcontextprotocol/ui":{}})");
  CHECK(told.extensions->front().open == std::vector<std::string>{"com.example/open"});
  CHECK(narrowed(told, {}, {}).offers.extensions.text() ==
        R"({"com.example/data":{"v" : 1},"io.modelcontextprotocol/ui":{}})");
  CHECK(narrowed(told, {}, {}).offers.experimental.empty());
  b.set_servers({ruled("a")});
  CHECK_FALSE(b.build()->rest().extensions);
}

TEST_CASE("extensions of a server with rules about its tools are told if its entry names them or they are carried") {
  auto gated = ruled("a");
  gated.extensions.named["com.example/data"] = {};
  gated.extensions.named["com.example/find"] = {"find/*"};
  catalog_builder b({gated, unruled("b")});
  const auto listing = read_server_offers(
      raw_json::literal(R"({"extensions":{"com.example/data":{},"com.example/find":{},"com.example/other":{},)"
                        R"("io.modelcontextprotocol/ui":{}},"experimental":{"x":{}}})"));
  b.set_offers(0, listing);
  b.set_offers(1, read_server_offers(raw_json::literal("{}")));
  CHECK(b.build()->capabilities().extensions.text() ==
        R"({"com.example/data":{},"com.example/find":{},"io.modelcontextprotocol/ui":{}})");
  CHECK(b.build()->capabilities().experimental.empty());
  CHECK(b.build()->capabilities().unnamed);
  CHECK(b.build()->rest().extensions->at(0).open.empty());
  // The same list of a server without rules is told, and so it is when the rules go.
  b.set_offers(1, listing);
  CHECK(b.build()->capabilities().experimental.text() == R"({"x":{}})");
  auto free = gated;
  free.extensions.open = true;
  const auto before = b.build();
  b.set_servers({free});
  const auto after = b.build();
  CHECK(after->differs(tool_kind(), *before));
  CHECK_FALSE(after->capabilities().unnamed);
  CHECK(after->rest().extensions->at(0).open == std::vector<std::string>{"com.example/other", "x"});
  // One that belongs to another server is not told as this one's, and needs methods there.
  free.extensions.named.erase("com.example/data");
  free.extensions.named["com.example/other"] = {};
  free.extensions.elsewhere = {"com.example/data", "com.example/other"};
  b.set_servers({free});
  CHECK(b.build()->capabilities().extensions.text() ==
        R"({"com.example/find":{},"com.example/other":{},"io.modelcontextprotocol/ui":{}})");
  CHECK(b.build()->capabilities().bare_extensions.text() == R"({"io.modelcontextprotocol/ui":{}})");
}
