// Tests of mcpbx's own answers: what a server gets, what is counted and audited, and what ends early.
#include "daemon/answers/own_answers.hpp"

#include "test/support/manual_time.hpp"
#include "test/support/temporary_directory.hpp"

#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon::answers;
using namespace mcpbx::daemon::audit;
using namespace mcpbx::daemon::stored;
using namespace mcpbx::json;
using namespace mcpbx::test;

namespace {

// Keeps each call open until the test ends it.
class held_model final : public providers::model {
 public:
  const std::string& name() const override { return name_; }
  const std::string& id() const override { return id_; }
  const std::string& api() const override { return api_; }
  std::unique_ptr<providers::model_call> prepare(providers::model_request request,
                                                 providers::model_events& events) override {
    requests.push_back(std::move(request));
    return std::make_unique<running>(*this, events);
  }
  void reply(std::string text) {
    auto message = std::make_shared<providers::message>();
    message->role = providers::role::assistant;
    message->blocks.emplace_back(providers::text_block{.text = std::move(text)});
    open.front()->on_reply({std::move(message), providers::end_reason::stop, {}, {}});
  }
  void fail(providers::model_error::kind kind) {
    providers::model_error e;
    e.type = kind;
    e.message = "model \"m\" at https://secret.example/v1 broke";
    open.front()->on_error(std::move(e));
  }

  std::vector<providers::model_request> requests;
  std::vector<providers::model_events*> open;

 private:
  struct running final : providers::model_call {
    running(held_model& m, providers::model_events& e) : owner(m), events(&e) {}
    ~running() override { std::erase(owner.open, events); }
    void begin() override { owner.open.push_back(events); }
    held_model& owner;
    providers::model_events* events;
  };
  std::string name_ = "m", id_ = "m-1", api_ = "openai-chat";
};

struct answers_fixture {
  temporary_directory dir;
  boost::asio::io_context io{1};
  manual_time time;
  std::optional<audit_log> log;
  std::shared_ptr<held_model> model = std::make_shared<held_model>();
  std::shared_ptr<answer_settings> settings = std::make_shared<answer_settings>();
  std::optional<own_answers> answers;
  std::shared_ptr<mcp::clients::question_handler> handler;
  std::vector<std::string> got;  // answers in order, each "result: …", "error: …" or "failed: …"

