// A model behind a model, with two that are played by the test.
#include "providers/call/fallback_model.hpp"

#include "providers/schema/adapt/adapt.hpp"
#include "test/support/manual_time.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::providers;
using namespace mcpbx::providers::adapt;
using namespace mcpbx::providers::call;
using kind = model_error::kind;

// Keeps what it is asked; the test says what comes.
struct played final : model {
  struct call final : model_call {
    played& owner;
    call(played& p, model_request r, model_events& e) : owner(p), request(std::move(r)), to(e) { ++owner.open; }
    ~call() override { --owner.open; }
    call(const call&) = delete;
    call& operator=(const call&) = delete;
    void begin() override {
      owner.asked.push_back(std::move(request));
      owner.events = &to;
    }
    usage spent() const override { return owner.used; }
    model_request request;
    model_events& to;
  };
  std::string name_, api_;
  std::vector<model_request> asked;
  model_events* events = nullptr;
  int open = 0;
  std::size_t most = 0;
  usage used;  // by each call that fails or goes on

  played(std::string n, std::string a) : name_(std::move(n)), api_(std::move(a)) {}
  const std::string& name() const override { return name_; }
  const std::string& id() const override { return name_; }
  const std::string& api() const override { return api_; }
  std::string_view default_system() const override { return name_; }
  std::size_t max_tools() const override { return most; }
  std::unique_ptr<model_call> prepare(model_request r, model_events& e) override {
    return std::make_unique<call>(*this, std::move(r), e);
  }
  void fails(kind type, int status = 0) const {
    model_error e;
    e.type = type;
    e.http_status = status;
    e.message = name_ + " is down.";
    e.usage = used;
    events->on_error(std::move(e));
  }
  void replies() const {
    auto m = std::make_shared<message>();
    m->role = role::assistant;
    m->blocks.emplace_back(text_block{name_});
    model_reply r;
    r.message = std::move(m);
    events->on_reply(std::move(r));
  }
};

struct told_words : model_events {
  std::string text, reply, error;
  usage used;
  int ends = 0;
  void on_text(std::string_view d) override { text += d; }
  void on_reasoning(std::string_view) override {}
  void on_reply(model_reply r) override {
    ++ends;
    reply = r.message->text();
    used = r.usage;
  }
  void on_error(model_error e) override {
    ++ends;
    error = e.message;
    used = e.usage;
  }
};

struct pair_of_models {
  test::manual_time time;
  std::shared_ptr<played> first, second;
  std::unique_ptr<model> both;
  told_words got;

  explicit pair_of_models(const std::string& other_api = "openai-chat")
      : first(std::make_shared<played>("first", "openai-chat")),
        second(std::make_shared<played>("second", other_api)),
        both(make_fallback_model(first, second, time)) {}
  std::unique_ptr<model_call> ask() {
    got = {};
    model_request r;
    r.messages = {user_message("hi")};
    return both->start(std::move(r), got);
  }
};

TEST_CASE("L13: a model that gives no answer is replaced by its fallback, with the same request") {
  pair_of_models p;
  CHECK(p.both->name() == "first");
  CHECK(p.both->default_system() == "first");
  auto call = p.ask();
  CHECK(p.second->asked.empty());
  p.first->fails(kind::cut);
  REQUIRE(p.second->asked.size() == 1);
  CHECK(p.second->asked[0].messages == p.first->asked[0].messages);
  p.second->events->on_text("se");
  p.second->replies();
  CHECK(p.got.ends == 1);
  CHECK(p.got.text == "se");
  CHECK(p.got.reply == "second");
  call.reset();
  CHECK(p.first->open + p.second->open == 0);
}

TEST_CASE("L13: a call that is ready asks no model before it begins, nor the second while the first one rests") {
  pair_of_models p;
  model_request r;
  r.messages = {user_message("hi")};
  auto call = p.both->prepare(r, p.got);
  CHECK(p.first->asked.empty());
  call->begin();
  REQUIRE(p.first->asked.size() == 1);
  p.first->fails(kind::connection);
  CHECK(p.second->asked.size() == 1);
  call = p.both->prepare(r, p.got);
  CHECK(p.second->asked.size() == 1);
  call->begin();
  CHECK((p.first->asked.size() == 1 && p.second->asked.size() == 2));
}

// Returns a server's tools as `api` takes them, and counts conversions for other APIs.
std::shared_ptr<tool_set> listed(const std::vector<std::string>& schemas, std::string_view api, int& conversions) {
  auto set = std::make_shared<tool_set>();
  const auto converted = [schemas](std::size_t i, std::string_view to) {
    const auto tool = adapt_tool("t" + std::to_string(i), "", raw_json::own(schemas[i]), to);
    return tool ? std::optional(*tool) : std::nullopt;
  };
  for (std::size_t i = 0; i < schemas.size(); ++i) set->tools.push_back(converted(i, api).value());
  set->forms_for = [converted, n = schemas.size(), &conversions](std::string_view to) {
    ++conversions;
    std::vector<std::optional<tool_definition>> forms;
    for (std::size_t i = 0; i < n; ++i) forms.push_back(converted(i, to));
    return forms;
  };
  return set;
}

