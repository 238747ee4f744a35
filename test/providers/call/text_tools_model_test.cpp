// Tools as text around a model: what is asked, what the loop sees, when the form is changed, how often it is told
// again.
#include "providers/call/text_tools_model.hpp"

#include "mcp/support/log.hpp"
#include "providers/call/text_conversation.hpp"
#include "test/providers/text/parse.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::providers;
using namespace mcpbx::providers::call;
using namespace mcpbx::trace;

// A model that answers when the test says so.
struct played_model final : model {
  struct open_call final : model_call {
    open_call(played_model& owner_model, model_request r, model_events& e)
        : owner(owner_model), request(std::move(r)), to(e) {}
    ~open_call() override { ++owner.ended; }
    open_call(const open_call&) = delete;
    open_call& operator=(const open_call&) = delete;
    void begin() override {
      owner.asked.push_back(std::move(request));
      owner.events = &to;
    }
    played_model& owner;
    model_request request;
    model_events& to;
  };
  const std::string& name() const override { return names[0]; }
  const std::string& id() const override { return names[1]; }
  const std::string& api() const override { return names[2]; }
  std::unique_ptr<model_call> prepare(model_request request, model_events& to) override {
    return std::make_unique<open_call>(*this, std::move(request), to);
  }
  void reply(std::string_view text, std::size_t step = std::string_view::npos, end_reason reason = end_reason::stop,
             std::vector<block> more = {}) {
    for (std::size_t at = 0; at < text.size() && ended == 0; at += std::min(step, text.size() - at))
      events->on_text(text.substr(at, step));
    if (ended != 0) return;
    auto m = std::make_shared<message>();
    m->role = role::assistant;
    m->origin = {"openai-chat", "http://x", "local"};
    m->raw = raw_json::literal(R"({"role":"assistant"})");
    if (!text.empty()) m->blocks.emplace_back(text_block{std::string(text)});
    for (auto& b : more) m->blocks.push_back(std::move(b));
    model_reply r;
    r.message = m;
    r.reason = reason;
    events->on_reply(std::move(r));
  }
  void refuse(int status, std::string words) {
    model_error e;
    e.type = model_error::kind::bad_request;
    e.http_status = status;
    e.message = std::move(words);
    events->on_error(std::move(e));
  }
  void fail_generation(std::string written) {
    model_error e;
    e.type = model_error::kind::refused;
    e.http_status = 400;
    e.message = "Failed to call a function.";
    e.failed_generation = std::move(written);
    events->on_error(std::move(e));
  }
  std::vector<std::string> names{"main", "local", "openai-chat"};
  std::vector<model_request> asked;
  model_events* events = nullptr;
  int ended = 0;
};

struct told_text final : model_events {
  std::string text, thoughts;
  std::optional<model_reply> reply;
  std::optional<model_error> error;
  void on_text(std::string_view d) override { text += d; }
  void on_reasoning(std::string_view d) override { thoughts += d; }
  void on_reply(model_reply r) override { reply = std::move(r); }
  void on_error(model_error e) override { error = std::move(e); }
};

struct text_bench {
  std::shared_ptr<played_model> inner = std::make_shared<played_model>();
  std::unique_ptr<model> outer;
  std::vector<message_ptr> conversation{system_message("Be brief."), user_message("What is it?")};
  std::shared_ptr<tool_set> tools = std::make_shared<tool_set>();
  call_settings settings;
  tool_mode mode = tool_mode::automatic;
  time_point needed_by = never;
  trace_context trace;
  std::string log_text;
  told_text got;
  std::unique_ptr<model_call> call;

  explicit text_bench(std::string_view format, bool fall_back = false)
      : outer(make_text_tools_model(inner, {.format = text::find_format(format), .fall_back = fall_back})) {
    tools->tools.push_back(
        {"echo", "Echoes.",
         raw_json::literal(R"({"type":"object","properties":{"text":{"type":"string"}},"required":["text"]})")});
    log::install(log::level::info, [this](log::level, std::string_view line) { (log_text += line) += '\n'; });
  }
  ~text_bench() { log::install(log::level::off, {}); }
  text_bench(const text_bench&) = delete;
  text_bench& operator=(const text_bench&) = delete;

