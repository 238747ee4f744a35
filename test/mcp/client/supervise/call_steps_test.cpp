// Calls with questions, rounds and tasks, disturbed at each step: whatever happens and whenever, each call has one
// outcome, each question one end, and nothing stays open. Meant for the asan preset.
#include "test/mcp/client/supervisor_rig.hpp"
#include "test/support/contains.hpp"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace disturbed_calls {

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::mcp::clients;
using namespace mcpbx::mcp::rpc;
using namespace mcpbx::test;

enum class kind { question, rounds, task };
enum class deed { none, cancel, exit, close_stdout, restart, stop, unconfigure, withdraw };

/// A call from its begin to its end. The deed is done at the event number `at`.
struct play final : question_handler, std::enable_shared_from_this<play> {
  play(kind k, deed d, int when) : what(k), act(d), at(when) {}

  supervisor_rig r;
  kind what;
  deed act;
  int at, events = 0;
  std::shared_ptr<client> owner;
  client::ticket call = 0;
  supervisor_rig::outcome_box box;
  struct open_question {
    done_handler done;
    bool open = true;
  };
  std::vector<open_question> questions;

  void event() {
    if (++events != at) return;
    const auto process = r.launcher.spawned.empty() ? nullptr : r.launcher.spawned.back();
    switch (act) {
      case deed::none:
        return;
      case deed::cancel:
        return owner->cancel(call, "enough");
      case deed::exit:
        return process->exit(3);
      case deed::close_stdout:
        return process->close_stdout();
      case deed::restart:
        CHECK(r.supervisor->restart("srv").has_value());
        return;
      case deed::stop:
        return r.supervisor->stop([] {}, milliseconds(0));
      case deed::unconfigure:
        return r.supervisor->apply({});
      case deed::withdraw:
        return process->say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"q"}})");
    }
  }

  ticket ask(server_question, done_handler done) override {
    questions.push_back({std::move(done)});
    const auto t = questions.size();
    event();
    return t;
  }
  void withdraw(ticket t, std::string_view) override {
    CHECK(questions.at(t - 1).open);
    questions.at(t - 1).open = false;
    event();
  }

  void serve(scripted_process& p, const message& m) {
    if (m.method() != "ping" && m.method() != "server/discover") event();
    const auto question = [&](std::string_view params) {
      p.say(R"({"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":)" + std::string(params) + "}");
    };
    if (m.type == message::kind::response && what == kind::question) {
      if (const auto open = parse_message(raw_json::own(p.last("tools/call")))) p.answer(*open, R"({"content":[]})");
    } else if (m.method() == "tools/call" && what == kind::question) {
      question("{}");
    } else if (m.method() == "tools/call" && what == kind::rounds) {
      if (find_member(m.params, "inputResponses"))
        p.answer(m, R"({"resultType":"complete","content":[]})");
      else
        p.answer(m, R"({"resultType":"input_required","requestState":"s","inputRequests":{"a":{"method":"roots/list"},)"
                    R"("b":{"method":"roots/list"}}})");
    } else if (m.method() == "tools/call") {
      p.answer(m, R"({"task":{"taskId":"t","status":"working","pollInterval":20}})");
    } else if (m.method() == "tasks/get") {
      const bool first = p.count("tasks/get") == 1, asked = !questions.empty();
      if (!first && !asked) question(R"({"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t"}}})");
      const bool over = asked && !questions.back().open;
      p.answer(m, std::string(R"({"taskId":"t","pollInterval":20,"status":")") +
                      (first  ? "working"
                       : over ? "completed"
                              : "input_required") +
                      "\"}");
      if (over)
        if (const auto open = parse_message(raw_json::own(p.last("tasks/result"))))
          p.answer(*open, R"({"content":[]})");
    } else if (m.method() == "tasks/cancel") {
      p.answer(m, "{}");
    }
  }

  void run() {
    const auto life = [this](scripted_process& p, const message& m) {
      const auto serves = [this](scripted_process& self, const message& got) {
        if (got.method() == "initialize" && what == kind::task) {
          self.answer(got, R"({"protocolVersion":"2025-11-25","serverInfo":{},"capabilities":{"tools":{},)"
                           R"("tasks":{"requests":{"tools":{"call":{}}}}}})");
          return true;
        }
        if (got.method() == "tools/list" && what == kind::task) {
          self.answer(got, tools_page({tool_definition("echo", R"(,"execution":{"taskSupport":"required"})")}));
          return true;
        }
        const bool ours = got.method().starts_with("tools/call") || got.method().starts_with("tasks/") ||
                          got.type == message::kind::response;
        if (ours) serve(self, got);
        return ours;
      };
      (what == kind::rounds ? modern_script({"echo"}, serves) : legacy_script({"echo"}, serves))(p, m);
    };
    r.launcher.add("srv", life);
    auto o = server_named("srv");
    o.limits = {milliseconds(5'000), milliseconds(20'000)};
    r.start({o});
    owner = r.owner("srv__echo");
    server_call c;
    c.name = "echo";
    c.params = raw_json::literal(R"({"name":"echo"})");
    c.principal = "uid:1";
    c.questions = shared_from_this();
    c.done = [this](call_outcome&& out) {
      ++box.times;
      box.last = std::move(out);
      event();
    };
    call = owner->call(std::move(c));
    for (int turns = 0; turns < 40; ++turns) {
      r.advance(25);
      for (std::size_t i = 0; i < questions.size(); ++i) {
        if (!questions[i].open) continue;
        event();
        questions[i].open = false;
        // The deed may have withdrawn it: a late answer must do no harm.
        questions[i].done({call_outcome::kind::result, raw_json::literal("{}"), {}});
      }
    }
    r.advance(60'000);
  }
};

}  // namespace disturbed_calls

TEST_CASE("G1: a call with questions or rounds or a task ends once whatever happens at any of its steps") {
  using namespace disturbed_calls;
  for (const kind what : {kind::question, kind::rounds, kind::task}) {
    for (const deed act : {deed::none, deed::cancel, deed::exit, deed::close_stdout, deed::restart, deed::stop,
                           deed::unconfigure, deed::withdraw}) {
      for (int at = 1;; ++at) {
        CAPTURE(static_cast<int>(what));
        CAPTURE(static_cast<int>(act));
        CAPTURE(at);
        const auto p = std::make_shared<play>(what, act, at);
        p->run();
        CHECK(p->box.times == 1);
        if (act == deed::none) CHECK(p->box.answered());
        CHECK(p->r.supervisor->open_calls() == 0);
        for (const auto& q : p->questions) CHECK_FALSE(q.open);
        for (auto& q : p->questions) q.done = {};
        const bool last = p->events < at || act == deed::none;
        p->owner.reset();
        if (last) break;
        REQUIRE(at < 100);
      }
    }
  }
}
