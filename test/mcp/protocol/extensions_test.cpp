// Extensions in capabilities, and which methods they may bring.
#include "mcp/protocol/extensions.hpp"

#include "mcp/protocol/server_offers.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::mcp::protocol;

TEST_CASE("M4: no pattern lets a method pass that MCP or mcpbx keeps for itself") {
  const extension_methods all{{"a", {"*"}}, {"b", {"find/*"}}};
  using names = std::vector<std::string>;
  CHECK(extensions_with(all, "find/text") == names{"a", "b"});
  CHECK(extensions_with(all, "com.example/do") == names{"a"});
  CHECK(extensions_with(all, "notifications/find/hit") == names{"a"});
  CHECK(extensions_with(all, "notifications/found") == names{"a"});
  for (const char* own : {"tools/call",
                          "tools/other",
                          "prompts/x",
                          "resources/read",
                          "sampling/createMessage",
                          "elicitation/create",
                          "roots/list",
                          "tasks/get",
                          "logging/setLevel",
                          "completion/complete",
                          "server/discover",
                          "ping",
                          "initialize",
                          "subscriptions/listen",
                          "mcpbx/chat",
                          "anything",
                          "",
                          "/x",
                          "notifications/",
                          "notifications/cancelled",
                          "notifications/progress",
                          "notifications/message",
                          "notifications/initialized",
                          "notifications/tools/list_changed",
                          "notifications/resources/updated",
                          "notifications/notifications/x"})
    CHECK_MESSAGE(extensions_with(all, own).empty(), own);
  CHECK(extensions_with({}, "find/text").empty());
}

TEST_CASE("M4: at most 64 extensions of one server are open, and never those that are carried or named") {
  using names = std::vector<std::string>;
  const auto offers = [](const std::string& listed) {
    return read_server_offers(raw_json::own(R"({"extensions":{)" + listed + R"(},"experimental":{"x":{},"y":true}})"));
  };
  extension_rules rules{.named = {{"named", {"n/*"}}, {"bare", {}}}, .open = true, .elsewhere = {"theirs"}};
  const auto few = offers(R"("b":{},"":{},"a":{},"named":{},"bare":{},"theirs":{},"io.modelcontextprotocol/ui":{},)"
                          R"("io.modelcontextprotocol/tasks":{},"\u0063":{},")" +
                          std::string(256, 'l') + R"(":{},")" + std::string(257, 'l') + R"(":{})");
  CHECK(open_extensions(rules, few) == names{"a", "b", "c", std::string(256, 'l'), "x"});
  for (const int many : {65, 1'500, 10'000}) {
    std::string listed;
    for (int i = 0; i < many; ++i) listed += (i ? ",\"e" : "\"e") + std::to_string(i) + "\":{}";
    CHECK(open_extensions(rules, offers(listed)).size() == (many == 10'000 ? 1 : most_open_extensions));
  }
  rules.open = false;
  CHECK(open_extensions(rules, few).empty());
}

TEST_CASE("M4: an open extension may bring any method that MCP does not have") {
  using names = std::vector<std::string>;
  const extension_methods named{{"b", {"find/*"}}};
  const names open{"a", "c"};
  CHECK(extensions_with(named, open, "find/text") == names{"a", "b", "c"});
  CHECK(extensions_with(named, open, "notifications/other") == open);
  CHECK(extensions_with(named, {}, "notifications/other").empty());
  for (const char* own : {"tools/call", "mcpbx/chat", "initialize", "notifications/cancelled", "tasks/x"})
    CHECK_MESSAGE(extensions_with(named, open, own).empty(), own);
  const auto caller = raw_json::literal(R"({"extensions":{"z":{},"c":{},"a":true},"experimental":{"a":{}}})");
  CHECK(first_listed(caller, open) == "c");
  CHECK(first_listed(caller, {"a"}) == "a");
  CHECK(first_listed(caller, {"b"}).empty());
  CHECK(first_listed(caller, {}).empty());
  CHECK(first_listed({}, open).empty());
}

TEST_CASE("M4: two ends share an extension if both list it as an object in the same member") {
  const auto share = [](const char* caller, const char* server) {
    return share_extension(raw_json::own(caller), read_server_offers(raw_json::own(server)));
  };
  CHECK(share(R"({"extensions":{"x":{}}})", R"({"extensions":{"y":{},"x":{"a":1}}})"));
  CHECK(share(R"({"experimental":{"x":{}}})", R"({"experimental":{"x":{}}})"));
  CHECK_FALSE(share(R"({"experimental":{"x":{}}})", R"({"extensions":{"x":{}}})"));
  CHECK_FALSE(share(R"({"extensions":{"x":true}})", R"({"extensions":{"x":{}}})"));
  CHECK_FALSE(share(R"({"extensions":{"x":{}}})", R"({"extensions":{"x":null}})"));
  CHECK_FALSE(share("{}", R"({"extensions":{"x":{}}})"));
  CHECK_FALSE(share(R"({"extensions":{"io.modelcontextprotocol/tasks":{}}})",
                    R"({"extensions":{"io.modelcontextprotocol/tasks":{}}})"));
}

TEST_CASE("M4: capabilities of a caller beyond 64 KiB list no extension, so that a look at them costs little") {
  const auto listing = [](std::size_t size) {
    const std::string head = R"({"x":")", tail = R"(","extensions":{"a":{}}})";
    return raw_json::own(head + std::string(size - head.size() - tail.size(), 'x') + tail);
  };
  const auto offers = read_server_offers(raw_json::own(R"({"extensions":{"a":{}}})"));
  for (const std::size_t size : {(std::size_t{64} << 10) - 1, std::size_t{64} << 10, (std::size_t{64} << 10) + 1}) {
    const bool counts = size <= std::size_t{64} << 10;
    const auto caller = listing(size);
    REQUIRE(caller.text().size() == size);
    CHECK(lists_extension(caller, "a") == counts);
    CHECK(lists_one_of(caller, {"a", "b"}) == counts);
    CHECK(share_extension(caller, offers) == counts);
  }
}

TEST_CASE("M4: extensions of a server beyond 16 KiB count as none") {
  for (const std::string member : {"extensions", "experimental"})
    for (const std::size_t more : {0, 1}) {
      const std::size_t size = (std::size_t{16} << 10) + more;
      const std::string head = R"({"a":{"x":")", tail = R"("}})";
      const auto offers = read_server_offers(raw_json::own(
          "{\"" + member + "\":" + head + std::string(size - head.size() - tail.size(), 'x') + tail + "}"));
      CHECK(lists_extension(offers, "a") == (more == 0));
    }
}
