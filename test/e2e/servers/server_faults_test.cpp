// Tool servers that hang or answer wrongly: every call ends, neighbours notice nothing, the status names who it was
// (G4 to G7, G13, G14, G49).
#include "test/e2e/harness/harness.hpp"

#include <doctest/doctest.h>

#include <map>

using namespace mcpbx::e2e;

namespace {

enum class ends { result, error };
struct fault {
  std::string tool, arguments;
  ends how;
  bool times_out = false;  ///< the error can only be a time-out
};

/// Every fault of the scripted server that shows in a call, and how its caller must hear of it.
const std::vector<fault>& all_faults() {
  static const std::vector<fault> table = [] {
    std::vector<fault> t{
        {"crash-in-call", "{}", ends::error},
        {"abort-in-call", "{}", ends::error},
        {"exit-in-call", "{}", ends::error},
        {"partial-line-exit", "{}", ends::error},
        {"exit-after-answer", "{}", ends::result},
        {"never-answer", "{}", ends::error, true},
        {"cancel-ack", "{}", ends::error, true},
        {"late-answer", "{}", ends::error, true},
        {"stop-self", "{}", ends::error, true},
        {"spin", "{}", ends::error, true},
        {"no-read", "{}", ends::error, true},
        {"close-stdin", "{}", ends::error, true},
        {"close-stdout", "{}", ends::error},
        {"progress-forever", "{}", ends::error, true},
        {"wrong-type-id", "{}", ends::error, true},
        {"flood-stdout", R"({"n":20000})", ends::result},
        {"flood-stderr", R"({"n":5000000})", ends::result},
        {"list-changed-storm", "{}", ends::result},
        {"server-request-flood", "{}", ends::result},
        {"huge-line", "{}", ends::error},
        {"huge-no-newline", "{}", ends::error},
        {"deep-json", "{}", ends::error},
        {"invalid-utf8", "{}", ends::result},
        {"lone-surrogate", "{}", ends::result},
        {"huge-number", "{}", ends::result},
        {"dup-keys", R"({"kind":"result"})", ends::error},
        {"dup-keys", R"({"kind":"inner"})", ends::result},
        // An answer with two ids is nobody's.
        {"dup-keys", R"({"kind":"id"})", ends::error, true},
        {"double-answer", "{}", ends::result},
        {"unknown-id", "{}", ends::result},
        {"both-result-error", "{}", ends::error},
        {"neither-result-error", "{}", ends::error},
        {"missing-jsonrpc", "{}", ends::error},
        {"missing-jsonrpc", R"({"kind":"wrong"})", ends::error},
        {"ansi-escape", "{}", ends::result},
        {"banner-on-stdout", "{}", ends::result},
        {"nonjson-stdout", "{}", ends::result},
        {"grandchild", "{}", ends::result},
        {"grandchild-setsid", "{}", ends::result},
    };
    for (const std::string kind : {"text", "no-code", "text-code", "no-message", "null"})
      t.push_back({"bad-error-object", R"({"kind":")" + kind + "\"}", ends::error});
    for (const std::string kind : {"list", "text", "null", "content"})
      t.push_back({"wrong-result-shape", R"({"kind":")" + kind + "\"}", ends::error});
    return t;
  }();
  return table;
}

}  // namespace

