// Runs and the callers that come and go: detach, attach, joining by name, and callers that read slowly (L18, G17).
#include "test/e2e/harness/harness.hpp"

#include <doctest/doctest.h>

using namespace mcpbx::e2e;

namespace {

config one_server(const model_process& model) {
  return config().server("s", {"--log", "@DIR@/log"}).model("m", model.entry()).top("defaultModel", "\"m\"");
}

/// A run that waits in a tool until the file `go` is there.
std::string waiting_run(const daemon_under_test& d, std::string_view more) {
  return "{\"input\":\"q\",\"run\":\"mine\",\"model\":" +
         json_string("m/rounds-1 s__wait_for_file {\"path\":\"" + d.file("go") + "\"}") + std::string(more) + "}";
}

bool waits_in_tool(const daemon_under_test& d) {
  return contains(read_file(d.file("log")), "call wait_for_file");
}

/// The types of a run's events, and that their numbers rise by one from `first` on.
std::vector<std::string> types(const caller& c, std::int64_t first) {
  std::vector<std::string> found;
  for (const auto& n : c.notifications) {
    CHECK(at(n, "params.seq") == json::value(first++));
    CHECK(text_at(n, "params.run") == "mine");
    found.push_back(text_at(n, "params.type"));
  }
  return found;
}

std::int64_t active_runs(caller& c) {
  return c.request("mcpbx/status").get("result.runs.active").as_int64();
}

}  // namespace

TEST_CASE("L18: a detached run goes on when its caller has left, and can be attached to until and after its end") {
  model_process model;
  daemon_under_test d(one_server(model));
  d.wait_ready({"s"});
  {
    caller c = d.connect();
    const auto started = c.request("mcpbx/chat", waiting_run(d, ",\"detach\":true"));
    CHECK(text_at(started.value, "result.run") == "mine");
    CHECK(text_at(started.value, "result.session").starts_with("ses_"));
    CHECK(c.notifications.empty());
  }
  REQUIRE(eventually([&] { return waits_in_tool(d); }));
  std::int64_t seen = 0;
  {
    caller c = d.connect();
    c.start("mcpbx/attach", R"({"run":"mine"})");
    for (;;) {
      const auto n = c.wait_notification("mcpbx/event");
      CHECK(at(n, "params.seq") == json::value(++seen));
      if (text_at(n, "params.type") == "tool_call") break;
    }
  }
  caller c = d.connect();
  CHECK(eventually([&] { return c.request("mcpbx/status").get("result.callers.open") == json::value(1); }));
  CHECK(active_runs(c) == 1);
  const auto attached = c.start("mcpbx/attach", "{\"run\":\"mine\",\"after\":" + std::to_string(seen) + "}");
  d.write("go", "");
  const auto result = c.wait(attached);
  CHECK(text_at(result.value, "result.stopReason") == "final");
  auto rest = types(c, seen + 1);
  REQUIRE_FALSE(rest.empty());
  CHECK(rest.front() == "tool_result");
  CHECK(rest.back() == "done");
  // It has ended; the whole of it is still there for others, and the same request finds it.
  for (const std::string method : {"attach", "chat"}) {
    caller late = d.connect();
    const auto again = method == "chat" ? late.request("mcpbx/chat", waiting_run(d, ",\"stream\":true"))
                                        : late.request("mcpbx/attach", R"({"run":"mine"})");
    CHECK(json::serialize(again.get("result")) == json::serialize(result.get("result")));
    CHECK(types(late, 1).size() == static_cast<std::size_t>(seen) + rest.size());
  }
  CHECK(model.count("request") == 2);
  const auto unknown = c.request("mcpbx/attach", R"({"run":"yours"})");
  CHECK(unknown.code() == -32002);
  CHECK(unknown.message() == "no run is named \"yours\"; it may have ended");
}

