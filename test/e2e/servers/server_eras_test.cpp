// Callers of the handshake era with tool servers of every era and revision.
#include "test/e2e/harness/harness.hpp"

#include <doctest/doctest.h>

using namespace mcpbx::e2e;

TEST_CASE("M2: a caller gets the revision it asks for, or the latest of its era") {
  daemon_under_test d(config().server("s"));
  for (const std::string_view revision : {"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"}) {
    caller c = d.connect();
    const auto r = c.initialize(revision);
    CHECK(text_at(r.value, "result.protocolVersion") == revision);
    CHECK(text_at(r.value, "result.serverInfo.name") == "mcpbx");
    CHECK(r.get("result.capabilities.tools.listChanged") == json::value(true));
  }
  caller c = d.connect();
  CHECK(text_at(c.initialize("2099-01-01").value, "result.protocolVersion") == "2025-11-25");
  CHECK(c.request("initialize", R"({"protocolVersion":"2025-11-25","capabilities":{}})").code() == -32600);
}

TEST_CASE("M2: a tool server of every era and revision is opened, listed and called") {
  config c;
  for (const std::string revision : {"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"})
    c.server("r" + revision, {"--revision", revision});
  c.server("modern", {"--era", "modern"}).server("both", {"--era", "both"});
  // It never answers the probe, which costs a third of the start time-out.
  c.server("silent", {"--era", "silent"}, R"("startTimeoutMs":3000)");
  c.server("pinned", {"--log", "@DIR@/pinned.log"}, R"("protocol":"2025-06-18")");
  daemon_under_test d(c);
  d.wait_ready({"r2024-11-05", "r2025-03-26", "r2025-06-18", "r2025-11-25", "modern", "both", "silent", "pinned"});
  caller s = d.session();
  for (const std::string name : {"r2024-11-05", "r2025-03-26", "r2025-06-18", "r2025-11-25"})
    CHECK(text_at(s.server(name), "revision") == name.substr(1));
  CHECK(text_at(s.server("pinned"), "revision") == "2025-06-18");
  CHECK(read_file(d.file("pinned.log")).find("server/discover") == std::string::npos);
  for (const std::string name : {"modern", "both"}) {
    CHECK(text_at(s.server(name), "revision") == "2026-07-28");
    CHECK(text_at(s.server(name), "era") == "modern");
  }
  for (const std::string name : {"r2024-11-05", "modern", "both", "silent", "pinned"})
    CHECK(s.call(name + "__echo", R"({"text":"hello"})").text() == "hello");
}

TEST_CASE("M6: what only the new era knows is dropped from results and lists") {
  daemon_under_test d(config().server("m", {"--era", "modern"}));
  caller c = d.session();
  const auto echo = c.call("m__echo", R"({"text":"hello"})");
  for (const std::string_view key : {"resultType", "ttlMs", "cacheScope"})
    CHECK(echo.line.find(key) == std::string::npos);
  CHECK(echo.text() == "hello");
  const auto list = c.request("tools/list");
  for (const std::string_view key : {"resultType", "ttlMs", "cacheScope"})
    CHECK(list.line.find(key) == std::string::npos);
  // The rest of the result is the server's own, byte for byte.
  const auto raw = c.call("m__raw", R"({"n":1e400,"m":1.0})");
  CHECK(raw.line.find(R"("structuredContent":{"n":1e400,"m":1.0})") != std::string::npos);
  CHECK(c.call("m__error", R"({"code":-32050})").code() == -32050);
}

TEST_CASE("M5 M6: progress, cancellation and list changes work with a server of the new era") {
  daemon_under_test d(config().server("m", {"--era", "modern", "--offer", "prompts", "--log", "@DIR@/log"}));
  d.wait_ready({"m"});
  caller c = d.session();
  c.send(R"({"jsonrpc":"2.0","id":900,"method":"tools/call","params":{"name":"m__progress","arguments":{"n":2},)"
         R"("_meta":{"progressToken":3}}})");
  CHECK(at(parse(c.line()), "params.progressToken") == json::value(3));
  CHECK(at(parse(c.line()), "params.progress") == json::value(2));
  CHECK(text_at(parse(c.line()), "result.content.0.text") == "2 steps");
  c.cancel(c.start_call("m__cancel-ack"));
  CHECK(eventually([&] { return read_file(d.file("log")).find("\ncancel-ack ") != std::string::npos; }));
  c.call("m__change_tools");
  c.wait_notification("notifications/tools/list_changed");
  c.call("m__change_prompts");
  c.wait_notification("notifications/prompts/list_changed");
  CHECK(contains(c.request("prompts/list").line, R"("name":"m__added_1")"));
}

TEST_CASE("M6: a question of a tool server to a caller that cannot answer is declined in both eras") {
  daemon_under_test d(config().server("m", {"--era", "modern"}).server("l"));
  caller c = d.session();
  for (const auto* tool : {"m__ask_user", "l__ask_user"}) {
    const auto asked = c.call(tool);
    CHECK_FALSE(asked.failed());
    CHECK_MESSAGE(contains(asked.text(), "decline"), asked.text());
  }
}

TEST_CASE("M2: a server without a common revision is explained") {
  daemon_under_test d(
      config().server("old", {"--revision", "2023-01-01"}).server("odd", {"--behave", "discover-error=-32022"}));
  caller c = d.session();
  CHECK(eventually([&] { return c.state("old") == "failed"; }));
  CHECK(text_at(c.server("old"), "lastError").find("2023-01-01") != std::string::npos);
  // An error that is no proof of the new era leads to the handshake.
  CHECK(eventually([&] { return c.state("odd") == "ready"; }));
}

TEST_CASE("M6: batches are answered as one array in the one revision that has them") {
  daemon_under_test d(config().server("s"));
  caller c = d.connect();
  c.initialize("2025-03-26");
  c.send(R"([{"jsonrpc":"2.0","id":"a","method":"ping"},{"jsonrpc":"2.0","method":"notifications/x"},5,)"
         R"({"jsonrpc":"2.0","id":"b","method":"tools/call","params":{"name":"s__echo","arguments":{"text":"t"}}}])");
  const auto answers = parse(c.line());
  REQUIRE(answers.is_array());
  CHECK(answers.as_array().size() == 3);
  caller other = d.session();
  other.send(R"([{"jsonrpc":"2.0","id":1,"method":"ping"}])");
  CHECK(at(parse(other.line()), "error.code") == json::value(-32600));
}