TEST_CASE("G4 G13 G14 G49: in every fault its call ends as it must, neighbours go on, the status answers") {
  config cfg;
  for (std::size_t i = 0; i < all_faults().size(); ++i)
    cfg.server(
        "f" + std::to_string(i), {"--only", "echo," + all_faults()[i].tool},
        all_faults()[i].times_out ? R"("callTimeoutMs":300,"callHardTimeoutMs":900)" : R"("callTimeoutMs":600000)");
  cfg.server("good");
  daemon_under_test d(cfg);
  caller c = d.session(), neighbour = d.session();
  CHECK(eventually([&] { return neighbour.state("good") == "ready"; }));
  for (std::size_t i = 0; i < all_faults().size(); ++i) {
    const auto& f = all_faults()[i];
    const std::string server = "f" + std::to_string(i);
    CAPTURE(f.tool);
    CAPTURE(f.arguments);
    REQUIRE(eventually([&] { return neighbour.state(server) == "ready"; }));
    const auto id = c.start_call(server + "__" + f.tool, f.arguments);
    for (int n = 0; n < 3; ++n) CHECK(neighbour.call("good__echo", R"({"text":"fine"})").text() == "fine");
    CHECK(text_at(neighbour.server(server), "name") == server);
    CHECK(neighbour.request("mcpbx/status").get("result.pid") == json::value(d.pid()));
    CHECK(neighbour.server("good").at("rssBytes").as_int64() > 100'000);
    // Read as a line: not every answer here is to the taste of a strict parser.
    std::string line = c.line();
    while (contains(line.substr(0, 60), "\"method\":\"notifications/")) line = c.line();
    CHECK(contains(line.substr(0, 60), "\"id\":" + std::to_string(id)));
    CHECK(contains(line.substr(0, 60), "\"error\"") == (f.how == ends::error));
    for (const std::string_view word : {"WRONG", "LATE", "DUPLICATE"}) CHECK_FALSE(contains(line, word));
    if (f.how == ends::error) {
      CHECK_MESSAGE(contains(line, "\\\"" + server + "\\\""), line);
      CHECK_MESSAGE(contains(line, "timed_out") == f.times_out, line);
    }
    if (f.times_out) {
      const auto faulty = json::serialize(neighbour.request("mcpbx/status").get("result.servers.faulty"));
      CHECK_MESSAGE(contains(faulty, "\"name\":\"" + server + "\""), faulty);
    }
  }
  // Each server is well again, or was never ill; a manual restart works on all of them.
  for (std::size_t i = 0; i < all_faults().size(); ++i) {
    const std::string server = "f" + std::to_string(i);
    CAPTURE(all_faults()[i].tool);
    CHECK_FALSE(c.request("mcpbx/restart", R"({"server":")" + server + "\"}").failed());
  }
  for (std::size_t i = 0; i < all_faults().size(); ++i) {
    const std::string server = "f" + std::to_string(i);
    CAPTURE(all_faults()[i].tool);
    CHECK(eventually([&] { return c.state(server) == "ready"; }));
    CHECK(c.call(server + "__echo", R"({"text":"again"})").text() == "again");
  }
}

TEST_CASE("G5: a server that hangs is restarted after three time-outs in a row and works again") {
  config cfg;
  const std::vector<std::string> hangs{"never-answer", "stop-self", "spin", "no-read"};
  for (const auto& h : hangs) cfg.server(h, {"--spawn-log", "@DIR@/spawns-" + h}, R"("callTimeoutMs":200)");
  daemon_under_test d(cfg);
  caller c = d.session();
  for (const auto& h : hangs) {
    CAPTURE(h);
    REQUIRE(eventually([&] { return c.state(h) == "ready"; }));
    for (int i = 0; i < 3; ++i) {
      const auto r = c.call(h + "__" + h);
      CHECK(r.failed());
      CHECK_MESSAGE(contains(r.message(), "\"" + h + "\""), r.message());
    }
    CHECK(eventually([&] { return count_of(read_file(d.file("spawns-" + h)), "\n") == 2 && c.state(h) == "ready"; }));
    CHECK(c.call(h + "__echo", R"({"text":"back"})").text() == "back");
  }
}

TEST_CASE("G5: a server that closes one of its streams is restarted") {
  daemon_under_test d(config()
                          .server("close-stdin", {"--spawn-log", "@DIR@/spawns-close-stdin"}, R"("callTimeoutMs":500)")
                          .server("close-stdout", {"--spawn-log", "@DIR@/spawns-close-stdout"}));
  caller c = d.session();
  for (const std::string name : {"close-stdin", "close-stdout"}) {
    CAPTURE(name);
    CHECK(c.call(name + "__" + name).failed());
    // A server that cannot read shows it only when something is written to it.
    CHECK(eventually([&] { return c.call(name + "__echo", R"({"text":"back"})").text() == "back"; }));
    CHECK(count_of(read_file(d.file("spawns-" + name)), "\n") == 2);
  }
}

TEST_CASE("G5 G16: a call that times out is cancelled at the server, and a success resets the count") {
  daemon_under_test d(
      config().server("s", {"--log", "@DIR@/log", "--spawn-log", "@DIR@/spawns"}, R"("callTimeoutMs":200)"));
  caller c = d.session();
  for (int i = 0; i < 5; ++i) {
    CHECK(c.call("s__cancel-ack").failed());
    CHECK(c.call("s__echo", R"({"text":"well"})").text() == "well");
  }
  CHECK(eventually([&] { return count_of(read_file(d.file("log")), "\ncancel-ack ") == 5; }));
  CHECK(count_of(read_file(d.file("spawns")), "\n") == 1);
}