TEST_CASE("L13 F8: a fallback of another API is shown what a conversion of the server's definition gives, made once") {
  const std::vector<std::string> schemas{
      R"({"type":"object","properties":{"a":{"type":"string","pattern":"^x","default":"xy"}},"$defs":{"d":{}}})",
      R"({"type":"object","properties":{"x y":{}},"required":["x y"]})"};
  pair_of_models p("anthropic");
  int conversions = 0;
  const auto one = listed(schemas, "gemini", conversions), other = listed(schemas, "gemini", conversions);
  one->tools[0].name = "renamed";  // by the run
  model_request r;
  r.messages = {user_message("hi")};
  for (int i = 0; i < 4; ++i) {
    r.tools = i % 2 == 0 ? one : other;
    const auto call = p.both->start(r, p.got);
    if (i == 0) p.first->fails(kind::connection);
  }
  REQUIRE(p.second->asked.size() == 4);
  CHECK(conversions == 2);
  const auto& shown = *p.second->asked[0].tools;
  REQUIRE(shown.tools.size() == 1);  // the second one is none for this API
  CHECK(shown.tools[0].name == "renamed");
  CHECK(shown.tools[0].schema.text() == schemas[0]);
  CHECK(p.second->asked[1].tools->tools[0].name == "t0");
  CHECK(p.second->asked[2].tools == p.second->asked[0].tools);
  CHECK(p.second->asked[3].tools == p.second->asked[1].tools);
}

TEST_CASE("L13 F8: what a fallback was shown goes with the tools that it was made from") {
  pair_of_models p("anthropic");
  int conversions = 0;
  std::weak_ptr<const tool_set> shown;
  for (int i = 0; i < 2; ++i) {
    model_request r;
    r.messages = {user_message("hi")};
    r.tools = listed({"{}"}, "gemini", conversions);
    const auto call = p.both->start(std::move(r), p.got);
    if (i == 0) {
      p.first->fails(kind::connection);
      shown = p.second->asked.at(0).tools;
    }
    p.first->asked.clear();
    p.second->asked.clear();
  }
  CHECK(conversions == 2);
  CHECK(shown.expired());
}

TEST_CASE("L13: nothing is asked elsewhere once something was shown") {
  pair_of_models p;
  const auto call = p.ask();
  p.first->events->on_text("fi");
  p.first->fails(kind::cut);
  CHECK(p.second->asked.empty());
  CHECK(p.got.error == "first is down.");
  const auto thinking = p.ask();
  p.first->events->on_reasoning("hm");
  p.first->fails(kind::cut);
  CHECK(p.second->asked.empty());
}

TEST_CASE("L13: after an error that lasts the fallback is asked first for a minute, after another one it is not") {
  for (const auto& [type, status, rests] : std::vector<std::tuple<kind, int, bool>>{{kind::connection, 0, true},
                                                                                    {kind::overloaded, 429, true},
                                                                                    {kind::bad_request, 401, true},
                                                                                    {kind::bad_request, 402, true},
                                                                                    {kind::bad_request, 400, false},
                                                                                    {kind::context_full, 400, false},
                                                                                    {kind::garbage, 200, false}}) {
    CAPTURE(status);
    pair_of_models p;
    auto call = p.ask();
    p.first->fails(type, status);
    p.second->replies();
    call = p.ask();
    CHECK(p.first->asked.size() == (rests ? 1 : 2));
    CHECK(p.second->asked.size() == (rests ? 2 : 1));
    p.time.advance(std::chrono::seconds(60));
    call = p.ask();
    CHECK(p.first->asked.size() == (rests ? 2 : 3));
  }
}

TEST_CASE("L13: when both fail, the error says what each of them said") {
  pair_of_models p;
  const auto call = p.ask();
  p.first->fails(kind::overloaded, 529);
  p.second->fails(kind::connection);
  CHECK(p.got.ends == 1);
  CHECK(p.got.error == "first is down. The fallback model \"second\" gave no answer either: second is down.");
}

TEST_CASE("L16: what the first model used up before it broke is counted beside the fallback's") {
  for (const bool second_fails : {false, true}) {
    pair_of_models p;
    p.first->used = {.input = 10, .output = 1, .estimated = true};
    auto call = p.ask();
    p.first->fails(kind::cut);
    p.second->used = {.input = 30, .output = 2, .estimated = true};
    CHECK(call->spent().input == 40);
    if (second_fails)
      p.second->fails(kind::cut);
    else
      p.second->replies();
    CHECK(p.got.used.input == (second_fails ? 40 : 10));
    CHECK(p.got.used.estimated);
  }
}