  answers_fixture() {
    audit_log::options o{result<std::string>(dir / "audit.jsonl")};
    log.emplace(io.get_executor(), time, o);
    settings->servers = {{"srv", sampling_rule{"m", 50, 3}, raw_json::literal(R"({"roots":[{"uri":"file:///a"}]})")},
                         {"other", std::nullopt, {}}};
    settings->models = [this](std::string_view name) -> result<std::shared_ptr<providers::model>> {
      if (name != "m") return fail(errc::config, "no model at /home/me/secret");
      return model;
    };
    answers.emplace(own_answers::means{io.get_executor(), time, &*log, [this] { return settings; }});
    handler = answers->handler_for({.principal = "uid:1", .pid = 7, .name = "test"});
  }

  mcp::clients::question_handler::ticket ask(std::string method, std::string_view params = "{}",
                                             std::string server = "srv") {
    return handler->ask({std::move(server), std::move(method), raw_json::own(params)},
                        [this](mcp::rpc::call_outcome&& o) {
                          if (o.type == mcp::rpc::call_outcome::kind::result)
                            got.push_back("result: " + std::string(o.value.text()));
                          else if (o.type == mcp::rpc::call_outcome::kind::error)
                            got.push_back("error: " + std::string(o.value.text()));
                          else
                            got.push_back("failed: " + o.failure.message);
                        });
  }
  mcp::clients::question_handler::ticket sample(std::string server = "srv") {
    return ask("sampling/createMessage",
               R"({"messages":[{"role":"user","content":{"type":"text","text":"q"}}],"maxTokens":9})",
               std::move(server));
  }
  void run() {
    io.restart();
    io.run();
  }
  std::string audit() const {
    std::ifstream in(dir / "audit.jsonl", std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::size_t audited(std::string_view what) const {
    std::size_t count = 0;
    const auto text = audit();
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
    return count;
  }
  std::string last() const { return got.empty() ? "nothing" : got.back(); }
};

}  // namespace

TEST_CASE("a server is told that roots are answered only if its entry has some") {
  answers_fixture f;
  CHECK(f.answers->lends({"srv", "roots/list", {}}));
  CHECK_FALSE(f.answers->lends({"other", "roots/list", {}}));
  CHECK_FALSE(f.answers->lends({"unknown", "roots/list", {}}));
  CHECK(f.answers->answers({"other", "roots/list", {}}));
  CHECK(f.answers->lends({"srv", "sampling/createMessage", {}}));
  CHECK_FALSE(f.answers->lends({"srv", "elicitation/create", {}}));
}

TEST_CASE("roots come from the configuration and elicitation is declined") {
  answers_fixture f;
  f.ask("roots/list");
  CHECK(f.got.empty());  // never from inside ask()
  f.run();
  CHECK(f.last() == R"(result: {"roots":[{"uri":"file:///a"}]})");
  f.ask("roots/list", "{}", "other");
  f.run();
  CHECK(f.last() == R"(result: {"roots":[]})");
  f.ask("elicitation/create", R"({"message":"m"})");
  f.run();
  CHECK(f.last() == R"(result: {"action":"decline"})");
  f.ask("tools/list");
  f.run();
  CHECK(f.last() == R"(error: {"code":-32601,"message":"mcpbx does not answer this request"})");
}

TEST_CASE("sampling is off unless the entry of the server names a model") {
  answers_fixture f;
  CHECK(f.answers->samples_for("srv"));
  CHECK_FALSE(f.answers->samples_for("other"));
  CHECK_FALSE(f.answers->samples_for("unknown"));
  f.sample("other");
  f.run();
  CHECK(f.last() == R"(error: {"code":-32601,"message":"no model of mcpbx answers sampling requests of this server"})");
  CHECK(f.model->requests.empty());
  CHECK(f.audited("\"decision\":\"refused\"") == 1);
}

TEST_CASE("a model of the entry answers a sampling request and the audit has it before the server gets the answer") {
  answers_fixture f;
  f.sample();
  f.run();
  REQUIRE(f.model->requests.size() == 1);
  CHECK(f.model->requests[0].settings.max_output_tokens == 9);
  CHECK(f.got.empty());
  f.model->reply("hi");
  CHECK(f.got.empty());
  f.run();
  CHECK(f.last() ==
        R"(result: {"role":"assistant","content":{"type":"text","text":"hi"},"model":"m-1","stopReason":"endTurn"})");
  CHECK(f.model->open.empty());
  const auto line = f.audit();
  for (const auto* part :
       {"\"principal\":\"uid:1\"", "\"pid\":7", "\"name\":\"test\"", "\"tool\":\"sampling/createMessage\"",
        "\"server\":\"srv\"", "\"decision\":\"called\"", "\"end\":\"result\""})
    CHECK_MESSAGE(line.find(part) != std::string::npos, part);
}

TEST_CASE("a server learns no address and no path from a failure of a model") {
  answers_fixture f;
  using enum providers::model_error::kind;
  std::int64_t minute = 0;
  for (const auto kind :
       {connection, time_limit, refused, overloaded, bad_request, context_full, cut, garbage, configuration}) {
    f.time.advance(std::chrono::minutes(++minute));
    f.sample();
    f.run();
    f.model->fail(kind);
    f.run();
    CAPTURE(f.last());
    CHECK(f.last().starts_with("error: {\"code\":-32603,\"message\":\"the "));
    CHECK(f.last().find("secret") == std::string::npos);
  }
  f.settings->servers[0].sampling->model = "gone";
  f.time.advance(std::chrono::minutes(5));
  f.sample();
  f.run();
  CHECK(f.last() == R"(error: {"code":-32603,"message":"the model cannot be used as it is configured"})");
}

TEST_CASE("requests beyond perMinute are refused and withdrawn ones count") {
  answers_fixture f;
  for (int i = 0; i < 3; ++i) f.handler->withdraw(f.sample(), "the call has ended");
  f.run();
  CHECK(f.got.empty());  // withdrawn questions get no answer
  CHECK(f.model->open.empty());
  CHECK(f.audited("\"end\":\"cancelled\"") == 3);
  f.sample();
  f.run();
  CHECK(
      f.last() ==
      R"(error: {"code":-32001,"message":"there were too many sampling requests in the last minute; try again later"})");
  f.time.advance(std::chrono::seconds(60));
  f.sample();
  f.run();
  CHECK(f.model->open.size() == 1);
}

TEST_CASE("a flood of refusals is audited once a minute") {
  answers_fixture f;
  for (int i = 0; i < 100; ++i) f.sample("other");
  f.run();
  CHECK(f.got.size() == 100);
  CHECK(f.audited("\"decision\":\"refused\"") == 1);
  f.time.advance(std::chrono::seconds(61));
  f.sample("other");
  f.run();
  CHECK(f.audited("\"decision\":\"refused\"") == 2);
}

TEST_CASE("a server has at most eight sampling requests open") {
  answers_fixture f;
  f.settings->servers[0].sampling->per_minute = 100;
  for (int i = 0; i < 9; ++i) f.sample();
  f.run();
  CHECK(f.model->open.size() == 8);
  CHECK(f.last() == R"(error: {"code":-32001,"message":"too many sampling requests are open; try again later"})");
  f.model->reply("hi");
  f.run();
  f.sample();
  f.run();
  CHECK(f.model->open.size() == 8);
}

TEST_CASE("a sampling request that needs a yes is refused unless its asker sees to approvals") {
  answers_fixture f;
  server_terms terms{"srv", {}, {}, {"sampling/*"}};
  f.settings->entries = std::make_shared<const std::vector<server_terms>>(std::vector{terms});
  f.sample();
  f.run();
  CHECK(f.last() == R"(error: {"code":-1,"message":"the request needs a yes of the user, who cannot be asked"})");
  f.handler = f.answers->handler_for({.principal = "uid:1", .run = "r", .approves = true});
  f.sample();
  f.run();
  CHECK(f.model->open.size() == 1);
}

TEST_CASE("a bad sampling request is refused with the clause and no model is asked") {
  answers_fixture f;
  f.ask("sampling/createMessage", R"({"messages":[]})");
  f.run();
  CHECK(f.last() == R"(error: {"code":-32602,"message":"messages is empty"})");
  CHECK(f.model->requests.empty());
}

TEST_CASE("a handler that goes away ends its model calls and answers nobody") {
  answers_fixture f;
  f.sample();
  f.run();
  CHECK(f.model->open.size() == 1);
  f.handler.reset();
  CHECK(f.model->open.empty());
  f.run();
  CHECK(f.got.empty());
  f.handler = f.answers->handler_for({.principal = "uid:1"});
  f.ask("roots/list");
  f.answers.reset();
  f.run();
  CHECK(f.got.size() == 1);  // a question that is open when mcpbx ends is still answered
}
