// The rehearsal behind the interface of a model.
#include "providers/call/rehearsal_model.hpp"

#include "test/support/manual_time.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace {

using namespace mcpbx;
using namespace mcpbx::providers;
using namespace mcpbx::providers::call;

struct told_replies : model_events {
  std::vector<std::string> deltas;
  int replies = 0;
  std::string text;
  void on_text(std::string_view d) override { deltas.emplace_back(d); }
  void on_reasoning(std::string_view) override {}
  void on_reply(model_reply r) override {
    ++replies;
    text = r.message->text();
  }
  void on_error(model_error) override {}
};

TEST_CASE("rehearsal_model: text comes word by word after start, then the reply") {
  test::manual_time time;
  const auto m = make_rehearsal_model("demo", nullptr, time);
  CHECK(m->name() == "demo");
  CHECK(m->api() == "rehearsal");
  told_replies t;
  model_request r;
  r.messages = {user_message("hello there")};
  const auto call = m->start(r, t);
  CHECK(t.replies == 0);
  time.advance(milliseconds(0));
  CHECK(t.replies == 1);
  CHECK(t.deltas.size() > 5);
  std::string joined;
  for (const auto& d : t.deltas) joined += d;
  CHECK(joined == t.text);
}

TEST_CASE("rehearsal_model: a call that was left says nothing") {
  test::manual_time time;
  const auto m = make_rehearsal_model("demo", nullptr, time);
  told_replies t;
  auto call = m->start({}, t);
  call.reset();
  time.advance(milliseconds(10));
  CHECK(t.replies == 0);
  CHECK(time.armed() == 0);
}

}  // namespace