  void ask(bool with_tools = true) {
    model_request r;
    r.messages = conversation;
    if (with_tools) r.tools = tools;
    r.settings = settings;
    r.tool_mode = mode;
    r.needed_by = needed_by;
    r.trace = trace;
    call.reset();
    got = told_text();
    inner->ended = 0;
    call = outer->start(std::move(r), got);
  }
  // The reply and its results enter the conversation, as the loop does it.
  void go_on(std::string_view result = "done") {
    conversation.push_back(got.reply->message);
    auto results = std::make_shared<message>();
    results->role = role::tool_results;
    for (const auto* c : got.reply->message->calls())
      results->blocks.emplace_back(tool_result_block{
          c->id, c->name, raw_json::own(R"({"content":[{"type":"text","text":)" + json_quoted(result) + "}]}"),
          !c->problem.empty()});
    conversation.push_back(results);
  }
  const tool_call_block& first() const { return *got.reply->message->calls().at(0); }
};

TEST_CASE("F3: tools go into the system prompt, calls and results travel as text, stop sequences are sent") {
  text_bench b("react");
  b.ask();
  const auto asked = b.inner->asked[0];
  CHECK(asked.tools == nullptr);
  CHECK(asked.settings.stop == std::vector<std::string>{"\nObservation:"});
  CHECK(asked.messages[0]->text().starts_with("Be brief.\n\n# Tools"));
  const std::string said = "Thought: look\nAction: echo\nAction Input: {\"text\": \"a\"}";
  b.inner->reply(said, 3);
  REQUIRE(b.got.reply);
  CHECK(b.got.text.empty());
  CHECK(b.got.thoughts.find("look") != std::string::npos);
  CHECK(b.first().name == "echo");
  CHECK(b.first().arguments.text() == R"({"text": "a"})");
  CHECK(b.got.reply->reason == end_reason::tool_calls);
  CHECK(b.got.reply->message->raw.empty());
  b.go_on("a");
  b.ask();
  const auto second = b.inner->asked[1];
  REQUIRE(second.messages.size() == 4);
  CHECK(second.messages[2]->role == role::assistant);
  CHECK(second.messages[2]->text() == said);
  CHECK(second.messages[3]->role == role::user);
  CHECK(second.messages[3]->text() == "Observation: a");
  // The same objects, so that their bytes are the same and encoded once.
  CHECK(second.messages[0] == asked.messages[0]);
  b.ask();
  CHECK(b.inner->asked[2].messages[2] == second.messages[2]);
  CHECK(b.inner->asked[2].messages[3] == second.messages[3]);
  // The last round offers no tools; what was said stays text.
  b.ask(false);
  CHECK(b.inner->asked[3].messages[0]->text() == "Be brief.");
  CHECK(b.inner->asked[3].messages[3]->text() == "Observation: a");
}

TEST_CASE("F3: a call that is ready asks nothing before it begins, also when it falls back to text") {
  text_bench b("", true);
  model_request r;
  r.messages = b.conversation;
  r.tools = b.tools;
  b.call = b.outer->prepare(std::move(r), b.got);
  CHECK(b.inner->asked.empty());
  b.call->begin();
  REQUIRE(b.inner->asked.size() == 1);
  b.inner->refuse(400, "registry.ollama.ai/library/local does not support tools");
  CHECK(b.inner->asked.size() == 2);
}

TEST_CASE("F7: the stop sequences of a form and of a request are sent together, those of the form first, each once") {
  text_bench b("react");
  b.settings.stop = {"END", "\nObservation:"};
  b.settings.temperature = "0.5";
  b.ask();
  CHECK(b.inner->asked[0].settings.stop == std::vector<std::string>{"\nObservation:", "END"});
  CHECK(b.inner->asked[0].settings.temperature == "0.5");
}

