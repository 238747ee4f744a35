// Cancelled runs: Ctrl-C, callers that cancel or leave, a daemon that stops (L18, G16, G20).
#include "test/e2e/harness/harness.hpp"

#include <doctest/doctest.h>

#include <signal.h>

using namespace mcpbx::e2e;

namespace {

config cancellable(const model_process& model) {
  return config().server("s", {"--log", "@DIR@/log"}).model("m", model.entry()).top("defaultModel", "\"m\"");
}

bool in_cancel_ack(const daemon_under_test& d) {
  return contains(read_file(d.file("log")), "call cancel-ack");
}
bool tool_cancelled(const daemon_under_test& d) {
  return contains(read_file(d.file("log")), "\ncancel-ack ");
}

const std::string run_tool = R"({"input":"q","model":"m/rounds-1 s__cancel-ack","run":"mine"})";

}  // namespace

TEST_CASE("L18: Ctrl-C during a tool call: status 130, and the tool server hears of it") {
  model_process model;
  daemon_under_test d(cancellable(model));
  d.wait_ready({"s"});
  auto ask = start_cli(d, {"ask", "-m", "m/rounds-1 s__cancel-ack", "question"});
  REQUIRE(eventually([&] { return in_cancel_ack(d); }));
  ask->signal(SIGINT);
  CHECK(ask->wait().status == 130);
  CHECK(eventually([&] { return tool_cancelled(d); }));
  CHECK(model.count("request") == 1);
}

TEST_CASE("L18: Ctrl-C while the model hangs: status 130, and its connection is closed") {
  model_process model;
  daemon_under_test d(cancellable(model));
  for (const std::string hang : {"hang-before-head", "hang-mid-stream", "drip"}) {
    CAPTURE(hang);
    const auto before = model.count("closed"), requests = model.count("request");
    auto ask = start_cli(d, {"ask", "-m", "m/" + hang, "question"});
    REQUIRE(eventually([&] { return model.count("request") > requests; }));
    ask->signal(SIGINT);
    CHECK(ask->wait().status == 130);
    CHECK(eventually([&] { return model.count("closed") > before; }));
    CHECK(model.count("request") == requests + 1);
  }
}

TEST_CASE("L18: a caller that leaves cancels its run, in the tool and at the model") {
  model_process model;
  daemon_under_test d(cancellable(model));
  d.wait_ready({"s"});
  {
    caller c = d.connect();
    c.start("mcpbx/chat", run_tool);
    REQUIRE(eventually([&] { return in_cancel_ack(d); }));
    c.start("mcpbx/chat", R"({"input":"q","model":"m/hang-mid-stream"})");
    REQUIRE(eventually([&] { return model.count("request") == 2; }));
  }
  CHECK(eventually([&] { return tool_cancelled(d); }));
  CHECK(eventually([&] { return model.count("closed") >= 1; }));
  caller c = d.connect();
  CHECK(eventually([&] { return c.request("mcpbx/status").get("result.runs.active") == json::value(0); }));
  CHECK(model.count("request") == 2);
}

TEST_CASE("L18: a run is cancelled by its name, by its request, and by notifications/cancelled") {
  model_process model;
  daemon_under_test d(cancellable(model));
  d.wait_ready({"s"});
  for (int way = 0; way < 3; ++way) {
    CAPTURE(way);
    caller c = d.connect(), other = d.connect();
    const auto calls = count_of(read_file(d.file("log")), "call cancel-ack");
    const auto id = c.start("mcpbx/chat", run_tool);
    REQUIRE(eventually([&] { return count_of(read_file(d.file("log")), "call cancel-ack") > calls; }));
    if (way == 0) CHECK_FALSE(other.request("mcpbx/cancel", R"({"run":"mine"})").failed());
    if (way == 1) CHECK_FALSE(c.request("mcpbx/cancel", "{\"request\":" + std::to_string(id) + "}").failed());
    if (way == 2) c.cancel(id);
    const auto r = c.wait(id);
    if (way == 2) {
      CHECK(r.code() == -32800);
    } else {
      CHECK(text_at(r.value, "result.stopReason") == "cancelled");
      // Each call has its result: the history stays acceptable to every model.
      CHECK(r.get("result.toolCalls.0.isError") == json::value(true));
    }
    CHECK(eventually([&] { return count_of(read_file(d.file("log")), "\ncancel-ack ") == calls + 1; }));
    // The caller of a cancelled request is answered at once, the run ends when its end is written.
    CHECK(eventually([&] { return other.request("mcpbx/cancel", R"({"run":"mine"})").code() == -32002; }));
  }
}