TEST_CASE("L18: a run goes on while somebody who started it or attached to it is there") {
  model_process model;
  daemon_under_test d(one_server(model));
  d.wait_ready({"s"});
  caller watcher = d.connect();
  caller second = d.connect();
  std::int64_t by_name = 0;
  {
    caller starter = d.connect();
    starter.start("mcpbx/chat", waiting_run(d, ""));
    starter.wait_event("tool_call");  // a snapshot has only events that some reader got
    second.start("mcpbx/attach", R"({"run":"mine","stream":false})");
    by_name = watcher.start("mcpbx/chat", R"({"run":"mine"})");
    const auto other = watcher.request("mcpbx/chat", R"({"run":"mine","input":"something else"})");
    CHECK_MESSAGE(contains(other.message(), "was started by a different request"), other.line);
    const auto snapshot = watcher.wait_notification("mcpbx/event");
    CHECK(text_at(snapshot, "params.type") == "snapshot");
    CHECK(at(snapshot, "params.request") == json::value(by_name));
    CHECK(at(snapshot, "params.round") == json::value(1));
    CHECK(text_at(snapshot, "params.calls.0.name") == "s__wait_for_file");
  }
  CHECK(eventually([&] { return watcher.request("mcpbx/status").get("result.callers.open") == json::value(2); }));
  CHECK(active_runs(watcher) == 1);
  second.close();
  CHECK(eventually([&] { return watcher.request("mcpbx/status").get("result.callers.open") == json::value(1); }));
  CHECK(active_runs(watcher) == 1);
  watcher.cancel(by_name);
  CHECK(watcher.wait(by_name).code() == -32800);
  CHECK(eventually([&] { return active_runs(watcher) == 0; }));
  CHECK(eventually([&] { return contains(read_file(d.file("log")), "notifications/cancelled"); }));
  CHECK(text_at(watcher.request("mcpbx/attach", R"({"run":"mine"})").value, "result.stopReason") == "cancelled");
}

TEST_CASE("L18: a detached run is cancelled by its name, and its result says so") {
  model_process model;
  daemon_under_test d(one_server(model));
  d.wait_ready({"s"});
  caller c = d.connect();
  CHECK_FALSE(c.request("mcpbx/chat", waiting_run(d, ",\"detach\":true")).failed());
  REQUIRE(eventually([&] { return waits_in_tool(d); }));
  CHECK_FALSE(c.request("mcpbx/cancel", R"({"run":"mine"})").failed());
  const auto r = c.request("mcpbx/attach", R"({"run":"mine"})");
  CHECK(text_at(r.value, "result.stopReason") == "cancelled");
  CHECK(c.request("mcpbx/cancel", R"({"run":"mine"})").code() == -32002);
}

TEST_CASE("G17: a caller that does not read its run's events costs bounded memory and never stops the run") {
  model_process model;
  daemon_under_test d(one_server(model));
  d.wait_ready({"s"});
  caller slow = d.connect(), neighbour = d.connect();
  const growth g(d);
  // 300 results of 100,000 bytes each as events; the model is given little of them.
  const auto run =
      slow.start("mcpbx/chat",
                 R"({"input":"q","run":"mine","model":"m/rounds-300 s__big {\"n\":100000}","limits":{"maxRounds":1000,)"
                 R"("maxCalls":1000,"maxRepeatedCalls":0,"maxResultBytes":256}})");
  REQUIRE(eventually([&] { return neighbour.request("mcpbx/status").get("result.runs.total") == json::value(1); }));
  REQUIRE(eventually([&] { return active_runs(neighbour) == 0; }));
  CHECK(g.peak_mib() <= 24);
  const auto r = slow.wait(run);
  CHECK(text_at(r.value, "result.stopReason") == "final");
  CHECK(r.get("result.rounds") == json::value(301));
  std::int64_t snapshots = 0, last = 0;
  for (const auto& n : slow.notifications) {
    const auto seq = at(n, "params.seq").as_int64();
    const bool snapshot = text_at(n, "params.type") == "snapshot";
    snapshots += snapshot ? 1 : 0;
    // Only what a snapshot stands for is missing.
    CHECK((snapshot ? seq > last : seq == last + 1));
    last = seq;
  }
  CHECK(snapshots >= 1);
  CHECK(text_at(slow.notifications.back(), "params.type") == "done");
}
