// Noise, floods, huge and odd answers: skipped, bounded or passed on, never believed (G9 to G12, G15).
#include "test/e2e/harness/harness.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace mcpbx::e2e;

TEST_CASE("G9: noise on stdout is skipped and counted, line ends and a byte order mark are taken as they come") {
  daemon_under_test d(config()
                          .server("banner", {"--behave", "banner-on-stdout"})
                          .server("noise", {"--behave", "nonjson-stdout"})
                          .server("crlf", {"--behave", "crlf-bom"}));
  d.wait_ready({"banner", "noise", "crlf"});
  caller c = d.session();
  for (const std::string name : {"banner", "noise", "crlf"})
    CHECK(c.call(name + "__echo", R"({"text":"heard"})").text() == "heard");
  CHECK(at(c.server("banner"), "noiseLines").to_number<int>() > 0);
  CHECK(at(c.server("noise"), "noiseLines").to_number<int>() > 0);
  CHECK(at(c.server("crlf"), "noiseLines") == json::value(0));
}

TEST_CASE("G9: a flood on stderr is drained into a ring, the log stays small and the call is answered") {
  daemon_under_test d(config().server("s").server("good"));
  d.wait_ready({"s", "good"});
  caller c = d.session(), neighbour = d.session();
  const growth g(d);
  const auto log_before = d.log().size();
  const auto id = c.start_call("s__flood-stderr");
  for (int i = 0; i < 10; ++i) CHECK(neighbour.call("good__echo", R"({"text":"calm"})").text() == "calm");
  CHECK_FALSE(c.wait(id).failed());
  CHECK(d.log().size() - log_before <= (1u << 20));
  CHECK(g.peak_mib() <= 8);
  CHECK(text_at(c.server("s"), "stderr").size() <= 4096);
}

TEST_CASE("G10: a million notifications cost constant memory and the neighbour works") {
  daemon_under_test d(config().server("s").server("good"));
  d.wait_ready({"s", "good"});
  caller c = d.session(), neighbour = d.session();
  const growth g(d);
  const auto id = c.start_call("s__flood-stdout");
  for (int i = 0; i < 50; ++i) CHECK(neighbour.call("good__echo", R"({"text":"calm"})").text() == "calm");
  CHECK(c.wait(id).text() == "flooded stdout");
  CHECK(g.peak_mib() <= 64);
}

TEST_CASE("G10: a storm of list_changed costs at most three refreshes, and its callers hear of each of them once") {
  daemon_under_test d(config().server("s", {"--log", "@DIR@/log"}));
  d.wait_ready({"s"});
  caller c = d.session();
  const auto lists = [&] { return count_of(read_file(d.file("log")), "request tools/list"); };
  const auto before = lists();
  CHECK(c.call("s__list-changed-storm").text() == "stormed");
  CHECK(eventually([&] { return lists() > before; }));
  CHECK(c.call("s__echo", R"({"text":"after"})").text() == "after");
  CHECK(lists() - before <= 3);
  CHECK(c.notifications.size() <= static_cast<std::size_t>(lists() - before));
}

