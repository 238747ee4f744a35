// Whole runs, recorded and replayed: with a replayed model the loop does the same as with the real one.
#include "providers/call/recording_model.hpp"
#include "providers/call/replay_model.hpp"
#include "test/daemon/loop/loop_fixture.hpp"
#include "test/support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace mcpbx;
using namespace mcpbx::daemon::run;
using namespace mcpbx::daemon::test;

namespace {

/// Reports every model call to `note`, as the scripted model does.
struct noting final : providers::model {
  noting(std::shared_ptr<providers::model> m, std::function<void(std::string)> n)
      : inner(std::move(m)), note(std::move(n)) {}
  const std::string& name() const override { return inner->name(); }
  const std::string& id() const override { return inner->id(); }
  const std::string& api() const override { return inner->api(); }
  std::string_view default_system() const override { return inner->default_system(); }
  struct noted final : providers::model_call {
    noted(std::unique_ptr<providers::model_call> c, std::function<void(std::string)> n)
        : call(std::move(c)), note(std::move(n)) {}
    void begin() override {
      note("model");
      call->begin();
    }
    std::unique_ptr<providers::model_call> call;
    std::function<void(std::string)> note;
  };
  std::unique_ptr<providers::model_call> prepare(providers::model_request r, providers::model_events& e) override {
    return std::make_unique<noted>(inner->prepare(std::move(r), e), note);
  }
  std::shared_ptr<providers::model> inner;
  std::function<void(std::string)> note;
};

/// A second runner beside the fixture's. Its model is `talk`: the scripted one while recording, or the replay.
struct replayed : fixture {
  mcpbx::test::temporary_directory folder;
  std::string path = folder / "talk.jsonl";
  std::shared_ptr<providers::model> talk;
  providers::call::offload blocking = [this](std::function<void()> work, std::function<void(result<void>)> done) {
    work();
    asio::post(context, [done = std::move(done)] { done({}); });
  };
  test_runner all{context.get_executor(),
                  time,
                  random,
                  tools,
                  [this] {
                    return std::make_shared<run_configuration>(
                        [this](std::string_view) -> result<std::shared_ptr<providers::model>> { return talk; });
                  },
                  kept,
                  runner::options{1024, plain_adapter}};

  void record() { talk = providers::call::make_recording_model({"talk", path, {}}, model, random, blocking); }
  void play() {
    auto header = providers::call::read_recording_header(path);
    REQUIRE_MESSAGE(header.has_value(), (header ? "" : header.error().message));
    talk = std::make_shared<noting>(providers::call::make_replay_model({"talk", path, *header, {}}, blocking), note);
  }
  /// Asks a question, runs to the end and returns the caller.
  caller go(std::string question) {
    caller c;
    auto r = ask();
    r.messages = {providers::user_message(std::move(question))};
    REQUIRE(all.start(std::move(r), c).has_value());
    settle();
    REQUIRE(c.done.size() == 1);
    return c;
  }
};

/// Checks that two results differ only in the run's name and in times.
void check_same(const caller& one, const caller& two) {
  for (const char* member : {"text", "stopReason", "rounds", "usage", "messages"})
    CHECK(one.member(member) == two.member(member));
  CHECK(one.of("text") == two.of("text"));
  CHECK(one.of("tool_call") == two.of("tool_call"));
  CHECK(one.of("usage") == two.of("usage"));
}

}  // namespace

TEST_CASE("L1: a tool conversation of three rounds replays with the same events and result") {
  replayed f;
  f.record();
  f.model->script = {calls({lookup("a")}), says("and two more", {lookup("b"), lookup("c")}), says("done")};
  const auto live = f.go("go");
  CHECK(live.member("text") == "done");
  CHECK(live.member("rounds") == "3");
  CHECK(f.server->params.size() == 3);
  f.play();
  for (int i = 0; i < 2; ++i) {
    const auto again = f.go("go");
    check_same(live, again);
    CHECK(f.server->params.size() == 6 + 3 * static_cast<std::size_t>(i));  // tool calls are not replayed
  }
  CHECK(f.model->requests.size() == 3);
}

TEST_CASE("L1: two runs of one question replay apart, each with its own rounds") {
  replayed f;
  f.record();
  f.model->script = {calls({lookup("a")}), says("first"), calls({call("b", "srv__other")}), says("second")};
  const auto one = f.go("go"), two = f.go("go");
  f.play();
  caller c, d;
  auto r = f.ask();
  REQUIRE(f.all.start(r, c).has_value());
  REQUIRE(f.all.start(r, d).has_value());
  f.settle();
  check_same(one, c);
  check_same(two, d);
}

TEST_CASE("L11: a tool that answers something else ends a replayed run with provider_error and says so") {
  replayed f;
  f.record();
  f.model->script = {calls({lookup("a")}), says("done")};
  f.go("go");
  f.play();
  f.server->tools["lookup"] = [](const mcp::clients::server_call&) {
    return mcp::rpc::call_outcome{mcp::rpc::call_outcome::kind::result, text_result("rough"), {}};
  };
  const auto c = f.go("go");
  CHECK(c.member("stopReason") == "provider_error");
  const auto reason = c.member("reason");
  CHECK_MESSAGE(
      reason.find("message 4 (tool_results) differs in its result 1: recorded there is \"") != std::string::npos,
      reason);
  CHECK(reason.find("rough") != std::string::npos);
  CHECK(reason.find("fine") != std::string::npos);
}

TEST_CASE("L11: a run that ended with an error of its model ends so when it is replayed, and the next one goes on") {
  replayed f;
  f.record();
  providers::model_error busy;
  busy.type = providers::model_error::kind::overloaded;
  busy.http_status = 529;
  busy.message = "The model is busy.";
  busy.partial_text = "Let me";
  auto broken = breaks(busy);
  broken.deltas = {"Let ", "me"};
  f.model->script = {calls({lookup("a")}), broken, calls({lookup("a")}), says("done")};
  const auto one = f.go("go"), two = f.go("go");
  CHECK(one.member("stopReason") == "provider_error");
  f.play();
  const auto again = f.go("go"), next = f.go("go");
  for (const char* member : {"text", "stopReason", "reason", "rounds", "messages", "partialText"})
    CHECK(one.member(member) == again.member(member));
  CHECK(one.of("text") == again.of("text"));
  check_same(two, next);
}