TEST_CASE("L8: by when an answer is needed is told where tools are told in text too") {
  text_bench b("react");
  b.needed_by = time_point(milliseconds(7));
  b.ask();
  CHECK(b.inner->asked[0].needed_by == b.needed_by);
}

TEST_CASE("E3: a request has its trace where tools are told in text too") {
  text_bench b("react");
  b.trace = {"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "a=1"};
  b.ask();
  CHECK(b.inner->asked[0].trace == b.trace);
}

TEST_CASE("D2: a call that is required is asked for in words where tools are told in text, for that call only") {
  text_bench b("react");
  b.mode = tool_mode::required;
  b.ask();
  CHECK(b.inner->asked[0].note == "Call a tool now, and answer only when you have its result.");
  CHECK(b.inner->asked[0].tool_mode == tool_mode::automatic);
  b.mode = tool_mode::automatic;
  b.ask();
  CHECK(b.inner->asked[1].note.empty());
  CHECK(b.inner->asked[1].messages[0] == b.inner->asked[0].messages[0]);
}

TEST_CASE("L5: where no tool may be called none is told in text, and what looks like a call is read as without tools") {
  for (const bool given : {true, false}) {
    text_bench b("react");
    b.mode = tool_mode::none;
    b.ask(given);
    CHECK(b.inner->asked[0].messages[0]->text() == "Be brief.");
    b.inner->reply("Action: echo\nAction Input: {}");
    REQUIRE(b.got.reply);
    CHECK(b.got.reply->message->calls().empty());
    CHECK(b.got.text == "Action: echo\nAction Input: {}");
  }
}

TEST_CASE("F7: where the provider does not stop, we do: the call is ended and nothing invented is kept") {
  text_bench b("react");
  b.ask();
  b.inner->reply(
      "Thought: x\nAction: echo\nAction Input: {\"text\": \"a\"}\nObservation: made up\nFinal Answer: made up", 5);
  REQUIRE(b.got.reply);
  CHECK(b.inner->ended == 1);
  CHECK(b.got.reply->usage.estimated);
  CHECK(b.first().arguments.text() == R"({"text": "a"})");
  b.go_on();
  b.ask();
  CHECK(b.inner->asked[1].messages[2]->text().find("made up") == std::string::npos);
}

TEST_CASE("F7 D2: a request's stops end the answer where its provider does not, with tools and without") {
  for (const bool tools : {false, true})
    for (const auto* format : {"", "react", "hermes"}) {
      CAPTURE(tools);
      CAPTURE(format);
      text_bench b(format);
      b.settings.stop = {"<END>", "never"};
      const std::string react = std::string(format) == "react" && tools ? "Final Answer: " : "";
      for (std::size_t step = 1; step < 8; ++step) {
        b.ask(tools);
        b.inner->reply(react + "So it <is>.<END> And more.<tool_call>{\"name\": \"echo\"}</tool_call>", step);
        REQUIRE(b.got.reply);
        CHECK(b.inner->ended == 1);
        CHECK(b.got.text == "So it <is>.");
        CHECK(b.got.reply->reason == end_reason::stop);
        CHECK(b.got.reply->message->calls().empty());
        CHECK(b.got.reply->message->raw.empty());
      }
      // Held-back text is passed on if no stop follows, and the provider's own message stays.
      b.ask(tools);
      b.inner->reply(react + "So it is.<EN", 2);
      REQUIRE(b.got.reply);
      CHECK(b.got.text == "So it is.<EN");
      CHECK(b.got.reply->message->text() == "So it is.<EN");
      b.ask(tools);
      b.inner->reply("<END>");
      REQUIRE(b.got.reply);
      CHECK(b.got.text.empty());
      CHECK(b.got.reply->message->text().empty());
    }
  // A call before the stop is one.
  text_bench b("hermes");
  b.settings.stop = {"<END>"};
  b.ask();
  b.inner->reply("<tool_call>{\"name\": \"echo\", \"arguments\": {\"text\": \"a\"}}</tool_call><END>x", 3);
  REQUIRE(b.got.reply);
  CHECK(b.first().arguments.text() == R"({"text": "a"})");
  CHECK(b.got.reply->reason == end_reason::tool_calls);
}

TEST_CASE("F7: a result that was invented before a call does not go back to the model, the words around it do") {
  for (const auto* format : {"hermes", "react"}) {
    text_bench b(format);
    b.ask();
    b.inner->reply(
        "Wait.\n<tool_response>\nmade up\n</tool_response>\nThen.\n<tool_response>made up</tool_response>\n"
        "<tool_call>{\"name\": \"echo\", \"arguments\": {\"text\": \"a\"}}</tool_call>",
        3);
    REQUIRE(b.got.reply);
    CHECK(b.first().arguments.text() == R"({"text": "a"})");
    b.go_on();
    b.ask();
    CHECK(b.inner->asked[1].messages[2]->text() ==
          "Wait.\n\nThen.\n\n<tool_call>{\"name\": \"echo\", \"arguments\": {\"text\": \"a\"}}</tool_call>");
  }
}

TEST_CASE("F7: a ReAct reply that begins with an invented result is told to the model") {
  text_bench b("react");
  b.ask();
  b.inner->reply("Observation: made up\nFinal Answer: made up", 5);
  REQUIRE(b.got.reply);
  CHECK(b.got.text.empty());
  CHECK_FALSE(b.first().problem.empty());
  b.go_on("Write it again.");
  b.ask();
  CHECK(b.inner->asked[1].messages[2]->text() == "Observation:");
}

TEST_CASE("F5: a plain answer passes as it came, byte for byte, and goes back so") {
  for (const auto* format : {"native", "react", "hermes"}) {
    text_bench b(format);
    b.ask();
    b.inner->reply("It is 4.\n", 2);
    REQUIRE(b.got.reply);
    CHECK(b.got.text == "It is 4.\n");
    CHECK_FALSE(b.got.reply->message->raw.empty());
    CHECK(b.got.reply->reason == end_reason::stop);
  }
}

TEST_CASE("F4: a server that takes no tools is asked again in text, once, and it is remembered") {
  text_bench b("native", true);
  b.ask();
  CHECK(b.inner->asked[0].tools != nullptr);
  b.inner->refuse(400, "The model \"gemma\" answered with status 400: gemma does not support tools.");
  CHECK_FALSE(b.got.error);
  REQUIRE(b.inner->asked.size() == 2);
  CHECK(b.inner->asked[1].tools == nullptr);
  CHECK(b.log_text.find("takes no tools; from now on it is told of tools in text (react)") != std::string::npos);
  b.inner->reply("Final Answer: fine");
  CHECK(b.got.text == "fine");
  b.ask();
  CHECK(b.inner->asked[2].tools == nullptr);
  b.inner->refuse(400, "does not support tools");
  CHECK(b.got.error);
  CHECK(b.inner->asked.size() == 3);
}

TEST_CASE("F4: with toolFormat native a server that takes no tools is an error") {
  text_bench b("native");
  b.ask();
  b.inner->refuse(400, "gemma does not support tools.");
  CHECK(b.got.error);
  CHECK(b.inner->asked.size() == 1);
}

TEST_CASE("F4: only errors about tools as such change the form") {
  const auto says = [](int status, std::string words) {
    model_error e;
    e.http_status = status;
    e.message = std::move(words);
    return says_no_tools(e);
  };
  CHECK(says(400, "registry.ollama.ai/library/gemma:2b does not support tools"));
  CHECK(says(404, "No endpoints found that support tool use."));
  CHECK(says(500, "tools param requires --jinja flag"));
  CHECK(says(400, "\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set"));
  CHECK(says(400, "Unrecognized request argument supplied: tools"));
  CHECK(says(400, "The model \"m\" refused: tools: Extra inputs are not permitted"));
  CHECK(says(400, "Unsupported parameter: 'tools' is not supported with this model."));
  CHECK(says(400, "Invalid JSON payload received. Unknown name \"tools\": Cannot find field."));
  CHECK(says(400, "Function calling is not enabled for models/gemma-3-27b-it"));
  CHECK(says(400, "This model doesn't support tool use."));
  CHECK(says(501, "Tool calls aren't supported by this server"));
  CHECK_FALSE(says(400, "Invalid schema for function 'x': unsupported keyword"));
  CHECK_FALSE(
      says(400, "The model \"my-tool-model\": Unsupported value: temperature is not supported with this model"));
  CHECK_FALSE(says(400, "llama3-groq-70b-8192-tool-use-preview: 'logprobs' is not supported"));
  CHECK_FALSE(says(400, "tools.3.custom.eager_input_streaming: Extra inputs are not permitted"));
  CHECK_FALSE(says(400, "Unknown name \"const\" at 'tools[0].function_declarations[0]': Cannot find field."));
  CHECK_FALSE(says(400, "'parallel_tool_calls' is not supported with this model"));
  CHECK_FALSE(says(400, "Parallel tool calls are not supported"));
  CHECK_FALSE(says(400, "This model does not support more than 128 tools"));
  CHECK_FALSE(says(400, "Invalid 'tools': array too long. Expected an array with maximum length 128"));
  CHECK_FALSE(says(400, "Unsupported parameter: 'temperature' is not supported when tools are given"));
  CHECK_FALSE(says(400, "This model does not support tool messages with images"));
  CHECK_FALSE(says(400, "Unsupported tool type 'web_search'"));
  CHECK_FALSE(says(400, "Unknown tool: echo"));
  CHECK_FALSE(says(401, "this key does not support tools"));
  CHECK_FALSE(says(429, "tools not supported at this rate"));
  CHECK_FALSE(says(400, "temperature is not supported"));
  CHECK_FALSE(says(0, "does not support tools"));
}

TEST_CASE(
    "F4: a reply that is nothing but a call as text beside native tools is run and logged, and the second changes the "
    "form") {
  struct row {
    const char *written, *arguments, *form;
  };
  for (const auto& [written, arguments, form] :
       {row{"<tool_call>{\"name\": \"echo\", \"arguments\": {\"text\": \"7\"}}</tool_call>", R"({"text": "7"})",
            "hermes"},
        row{"<tool_call>echo\n<arg_key>text</arg_key>\n<arg_value>7</arg_value>\n</tool_call>", R"({"text":"7"})",
            "glm"},
        row{"```json\n{\"name\": \"echo\", \"arguments\": {\"text\": \"7\"}}\n```", R"({"text": "7"})", "llama3"},
        row{"Action: echo\nAction Input: {\"text\": \"7\"}", R"({"text": "7"})", "react"}})
    for (const bool fall_back : {false, true}) {
      CAPTURE(written);
      text_bench b("native", fall_back);
      for (int time = 0; time < 2; ++time) {
        b.ask();
        CHECK(b.inner->asked.back().tools != nullptr);
        b.inner->reply(written, 1);
        REQUIRE(b.got.reply);
        CHECK(b.got.text.empty());
        REQUIRE(b.got.reply->message->calls().size() == 1);
        CHECK(b.first().name == "echo");
        CHECK(b.first().problem.empty());
        CHECK(b.first().arguments.text() == arguments);
        CHECK(b.got.reply->reason == end_reason::tool_calls);
        b.go_on("a");
      }
      CHECK(b.log_text.find("it is run like any other") != std::string::npos);
      const auto told = "told of tools in text (" + std::string(form) + ")";
      CHECK((b.log_text.find(told) != std::string::npos) == fall_back);
      b.ask();
      CHECK((b.inner->asked.back().tools == nullptr) == fall_back);
      if (fall_back && form == std::string("hermes"))
        CHECK(b.inner->asked.back().messages[2]->text().find("<tool_call>") != std::string::npos);
      CHECK((b.log_text.find("deprecated") != std::string::npos) == (form == std::string("hermes")));
    }
}

TEST_CASE("F4: beside native tools a call among words is not run, nobody sees its marks, and the form stays") {
  for (const std::string words : {"Wait.", "I did not run this:"})
    for (const bool fall_back : {false, true}) {
      text_bench b("native", fall_back);
      for (int time = 0; time < 3; ++time) {
        b.ask();
        b.inner->reply(words + "\n<tool_call>{\"name\": \"echo\", \"arguments\": {\"text\": \"a\"}}</tool_call>", 1);
        REQUIRE(b.got.reply);
        CHECK(b.got.text == words + "\n\n[Left out here, and not run: a call of the tool \"echo\"]");
        CHECK(b.got.reply->message->text() == b.got.text);
        CHECK(b.got.reply->message->calls().empty());
        CHECK(b.got.reply->reason == end_reason::stop);
      }
      b.ask();
      CHECK(b.inner->asked.back().tools != nullptr);
      CHECK(b.log_text.find("toolFormat") != std::string::npos);
    }
}

TEST_CASE("F4: an API that loses no calls has none in its text") {
  text_bench b("native", true);
  b.outer = make_text_tools_model(b.inner, {.format = nullptr, .fall_back = true, .may_lose_calls = false});
  b.ask();
  b.inner->reply("<tool_call>{\"name\": \"echo\", \"arguments\": {\"text\": \"a\"}}</tool_call>", 1);
  REQUIRE(b.got.reply);
  CHECK(b.got.reply->message->calls().empty());
  CHECK(b.got.text.find("tool_call") == std::string::npos);
}

TEST_CASE("F4: native calls win over the same call leaked into the text") {
  text_bench b("native", true);
  b.ask();
  tool_call_block native;
  native.id = "n";
  native.name = "echo";
  native.arguments = raw_json::literal(R"({"text":"a"})");
  b.inner->reply("<tool_call>{\"name\": \"echo\", \"arguments\": {\"text\": \"a\"}}</tool_call>", 4,
                 end_reason::tool_calls, {native});
  REQUIRE(b.got.reply->message->calls().size() == 1);
  CHECK(b.first().id == "n");
  CHECK(b.got.text.empty());
  CHECK_FALSE(b.got.reply->message->raw.empty());
  b.go_on();
  b.ask();
  CHECK(b.inner->asked[1].tools != nullptr);
}

TEST_CASE("F6: after two unreadable replies in a row the next one is the answer as text") {
  text_bench b("hermes");
  for (int i = 0; i < 2; ++i) {
    b.ask();
    b.inner->reply("<tool_call>{\"nme\": \"echo\"}</tool_call>");
    REQUIRE(b.got.reply->message->calls().size() == 1);
    CHECK(b.first().problem.find("could not be read") != std::string::npos);
    CHECK(b.first().arguments.empty());
    CHECK(b.got.text.empty());
    b.go_on("told_text");
  }
  b.ask();
  b.inner->reply("<tool_call>{\"nme\": \"echo\"}</tool_call>");
  CHECK(b.got.reply->message->calls().empty());
  CHECK(b.got.text == R"({"nme": "echo"})");
  CHECK(b.got.reply->reason == end_reason::stop);
}

TEST_CASE("F6: a call that its server could not read is read from what the model wrote") {
  text_bench b("native", true);
  b.ask();
  b.inner->events->on_reasoning("Echo it.");
  b.inner->events->on_text("Wait. ");
  b.inner->fail_generation("<function=echo{\"text\": \"a\"}</function>");
  REQUIRE(b.got.reply);
  CHECK_FALSE(b.got.error);
  REQUIRE(b.got.reply->message->calls().size() == 1);
  CHECK(b.first().name == "echo");
  CHECK(b.first().arguments.text() == R"({"text": "a"})");
  CHECK_FALSE(b.first().id.empty());
  CHECK(b.got.reply->reason == end_reason::tool_calls);
  CHECK(b.got.reply->usage.estimated);
  CHECK(b.got.reply->message->text() == "Wait.");
  CHECK(b.got.text == "Wait.");
  CHECK(std::get<reasoning_block>(b.got.reply->message->blocks[0]).text == "Echo it.");
  // It was one call; the model is offered tools as before.
  b.go_on("a");
  b.ask();
  CHECK(b.inner->asked[1].tools != nullptr);
  b.inner->fail_generation(R"(Let me see.
{"tool_calls": [{"name": "echo", "parameters": {"text": "b"}}]})");
  REQUIRE(b.got.reply);
  CHECK(b.first().arguments.text() == R"({"text": "b"})");
  CHECK(b.got.text.empty());
}

TEST_CASE("F6: a model whose call neither its server nor we can read is told so twice, then it is an error") {
  text_bench b("native", true);
  for (const auto* written : {"<function=echo{\"te", "I would call echo now."}) {
    b.ask();
    b.inner->fail_generation(written);
    REQUIRE(b.got.reply);
    REQUIRE(b.got.reply->message->calls().size() == 1);
    CHECK(b.first().problem.find("could not be read") != std::string::npos);
    CHECK(b.first().arguments.empty());
    CHECK(b.got.text.empty());
    b.go_on("told");
  }
  b.ask();
  b.inner->fail_generation("<function=echo{\"te");
  REQUIRE(b.got.error);
  CHECK_FALSE(b.got.error->failed_generation.empty());
}

TEST_CASE("F6: a third reply that ends within a call is the answer as well, not one more unreadable call") {
  struct row {
    const char *format, *half, *word;
  };
  for (const auto& [format, half, word] :
       {row{"hermes", "So.\n<tool_call>{\"name\": \"echo\", \"arguments\": {\"te", "echo"},
        row{"react", "Action: echo\nAction Input: {\"text\": \"so it is", "so it is"},
        row{"xml", "<function_calls>\n<invoke name=\"echo\">\n<parameter name=\"text\">so it is", "so it is"},
        row{"qwen3-coder", "<tool_call>\n<function=echo>\n<parameter=text>\nso it is\n</param", "so it is"},
        row{"glm", "<tool_call>echo\n<arg_key>text</arg_key>\n<arg_value>so it is</arg_v", "so it is"}}) {
    CAPTURE(std::string(format));
    text_bench b(format);
    for (int i = 0; i < 2; ++i) {
      b.ask();
      b.inner->reply(half, 5);
      REQUIRE(b.got.reply->message->calls().size() == 1);
      CHECK(b.first().problem.find("before it is complete") != std::string::npos);
      b.go_on("told");
    }
    b.ask();
    b.inner->reply(half, 5);
    CHECK(b.got.reply->message->calls().empty());
    CHECK(b.got.reply->reason == end_reason::stop);
    CHECK(b.got.text.find(word) != std::string::npos);
    CHECK(b.got.reply->message->text() == b.got.text);
    for (const auto& mark : test::marks_of(format)) CHECK_MESSAGE(b.got.text.find(mark) == std::string::npos, mark);
    CHECK(b.got.text.find("</") == std::string::npos);
  }
}

TEST_CASE("G29: a call that was cut off is not run, and at the output limit the reply says so") {
  text_bench b("hermes");
  b.ask();
  b.inner->reply("<tool_call>{\"name\": \"echo\", \"arguments\": {\"te", 7);
  REQUIRE(b.got.reply->message->calls().size() == 1);
  CHECK(b.first().problem.find("before it is complete") != std::string::npos);
  b.ask();
  b.inner->reply("<tool_call>{\"name\": \"echo\", \"arguments\": {\"te", 7, end_reason::length);
  CHECK(b.got.reply->message->calls().empty());
  CHECK(b.got.reply->reason == end_reason::length);
}

TEST_CASE("F5: reasoning that only its closing mark tells is reasoning in the message, and a call in it is not run") {
  const std::string draft = "<tool_call>{\"name\": \"echo\", \"arguments\": {\"text\": \"no\"}}</tool_call>";
  for (const bool native : {false, true})
    for (const std::string& raw : {std::string("secret</think>vis"), "secret" + draft + "\n</think>\n\nvis"}) {
      text_bench b(native ? "native" : "hermes", native);
      b.ask();
      b.inner->reply(raw, 3);
      CAPTURE(raw);
      // The shown text stays, without marks.
      CHECK(b.got.text == "secret\n\nvis");
      REQUIRE(b.got.reply);
      const auto& m = *b.got.reply->message;
      CHECK(m.calls().empty());
      CHECK(m.text() == "vis");
      REQUIRE_FALSE(m.blocks.empty());
      const auto* reasoning = std::get_if<reasoning_block>(&m.blocks[0]);
      REQUIRE(reasoning != nullptr);
      CHECK(reasoning->text == "secret");
    }
}

TEST_CASE("F5: what an error leaves of a reply has no marks") {
  text_bench b("hermes");
  b.ask();
  b.inner->events->on_text("Wait.\n<tool_call>{\"name\": ");
  model_error e;
  e.type = model_error::kind::cut;
  e.partial_text = "Wait.\n<tool_call>{\"name\": ";
  b.inner->events->on_error(std::move(e));
  REQUIRE(b.got.error);
  CHECK(b.got.error->partial_text == "Wait.");
}

TEST_CASE("L13: another provider's history reaches a text model in its own form") {
  text_bench b("qwen3-coder");
  auto foreign = std::make_shared<message>();
  foreign->role = role::assistant;
  tool_call_block native;
  native.id = "n";
  native.name = "echo";
  native.arguments = raw_json::literal(R"({"text":"a"})");
  foreign->blocks = {text_block{"Hm."}, native};
  b.got.reply = model_reply{foreign, end_reason::tool_calls, "", {}};
  b.go_on("out");
  b.ask();
  CHECK(b.inner->asked[0].messages[2]->text() ==
        "Hm.\n<tool_call>\n<function=echo>\n<parameter=text>\na\n</parameter>\n</function>\n</tool_call>");
  CHECK(b.inner->asked[0].messages[3]->text() == "<tool_response>\nout\n</tool_response>");
}

TEST_CASE("F5: a native model whose conversation has calls shows no marks in its last answer, which has no tools") {
  text_bench b("native", true);
  b.ask();
  tool_call_block made;
  made.id = "a";
  made.name = "echo";
  made.arguments = raw_json::literal(R"({"text":"x"})");
  b.inner->reply("", std::string_view::npos, end_reason::tool_calls, {made});
  b.go_on();
  b.ask(false);
  b.inner->reply("I need more. <tool_call>{\"name\": \"echo\", \"arguments\": {\"text\":\"y\"}}</tool_call>");
  CHECK(b.got.text.find("tool_call") == std::string::npos);
  CHECK(b.got.text.starts_with("I need more."));
  // Its API has tools: what it does where none are offered says nothing about that.
  CHECK(b.log_text.find("from now on") == std::string::npos);
}

TEST_CASE("F5: without tools, text about marks passes untouched") {
  text_bench b("native", true);
  b.ask(false);
  b.inner->reply("<tool_call>{\"name\": \"echo\", \"arguments\": {}}</tool_call>");
  CHECK(b.got.text == "<tool_call>{\"name\": \"echo\", \"arguments\": {}}</tool_call>");
  CHECK(b.got.reply->message->calls().empty());
}

}  // namespace