TEST_CASE("G6: progress extends the idle limit, and the hard limit ends the call all the same") {
  daemon_under_test d(config().server("s", {"--log", "@DIR@/log"}, R"("callTimeoutMs":500,"callHardTimeoutMs":1500)"));
  d.wait_ready({"s"});
  caller c = d.session();
  c.send(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"s__progress-forever","arguments":{},)"
         R"("_meta":{"progressToken":"p"}}})");
  int steps = 0;
  std::string line;
  while (contains(line = c.line(), "notifications/progress")) ++steps;
  CHECK(contains(line, "\"error\""));
  CHECK_MESSAGE(contains(line, "1500 ms"), line);
  CHECK(steps > 10);
  CHECK(eventually([&] { return contains(read_file(d.file("log")), "\ncancelled "); }));
  CHECK(c.call("s__echo", R"({"text":"on"})").text() == "on");
  // A caller without a progress token gets no progress, and its call lives as long.
  c.notifications.clear();
  const auto unwatched = c.call("s__progress-forever");
  CHECK_MESSAGE(contains(unwatched.message(), "1500 ms"), unwatched.line);
  CHECK(c.notifications.empty());
  const auto r = run_cli(d, {"call", "s__progress-forever"});
  CHECK(r.status == 1);
  CHECK_MESSAGE(contains(r.err, "1500 ms"), r.err);
}

TEST_CASE("M1 G7: a server that hangs in its opening delays nobody") {
  config cfg;
  cfg.server("slow", {"--behave", "hang-in-init"});
  for (int i = 0; i < 19; ++i) cfg.server("good" + std::to_string(i), {"--only", "echo"});
  daemon_under_test d(cfg);
  caller c = d.session();
  CHECK(eventually([&] { return c.tool_names().size() == 19; }));
  CHECK(c.state("slow") == "starting");
  for (int i = 0; i < 19; ++i) CHECK(c.call("good" + std::to_string(i) + "__echo", R"({"text":"up"})").text() == "up");
}

TEST_CASE("G7 G8: a server that never opens ends with its start time-out and is explained") {
  daemon_under_test d(config()
                          .server("hang", {"--behave", "hang-in-init"}, R"("startTimeoutMs":500)")
                          .server("list", {"--die", "list:hang"}, R"("startTimeoutMs":500)"));
  caller c = d.session();
  for (const std::string name : {"hang", "list"}) {
    CHECK(eventually([&] { return contains(text_at(c.server(name), "lastError"), "500 ms"); }));
    // The process of the next try lives, or the one that was late is being ended.
    const auto s = c.server(name);
    CHECK(at(s, "startFailed") == json::value(true));
    CHECK((text_at(s, "state") == "failed") == at(s, "nextTryMs").is_int64());
    CHECK(contains(c.request("mcpbx/status").line, R"({"name":")" + name + "\""));
  }
}

TEST_CASE("M7: lazy servers start with their first call, list their tools and stop when idle") {
  daemon_under_test d(config().server("s", {"--spawn-log", "@DIR@/spawns"}, R"("start":"lazy","idleStopMs":300)"));
  caller c = d.connect();
  CHECK(c.state("s") == "lazy");
  CHECK(d.tagged().empty());
  c.initialize();
  // Listing wakes it, since nothing of it is known yet.
  CHECK(eventually([&] { return c.tool_names().size() > 50; }));
  CHECK(c.call("s__echo", R"({"text":"awake"})").text() == "awake");
  CHECK(eventually([&] { return c.state("s") == "lazy" && d.tagged().empty(); }));
  CHECK(c.tool_names().size() > 50);
  CHECK(c.call("s__echo", R"({"text":"awake again"})").text() == "awake again");
}

TEST_CASE("L12: maxConcurrency bounds the calls at one server, the others wait their turn") {
  daemon_under_test d(config().server("s", {"--log", "@DIR@/log"}, R"("maxConcurrency":2)"));
  d.wait_ready({"s"});
  caller c = d.session();
  std::vector<std::int64_t> waiting;
  for (int i = 0; i < 5; ++i)
    waiting.push_back(c.start_call("s__wait_for_file", R"({"path":")" + d.file("go") + "\"}"));
  CHECK(eventually([&] { return at(c.server("s"), "queuedCalls") == json::value(3); }));
  CHECK(at(c.server("s"), "openCalls") == json::value(2));
  CHECK(eventually([&] { return count_of(read_file(d.file("log")), "call wait_for_file") == 2; }));
  d.write("go", "");
  for (const auto id : waiting) CHECK(c.wait(id).text().starts_with("found"));
}
