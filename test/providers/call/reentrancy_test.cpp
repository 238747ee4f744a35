// Tests of actions inside a model's events: the user leaves, asks again, or both, at every event of every kind of
// answer, with a fallback and with tools as text around the model. Meant for the asan preset.
#include "providers/call/chat_model.hpp"
#include "providers/call/fallback_model.hpp"
#include "providers/call/text_tools_model.hpp"
#include "test/fixtures/model/scripted_model.hpp"
#include "test/mcp/http/client/client_harness.hpp"
#include "test/support/manual_time.hpp"
#include "test/support/read_sizes.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace model_reentrancy {

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::providers;
using namespace mcpbx::providers::call;
using namespace mcpbx::test;

struct acting final : model_events {
  int at = 0, events = 0, after_leaving = 0, ends = 0;
  bool left = false;
  std::function<void()> act;
  void event() {
    if (left) ++after_leaving;
    if (++events == at && act) act();
  }
  void on_text(std::string_view) override { event(); }
  void on_reasoning(std::string_view) override { event(); }
  void on_reply(model_reply) override {
    ++ends;
    event();
  }
  void on_error(model_error) override {
    ++ends;
    event();
  }
};

enum class around { nothing, fallback, text_tools };

struct bench {
  scripted_model server{{}};
  http_loop loop;
  manual_time time;
  counting_random random{0, 0};
  std::shared_ptr<model> m;

  std::unique_ptr<model> ask_for(const std::string& id) {
    chat_model_options o;
    o.name = "main";
    o.wire.model = id;
    o.wire.base_url = server.url();
    o.retries.max_retries = 1;
    return std::move(make_chat_model(std::move(o), *loop.client, time, random).value());
  }
  bench(const std::string& id, around what) {
    m = ask_for(id);
    if (what == around::fallback) m = make_fallback_model(m, ask_for("text"), time);
    if (what == around::text_tools) m = make_text_tools_model(m, {});
  }
  static model_request question() {
    model_request r;
    r.messages = {user_message("hi")};
    auto tools = std::make_shared<tool_set>();
    tools->tools.push_back({"echo", "Echoes", raw_json::literal(R"({"type":"object","properties":{}})")});
    r.tools = tools;
    return r;
  }
  bool until(const std::function<bool()>& done) {
    return loop.until([&] {
      if (time.armed() > 0) time.advance(milliseconds(100));
      return done();
    });
  }
};

TEST_CASE("models: in any event whoever asked may leave, ask again, or do both") {
  for (const auto what : {around::nothing, around::fallback, around::text_tools})
    for (const std::string id : {"text", "rounds-1", "thinking", "flaky-1", "error-event", "status-500", "status-400",
                                 "reset", "chunk-truncate", "garbage-http", "no-tools"})
      for (const bool leave : {false, true})
        for (const bool again : {false, true}) {
          bench b(id, what);
          bool reached = true;
          for (int at = 1; reached && at < 40; ++at) {
            CAPTURE(id);
            CAPTURE(at);
            const read_sizes cut(0);
            acting first, second;
            std::unique_ptr<model_call> one, two;
            first.at = at;
            first.act = [&] {
              if (leave) {
                one.reset();
                first.left = true;
              }
              if (again) two = b.m->start(bench::question(), second);
            };
            one = b.m->start(bench::question(), first);
            REQUIRE(b.until([&] { return first.ends > 0 || first.left; }));
            if (two) REQUIRE(b.until([&] { return second.ends > 0; }));
            b.loop.context.poll();
            CHECK(first.after_leaving == 0);
            CHECK(first.ends <= 1);
            reached = first.events >= at;
          }
        }
}

}  // namespace model_reentrancy