TEST_CASE("fallback_model: leaving ends whichever call goes on") {
  pair_of_models p;
  auto call = p.ask();
  CHECK(p.first->open == 1);
  p.first->fails(kind::connection);
  CHECK(p.second->open == 1);
  call.reset();
  CHECK(p.first->open + p.second->open == 0);
  CHECK(p.got.ends == 0);
}

TEST_CASE("F8: a fallback of another API gets the tools in its form, the same object each round") {
  pair_of_models p("another");
  int conversions = 0;
  const auto tools = listed({R"({"properties":{}})"}, "openai-chat", conversions);
  model_request r;
  r.messages = {user_message("hi")};
  r.tools = tools;
  for (int i = 0; i < 2; ++i) {
    const auto call = p.both->start(r, p.got);
    if (i == 0) p.first->fails(kind::connection);
  }
  REQUIRE(p.second->asked.size() == 2);
  CHECK(p.second->asked[0].tools != r.tools);
  CHECK(p.second->asked[0].tools == p.second->asked[1].tools);
  REQUIRE(p.second->asked[0].tools->tools.size() == 1);
  CHECK(p.second->asked[0].tools->tools[0].name == "t0");
  CHECK(conversions == 1);
  pair_of_models same;
  const auto call = same.both->start(r, same.got);
  same.first->fails(kind::connection);
  CHECK(same.second->asked[0].tools == r.tools);
}

TEST_CASE("L13: a fallback is asked with the same settings, and to call the tool that has to be called if it has it") {
  pair_of_models p("ollama");
  auto tools = std::make_shared<tool_set>();
  tools->tools.push_back({"echo", "", raw_json::literal(R"({"type":"object","properties":{}})")});
  model_request r;
  r.messages = {user_message("hi")};
  r.tools = tools;
  r.settings.temperature = "0.3";
  r.tool_mode = tool_mode::required;
  for (const auto* wanted : {"echo", "gone", ""}) {
    r.required_tool = wanted;
    const auto call = p.both->start(r, p.got);
    if (r.required_tool == "echo") p.first->fails(kind::connection);
  }
  REQUIRE(p.second->asked.size() == 3);
  CHECK(p.second->asked[0].settings == r.settings);
  CHECK(p.second->asked[0].tool_mode == tool_mode::required);
  CHECK(p.second->asked[0].required_tool == "echo");
  CHECK(p.second->asked[1].tool_mode == tool_mode::automatic);
  CHECK(p.second->asked[1].required_tool.empty());
  CHECK(p.second->asked[2].tool_mode == tool_mode::required);
}

}  // namespace

TEST_CASE("F8: a fallback that takes fewer tools gets the first ones, and all of the run's own") {
  auto tools = std::make_shared<tool_set>();
  for (const auto* name : {"a", "b", "c", "mine", "reads"})
    tools->tools.push_back({name, "", raw_json::literal(R"({"type":"object","properties":{}})")});
  tools->own = 2;
  model_request r;
  r.messages = {user_message("hi")};
  r.tools = tools;
  const auto names_for = [&](const std::string& api, std::size_t most) {
    pair_of_models p(api);
    p.second->most = most;
    const auto call = p.both->start(r, p.got);
    p.first->fails(kind::connection);
    const auto& shown = *p.second->asked[0].tools;
    std::string names;
    for (const auto& t : shown.tools) names += t.name + " ";
    CHECK(shown.own == 2);
    return names;
  };
  for (const auto* api : {"openai-chat", "anthropic"}) {
    CHECK(names_for(api, 0) == "a b c mine reads ");
    CHECK(names_for(api, 5) == "a b c mine reads ");
    CHECK(names_for(api, 3) == "a mine reads ");
    CHECK(names_for(api, 1) == "mine reads ");
  }
}

TEST_CASE("F8: a fallback that takes fewer tools loses none when the tool that reads on joins") {
  const auto shown = [](bool reads) {
    auto tools = std::make_shared<tool_set>();
    for (const auto* name : {"a", "b", "c", "mine"})
      tools->tools.push_back({name, "", raw_json::literal(R"({"type":"object","properties":{}})")});
    if (reads) tools->tools.push_back({"reads", "", raw_json::literal(R"({"type":"object","properties":{}})")});
    tools->own = reads ? 2 : 1;
    tools->reserved = 2;
    model_request r;
    r.messages = {user_message("hi")};
    r.tools = tools;
    pair_of_models p;
    p.second->most = 4;
    const auto call = p.both->start(r, p.got);
    p.first->fails(kind::connection);
    std::string names;
    for (const auto& t : p.second->asked[0].tools->tools) names += t.name + " ";
    return names;
  };
  CHECK(shown(false) == "a b mine ");
  CHECK(shown(true) == "a b mine reads ");
}