TEST_CASE("L18 G20: a daemon that stops ends its runs, and their callers hear how") {
  model_process model;
  daemon_under_test d(cancellable(model));
  d.wait_ready({"s"});
  auto tool = start_cli(d, {"ask", "-m", "m/rounds-9 s__cancel-ack", "question"});
  auto hang = start_cli(d, {"ask", "-m", "m/hang-mid-stream", "question"});
  REQUIRE(eventually([&] { return in_cancel_ack(d) && model.count("request") == 2; }));
  CHECK(d.stop().status == 0);
  for (auto* ask : {tool.get(), hang.get()}) {
    CHECK(ask->wait().status == 1);
    CHECK(contains(ask->err, "mcpbx: "));
  }
  CHECK(tool_cancelled(d));
  // One connection or two: the second request may have come over that of the first.
  CHECK(eventually([&] { return model.count("closed") >= 1; }));
  CHECK(model.count("request") == 2);
}

TEST_CASE("G20: at SIGTERM a run may end, one that does not is interrupted, and nothing new begins") {
  model_process model;
  daemon_under_test d(cancellable(model));
  d.wait_ready({"s"});
  caller c = d.session();
  const auto chat = [&](const std::string& file) {
    return c.start("mcpbx/chat", "{\"input\":\"q\",\"model\":" +
                                     json_string("m/rounds-2 s__wait_for_file {\"path\":\"" + d.file(file) + "\"}") +
                                     "}");
  };
  const auto ends = chat("go"), hangs = chat("never");
  REQUIRE(eventually([&] { return count_of(read_file(d.file("log")), "call wait_for_file") == 2; }));
  d.process().signal(SIGTERM);
  REQUIRE(d.logs("stopping"));
  const auto call = c.call("s__echo", R"({"text":"late"})");
  CHECK_MESSAGE(contains(call.message(), "mcpbx is stopping"), call.line);
  const auto run = c.request("mcpbx/chat", R"({"input":"q","model":"m/echo"})");
  CHECK_MESSAGE(contains(run.message(), "the daemon is stopping"), run.line);
  d.write("go", "");
  // Its second round has a call of its own, which is still made.
  CHECK(text_at(c.wait(ends).value, "result.stopReason") == "final");
  const auto requests = model.count("request");
  const auto cut = c.wait(hangs);
  CHECK_MESSAGE(text_at(cut.value, "result.stopReason") == "interrupted", cut.line);
  CHECK(contains(text_at(cut.value, "result.reason"), "the daemon is stopping"));
  CHECK(cut.get("result.toolCalls.0.isError") == json::value(true));
  CHECK(d.process().wait().status == 0);
  CHECK(model.count("request") == requests);
}

TEST_CASE("L18: the run's events come to its own caller only") {
  model_process model;
  daemon_under_test d(cancellable(model));
  caller a = d.connect(), b = d.connect();
  const auto first = a.start("mcpbx/chat", R"({"input":"q","model":"m/rounds-2 s__echo {\"text\":\"for a\"}"})");
  const auto second = b.start("mcpbx/chat", R"({"input":"q","model":"m/rounds-2 s__echo {\"text\":\"for b\"}"})");
  CHECK(text_at(a.wait(first).value, "result.text") == "Final: for a");
  CHECK(text_at(b.wait(second).value, "result.text") == "Final: for b");
  CHECK_FALSE(a.notifications.empty());
  for (const auto& n : a.notifications) {
    CHECK_FALSE(contains(json::serialize(n), "for b"));
    CHECK(at(n, "params.request") == json::value(first));
  }
}