TEST_CASE("G10: a flood of requests from a server is refused or limited, and its call is answered") {
  daemon_under_test d(config().server("s"));
  caller c = d.session();
  CHECK(c.call("s__server-request-flood").text() == "asked");
  const auto report = c.call("s__flood_report").get("result.structuredContent");
  CHECK(at(report, "answers").to_number<int>() <= 10'000);
  CHECK(at(report, "refusals").to_number<int>() <= at(report, "answers").to_number<int>());
}

TEST_CASE("G11: huge lines are refused early: an error at once, bounded memory that comes back") {
  daemon_under_test d(config().server("s").server("good"));
  d.wait_ready({"s", "good"});
  caller c = d.session(), neighbour = d.session();
  CHECK(c.call("s__big", R"({"n":1000000})").text().size() == 1'000'000);
  const growth g(d);
  for (const std::string call : {"huge-line", "huge-no-newline"}) {
    CAPTURE(call);
    const auto id = c.start_call("s__" + call, call == "huge-line" ? "{}" : R"({"n":134217728})");
    CHECK(neighbour.call("good__echo", R"({"text":"calm"})").text() == "calm");
    const auto r = c.wait(id);
    CHECK(r.failed());
    CHECK_MESSAGE(contains(r.message(), "33554432"), r.message());
    CHECK(g.peak_mib() <= 64);
  }
  CHECK(eventually([&] { return g.now_mib() <= 8; }));
  CHECK(neighbour.call("good__echo", R"({"text":"calm"})").text() == "calm");
}

TEST_CASE("G11: a lower line limit holds for servers too, and the server stays") {
  daemon_under_test d(
      config().server("s", {"--spawn-log", "@DIR@/spawns"}).top("limits", R"({"maxMessageBytes":100000})"));
  caller c = d.session();
  CHECK(c.call("s__big", R"({"n":99000})").text().size() == 99'000);
  for (int i = 0; i < 5; ++i) CHECK(c.call("s__big", R"({"n":100000})").failed());
  CHECK(c.call("s__echo", R"({"text":"still"})").text() == "still");
  CHECK(count_of(read_file(d.file("spawns")), "\n") == 1);
}

TEST_CASE("G12: no answer crashes the reader: depth, UTF-8, surrogates, duplicates, huge numbers") {
  daemon_under_test d(config().server("s", {"--spawn-log", "@DIR@/spawns"}));
  caller c = d.session();
  const auto ask = [&](std::string_view tool, std::string_view arguments = "{}") {
    c.start_call(tool, arguments);
    return c.line();
  };
  for (const std::size_t depth : {100u, 1'000u, 10'000u, 100'000u, 1'000'000u}) {
    CAPTURE(depth);
    const auto line = ask("s__deep-json", "{\"n\":" + std::to_string(depth) + "}");
    CHECK(contains(line.substr(0, 60), "\"error\"") == (depth > 256));
  }
  CHECK(contains(ask("s__invalid-utf8"), "\xEF\xBF\xBD"));
  CHECK(contains(ask("s__lone-surrogate"), R"("text":"a\ud800z")"));
  CHECK(contains(ask("s__huge-number"), R"({"big":123456789012345678901234567890,"huge":1e400,"one":1.0,"minus":-0})"));
  CHECK(contains(ask("s__dup-keys", R"({"kind":"inner"})"), R"("structuredContent":{"a":1,"a":2})"));
  CHECK(contains(ask("s__ansi-escape"), R"(\u001b[31mred)"));
  CHECK(contains(ask("s__echo", R"({"text":"whole"})"), R"("text":"whole")"));
  CHECK(count_of(read_file(d.file("spawns")), "\n") == 1);
}

TEST_CASE("G15: bad tool definitions are dropped one by one with a warning, the good ones stay") {
  daemon_under_test d(config().server("s", {"--behave", "list-bad-schemas"}));
  d.wait_ready({"s"});
  caller c = d.session();
  const auto names = c.tool_names();
  for (const std::string_view good : {"s__echo", "s__deep_but_good", "s__good_after_bad"})
    CHECK(std::ranges::count(names, good) == 1);
  for (const auto& name : names) CHECK_FALSE(name.starts_with("s__bad_"));
  CHECK(c.call("s__good_after_bad").text() == "good_after_bad");
  CHECK(d.logs("left out"));
  const auto listed = run_cli(d, {"tools", "--format", "anthropic"});
  CHECK(listed.status == 0);
  CHECK(contains(listed.err, "tool server \"s\": a tool definition is left out: tool \"bad_false_schema\": "));
  CHECK(count_of(listed.err, "a tool definition is left out: ") == 14);
  CHECK(contains(listed.out, "s__good_after_bad"));
}

TEST_CASE(
    "F8: tools without a schema are offered with an empty one and called with any object, callers see what the server "
    "says") {
  daemon_under_test d(config().server("s", {"--behave", "list-bad-schemas"}));
  d.wait_ready({"s"});
  caller c = d.session();
  for (const std::string name : {"no_schema_but_good", "null_schema_but_good", "true_schema_but_good"}) {
    CHECK(c.call("s__" + name, R"({"any":[1]})").text() == name);
    const auto shown = run_cli(d, {"tools", "s__" + name, "--format", "openai"}).out;
    CHECK(contains(shown, R"("parameters":{"type":"object","properties":{}})"));
  }
  CHECK(contains(run_cli(d, {"tools", "--format", "mcp"}).out,
                 R"({"name":"s__no_schema_but_good","description":"has no inputSchema"})"));
}

TEST_CASE("G15: endless pages stop, a list of the wrong shape is explained, others are served") {
  daemon_under_test d(config()
                          .server("endless", {"--behave", "list-endless-cursor"})
                          .server("same", {"--behave", "list-endless-cursor=same"})
                          .server("shape", {"--behave", "list-wrong-shape"})
                          .server("good"));
  caller c = d.session();
  CHECK(eventually([&] { return c.state("good") == "ready"; }));
  CHECK(c.call("good__echo", R"({"text":"served"})").text() == "served");
  CHECK(eventually([&] { return c.state("endless") == "ready" && c.state("same") == "ready"; }));
  CHECK(at(c.server("endless"), "tools") == json::value(1000));
  CHECK(at(c.server("same"), "tools").to_number<int>() <= 2);
  CHECK(c.call("endless__page_999").text() == "page_999");
  CHECK(eventually([&] { return !text_at(c.server("shape"), "lastError").empty(); }));
}
