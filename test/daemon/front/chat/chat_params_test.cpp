// The params of mcpbx/chat: what is wrong is told by path, limits are laid over each other, what comes later says so.
#include "daemon/front/chat/chat_params.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <string>

using namespace mcpbx;
using namespace mcpbx::daemon::chat;
using namespace mcpbx::daemon::run;
using namespace mcpbx::daemon::stored;
using namespace mcpbx::json;
using namespace mcpbx::trace;

namespace {

struct read_result {
  run_request request;
  std::string wrong;
};

/// The ranges are the configuration's (limits_test); these stand in for them.
chat_defaults some_bounds() {
  chat_defaults d;
  d.bound = [](std::string_view key) {
    limit_bound b;
    b.least = key == "timeoutMs" ? 1 : 0;
    b.most = key == "maxRounds" ? 500 : 1000;
    return b;
  };
  return d;
}

read_result read(std::string_view json, const chat_defaults& defaults = some_bounds()) {
  mcp::server::param_reader in(raw_json::own(json));
  read_result r{read_chat(in, defaults), ""};
  if (auto ok = in.finish(); !ok) r.wrong = ok.error().message;
  return r;
}

}  // namespace

TEST_CASE("G18: a request brings no more messages and tools of its own than the speaking thread reads at a time") {
  const auto list_of = [](int n, const std::function<std::string(int)>& one) {
    std::string all = "[";
    for (int i = 0; i < n; ++i) all += (i == 0 ? "" : ",") + one(i);
    return all + "]";
  };
  const auto message = [](int) { return std::string(R"({"role":"user","content":"a"})"); };
  const auto tool = [](int i) { return R"({"name":"t)" + std::to_string(i) + R"(","inputSchema":{"type":"object"}})"; };
  CHECK(read(R"({"messages":)" + list_of(16'384, message) + "}").wrong.empty());
  CHECK(read(R"({"messages":)" + list_of(16'385, message) + "}").wrong ==
        "params.messages: expected at most 16384 messages, got more");
  CHECK(read(R"({"input":"a","clientTools":)" + list_of(1'024, tool) + "}").wrong.empty());
  CHECK(read(R"({"input":"a","clientTools":)" + list_of(1'025, tool) + "}").wrong ==
        "params.clientTools: expected at most 1024 tools, got more");
}

TEST_CASE("E1: every field of a chat is checked and the error has its path and the expected form") {
  struct row {
    const char* params;
    const char* says;
  };
  const row rows[] = {
      {R"({})", "params: expected input (a string), messages (an array) or prompt (an object)"},
      {R"({"input":"a","messages":[]})", "params: expected either input or messages, got both"},
      {R"({"input":5})", "params.input: expected a string, got 5"},
      {R"({"input":" \n"})", "params.input: expected a question, got blanks only"},
      {R"({"messages":{}})", "params.messages: expected an array, got an object"},
      {R"({"messages":[]})", "params.messages: expected the last one to be of role user"},
      {R"({"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]})",
       "params.messages: expected the last one to be of role user"},
      {R"({"messages":[{"role":"user","content":"a"},{"role":"boss","content":"b"}]})",
       R"(params.messages[1].role: expected "system", "user", "assistant" or "tool", got "boss")"},
      {R"({"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"foo"}]}]})",
       R"(params.messages[0].content[1].type: expected "text", "image" or "file" in a message of role "user", got "foo")"},
      {R"({"messages":[{"role":"user","content":[{"type":"image"}]}]})",
       "params.messages[0].content[0]: expected data (base64) or url, which are strings, got an object"},
      {R"({"messages":[7]})", "params.messages[0]: expected an object with role and content, got 7"},
      {R"({"input":"a","model":7})", "params.model: expected a string, got 7"},
      {R"({"input":"a","model":""})", "params.model: expected the name of a model"},
      {R"({"input":"a","system":[]})", "params.system: expected a string, got an array"},
      {R"({"input":"a","tools":"x"})", "params.tools: expected an array, got \"x\""},
      {R"({"input":"a","tools":["x",1]})", "params.tools[1]: expected a string, got 1"},
      {R"({"input":"a","stream":"no"})", "params.stream: expected true or false, got \"no\""},
      {R"({"input":"a","run":""})", "params.run: expected a name"},
      {R"({"input":"a","run":"a\nb"})", "params.run: expected a name"},
      {R"({"input":"a","status":"loud"})", "params.status: expected \"off\", \"names\" or \"model\", got \"loud\""},
      {R"({"input":"a","status":"off","limits":{"status":"names"}})",
       R"(params.status: expected "names", which limits.status is, got "off"; leave out one of the two)"},
      {R"({"input":"a","limits":5})", "params.limits: expected an object, got 5"},
      {R"({"input":"a","limits":{"maxRounds":"ten"}})",
       "params.limits.maxRounds: expected an integer from 0 to 500, got \"ten\""},
      {R"({"input":"a","limits":{"maxRounds":-1}})",
       "params.limits.maxRounds: expected an integer from 0 to 500, got -1"},
      {R"({"input":"a","limits":{"maxRound":1}})",
       "params.limits: unknown member \"maxRound\" (did you mean \"maxRounds\"?)"},
      {R"({"input":"a","limits":{"timeoutMs":0}})",
       "params.limits.timeoutMs: expected an integer from 1 to 1000, got 0"},
      {R"({"input":"a","limits":{"onLimit":"explode"}})", "params.limits.onLimit: expected \"synthesize\" or \"stop\""},
      {R"({"input":"a","limits":{"onToolError":"go"}})",
       "params.limits.onToolError: expected \"continue\" or \"stop\""},
      {R"({"input":"a","limits":{"maxCalls":3,"maxCallsPerRound":4}})",
       "params.limits.maxCallsPerRound: expected at most maxCalls, which is 3, got 4"},
      {R"({"input":"a","tools":["x"],"limits":{"maxRounds":0}})",
       "params.limits.maxRounds: expected at least 1, because the request names tools"},
      {R"({"input":"a","clientTools":[{"name":"a","inputSchema":{"type":"object"}}],"limits":{"maxRounds":0}})",
       "params.limits.maxRounds: expected at least 1"},
      {R"({"input":"a","approve":"all","limits":{"approveDestructive":true}})",
       "params.limits.approveDestructive: expected false, because \"approve\" is \"all\""},
      {R"({"input":"a","approve":"all","limits":{"approveAfterOutput":true}})",
       "params.limits.approveAfterOutput: expected false"},
      {R"({"input":"a","limits":{"approveAfterOutput":1}})",
       "params.limits.approveAfterOutput: expected true or false, got 1"},
      {R"({"input":"a","limits":{"roundPrompts":"loud"}})",
       "params.limits.roundPrompts: expected \"implicit\" or \"progressive\", got \"loud\""},
      {R"({"input":"a","limits":{"roundPromptTexts":"x"}})", "params.limits.roundPromptTexts: expected an object"},
      {R"({"input":"a","limits":{"roundPromptTexts":{"fist":"x"}}})",
       "params.limits.roundPromptTexts: unknown member \"fist\" (did you mean \"first\"?)"},
      {R"({"input":"a","limits":{"statusModel":""}})", "params.limits.statusModel: expected the name of a model"},
      {R"({"input":"a","limits":{"guidance":5}})", "params.limits.guidance: expected true, false or a text, got 5"},
      {R"({"input":"a","limits":{"emptyResultText":""}})", "params.limits.emptyResultText: expected a text"},
      {R"({"input":"a","approve":"maybe"})", "params.approve: expected \"ask\", \"all\" or \"none\""},
      {R"({"input":"a","session":""})", "params.session: expected the id of a session, got \"\""},
      {R"({"input":"a","session":5})", "params.session: expected a string, got 5"},
      {R"({"session":"s","input":"a","messages":[]})", "params: expected either input or messages, got both"},
      {R"({"input":"a","profile":7})", "params.profile: expected a string, got 7"},
      {R"({"input":"a","profile":""})", "params.profile: expected the name of a profile"},
      {R"({"input":"a","profile":"p","model":"profile:q"})",
       "params.profile: expected either a profile or a model that is one, got both"},
      {R"({"input":"a","clientTools":{}})", "params.clientTools: expected an array"},
      {R"({"input":"a","clientTools":[{"name":"a b","inputSchema":{"type":"object"}}]})",
       "params.clientTools[0].name: the name \"a b\" must have 1 to 64 characters of [A-Za-z0-9_-]"},
      {R"({"input":"a","clientTools":[7]})", "params.clientTools[0]: expected an object, got 7"},
      {R"({"input":"a","clientTools":[{}]})", "params.clientTools[0].name: expected the name of the tool, got nothing"},
      {R"({"input":"a","clientTools":[{"name":7}]})", "params.clientTools[0].name: expected a string, got 7"},
      {R"({"input":"a","clientTools":[{"name":"mcpbx__x"}]})",
       "params.clientTools[0].name: the name \"mcpbx__x\" begins with"},
      {R"({"input":"a","clientTools":[{"name":"a"}]})",
       "params.clientTools[0].inputSchema: expected a JSON Schema of the type \"object\", got nothing"},
      {R"({"input":"a","clientTools":[{"name":"a","inputSchema":{"type":"string"}}]})",
       "params.clientTools[0].inputSchema.type: expected \"object\", got \"string\""},
      {R"({"input":"a","clientTools":[{"name":"a","inputSchema":{"type":"object"}},{"name":"a","inputSchema":{"type":"object"}}]})",
       "params.clientTools[1].name: the name \"a\" is there twice"},
      {R"({"messages":[{"role":"tool","content":[{"type":"tool_result","id":"c","result":{"content":[]}}]}]})",
       "params.messages: expected the last one to be of role user"},
      {R"({"input":"a","responseFormat":{}})", "params.responseFormat.type: expected \"text\""},
      {R"({"input":"a","responseFormat":"json"})", "params.responseFormat: expected an object, got \"json\""},
      {R"({"input":"a","responseFormat":{"type":"yaml"}})", "params.responseFormat.type: expected \"text\""},
      {R"({"input":"a","responseFormat":{"type":"json_schema"}})",
       "params.responseFormat.schema: expected a JSON Schema"},
      {R"({"input":"a","responseFormat":{"type":"json_schema","shcema":{}}})",
       "params.responseFormat: unknown member \"shcema\" (did you mean \"schema\"?)"},
      {R"({"input":"a","responseFormat":{"type":"json_schema","schema":{"properties":{"a":{"type":"nope"}}}}})",
       R"(params.responseFormat.schema.properties.a.type: expected "null", "boolean",)"},
      {R"({"input":"a","responseFormat":{"type":"json_schema","schema":{"properties":5}}})",
       "params.responseFormat.schema.properties: expected an object of schemas, got the number 5"},
      {R"({"input":"a","responseFormat":{"type":"json_schema","schema":{"required":"a"}}})",
       "params.responseFormat.schema.required: expected an array of strings, got the string \"a\""},
      {R"({"input":"a","responseFormat":{"type":"json_schema","schema":{"items":{"pattern":"("}}}})",
       "params.responseFormat.schema.items.pattern: expected a regular expression that can be checked"},
      {R"({"input":"a","responseFormat":{"type":"json_schema","schema":{"$ref":"http://127.0.0.1:9/x"}}})",
       "params.responseFormat.schema.$ref: expected a reference to a schema in the same document, got the string"},
      {R"({"input":"a","responseFormat":{"type":"json_schema","json_schema":{"schema":{"minProperties":"x"}}}})",
       "params.responseFormat.json_schema.schema.minProperties: expected an integer of at least 0, got the string "
       "\"x\""},
      {R"({"input":"a","responseFormat":{"type":"json_schema","schema":{"enum":[]}}})",
       "params.responseFormat.schema.enum: expected at least one value, because no answer fits an empty list, got []"},
      {R"({"input":"a","responseFormat":{"type":"json_schema","schema":{"type":"object","required":["u"],"properties":{"u":{"enum":[]}}}}})",
       "params.responseFormat.schema.properties.u.enum: expected at least one value"},
      {R"({"input":"a","responseFormat":{"type":"json_schema","json_schema":{"name":"n"}}})",
       "params.responseFormat.json_schema.schema: expected a JSON Schema"},
      {R"({"input":"a","detach":"yes"})", "params.detach: expected true or false, got \"yes\""},
      {R"({"run":"r-1","model":"m"})", "params: expected input (a string), messages (an array) or prompt (an object)"},
      {R"({"input":"a","modle":"x"})", "params: unknown member \"modle\" (did you mean \"model\"?)"},
      {R"({"input":"a","input":"b"})", "params.input: the member occurs twice"},
  };
  for (const auto& r : rows) {
    CAPTURE(r.params);
    const std::string wrong = read(r.params).wrong;
    CAPTURE(wrong);
    CHECK(wrong.starts_with(r.says));
  }
}

TEST_CASE("E1: a model that is not there is told by the path of the member that names it") {
  auto d = some_bounds();
  d.model = [](std::string_view name) {
    return name == "m" ? result<void>() : fail(errc::config, "there is no model \"" + std::string(name) + "\"");
  };
  CHECK(read(R"({"input":"a","model":"m","limits":{"statusModel":"m"}})", d).wrong == "");
  CHECK(read(R"({"input":"a","model":"x"})", d).wrong == "params.model: there is no model \"x\"");
  // Also where the status is not written by a model.
  CHECK(read(R"({"input":"a","status":"names","limits":{"statusModel":"x"}})", d).wrong ==
        "params.limits.statusModel: there is no model \"x\"");
}

TEST_CASE("a chat with everything becomes the request that says it") {
  const auto r =
      read(R"({"messages":[{"role":"system","content":"s"},{"role":"user","content":[{"type":"text","text":"q"}]}],
    "model":"m/x","system":"be brief","tools":["a__*","b"],"run":"r-1","stream":false,"approve":"all",
    "answers":true,"detach":false,"status":"off","limits":{"maxRounds":1,"maxCallsPerRound":2,"maxCalls":3,"maxConsecutiveErrors":0,"maxRepeatedCalls":5,"toolConcurrency":6,
    "timeoutMs":7,"questionTimeoutMs":8,"tokenBudget":9,"maxResultBytes":1000,"onLimit":"stop","onToolError":"stop",
    "status":"off","emptyResultText":"none","roundPrompts":"progressive","roundPromptTexts":{"first":"1","last":""},
    "guidance":"carefully"},"_meta":{}})");
  CHECK(r.wrong.empty());
  CHECK(r.request.messages.size() == 2);
  CHECK(r.request.model == "m/x");
  CHECK(r.request.system == "be brief");
  CHECK(r.request.tools.only == std::vector<std::string>{"a__*", "b"});
  CHECK(r.request.run == "r-1");
  CHECK(!r.request.stream);
  CHECK(r.request.answers);
  CHECK(!r.request.detach);
  const run_limits& l = r.request.limits;
  CHECK(l.max_rounds == 1);
  CHECK(l.max_calls_per_round == 2);
  CHECK(l.max_calls == 3);
  CHECK(l.max_consecutive_errors == 0);
  CHECK(l.max_repeated_calls == 5);
  CHECK(l.tool_concurrency == 6);
  CHECK(l.timeout_ms == 7);
  CHECK(l.question_timeout_ms == 8);
  CHECK(l.token_budget == 9);
  CHECK(l.max_result_bytes == 1000);
  CHECK(l.on_limit == limit_policy::stop);
  CHECK(l.on_tool_error == tool_error_policy::stop);
  CHECK(l.status == status_mode::off);
  CHECK(l.empty_result_text == "none");
  CHECK(l.round_prompts == round_prompt_mode::progressive);
  CHECK(l.round_texts.first == "1");
  CHECK_FALSE(l.round_texts.middle);
  CHECK(l.round_texts.last == "");
  CHECK(l.guidance.on);
  CHECK(l.guidance.text == "carefully");
  CHECK_FALSE(read(R"({"input":"a","limits":{"guidance":false}})").request.limits.guidance.on);
  CHECK_FALSE(read(R"({"input":"a","limits":{"guidance":""}})").request.limits.guidance.on);
}

TEST_CASE("E1: limits that only seem to contradict each other are taken") {
  auto d = some_bounds();
  d.bound = [](std::string_view key) {
    limit_bound b;
    if (key == "maxCalls") b.ceiling = 2;
    return b;
  };
  for (const char* params : {R"({"input":"a","tools":[],"limits":{"maxRounds":0}})",
                             R"({"input":"a","limits":{"maxCallsPerRound":60,"maxCalls":60}})",
                             R"({"input":"a","limits":{"maxCallsPerRound":60}})",
                             R"({"input":"a","approve":"all","limits":{"approveDestructive":false}})"})
    CHECK(read(params, d).wrong == "");
}

TEST_CASE("L19: what a request says of approvals and marks is the last word, in both directions") {
  for (const bool before : {false, true}) {
    chat_defaults d;
    d.base = [before](std::string_view, std::string_view) {
      chat_base b;
      b.limits.approve_destructive = b.limits.approve_after_output = b.limits.mark_results =
          b.limits.server_instructions = before;
      return result<chat_base>(std::move(b));
    };
    const auto all = [&](const std::string& limits) {
      const auto l = read(R"({"input":"a","limits":)" + limits + "}", d).request.limits;
      CHECK((l.approve_destructive == l.approve_after_output && l.approve_destructive == l.mark_results));
      CHECK(l.server_instructions == l.mark_results);
      return l.mark_results;
    };
    CHECK(all("{}") == before);
    CHECK_FALSE(all(
        R"({"approveDestructive":false,"approveAfterOutput":false,"markResults":false,"serverInstructions":false})"));
    CHECK(all(R"({"approveDestructive":true,"approveAfterOutput":true,"markResults":true,"serverInstructions":true})"));
  }
}

TEST_CASE("L4 L8: limits are those of the model and no request exceeds the ceiling") {
  chat_defaults d;
  d.base = [](std::string_view model, std::string_view) {
    chat_base b;
    b.limits.max_rounds = model == "big" ? 50 : 5;
    return result<chat_base>(std::move(b));
  };
  d.bound = [](std::string_view key) {
    limit_bound b;
    if (key == "maxRounds") b.ceiling = 20;
    b.zero_is_none = key == "tokenBudget" || key == "maxConsecutiveErrors" || key == "maxRepeatedCalls";
    if (key == "tokenBudget") b.ceiling = 1'000;
    if (key == "maxConsecutiveErrors") b.ceiling = 9;
    return b;
  };
  CHECK(read(R"({"input":"a"})", d).request.limits.max_rounds == 5);
  CHECK(read(R"({"input":"a","model":"big"})", d).request.limits.max_rounds == 20);
  CHECK(read(R"({"input":"a","limits":{"maxRounds":100000}})", d).request.limits.max_rounds == 20);
  CHECK(read(R"({"input":"a","limits":{"maxRounds":3}})", d).request.limits.max_rounds == 3);
  // None is more than any number.
  CHECK(read(R"({"input":"a"})", d).request.limits.token_budget == 1'000);
  CHECK(read(R"({"input":"a","limits":{"maxConsecutiveErrors":0}})", d).request.limits.max_consecutive_errors == 9);
  CHECK(read(R"({"input":"a","limits":{"maxRepeatedCalls":0}})", d).request.limits.max_repeated_calls == 0);
  CHECK(read(R"({"input":"a","limits":{"maxRounds":0}})", d).request.limits.max_rounds == 0);
}

TEST_CASE("L17: a session is named by its id, and may come without anything new to say") {
  CHECK(read(R"({"input":"a","session":"ses_1"})").request.session == "ses_1");
  const auto alone = read(R"({"session":"ses_1"})");
  CHECK(alone.wrong.empty());
  CHECK(alone.request.messages.empty());
  CHECK(read(R"({"input":"a"})").request.session.empty());
}

TEST_CASE(
    "a profile comes from the request, its model, or the connection, in this order, under what the request says") {
  auto d = some_bounds();
  d.base = [](std::string_view model, std::string_view profile) -> result<chat_base> {
    if (profile == "none") return fail(errc::invalid_argument, "there is no profile \"none\"");
    chat_base b;
    b.profile = profile;
    b.model = model.empty() ? "the profile's" : model;
    b.system = "be " + std::string(profile);
    b.allow = {"f*"};
    b.deny = {"*rm"};
    b.approve = {"*write"};
    b.limits.max_rounds = 4;
    return b;
  };
  const auto read_as = [&](std::string_view json, std::string_view usual) {
    mcp::server::param_reader in(raw_json::own(json));
    read_result r{read_chat(in, d, usual), ""};
    if (auto ok = in.finish(); !ok) r.wrong = ok.error().message;
    return r;
  };
  CHECK(read_as(R"({"input":"a"})", "").request.profile == "");
  CHECK(read_as(R"({"input":"a"})", "usual").request.profile == "usual");
  CHECK(read_as(R"({"input":"a","profile":"p"})", "").request.profile == "p");
  // A connection bound to a profile stays bound to it.
  CHECK(read_as(R"({"input":"a","profile":"p"})", "p").request.profile == "p");
  for (const auto* other : {R"({"input":"a","profile":"p"})", R"({"input":"a","model":"profile:p"})"})
    CHECK(read_as(other, "usual").wrong.find("expected the profile \"usual\"") != std::string::npos);
  const auto named = read_as(R"({"input":"a","model":"profile:q"})", "");
  CHECK(named.request.profile == "q");
  CHECK(named.request.model == "the profile's");
  CHECK(named.request.system == "be q");
  CHECK(named.request.tools.allow == std::vector<std::string>{"f*"});
  CHECK(named.request.tools.deny == std::vector<std::string>{"*rm"});
  CHECK(named.request.approve == std::vector<std::string>{"*write"});
  CHECK(named.request.limits.max_rounds == 4);
  const auto over =
      read_as(R"({"input":"a","profile":"p","model":"m","system":"mine","tools":["x"],"limits":{"maxRounds":2}})", "");
  CHECK(over.wrong == "");
  CHECK(over.request.model == "m");
  CHECK(over.request.system == "mine");
  CHECK(over.request.tools.only == std::vector<std::string>{"x"});
  CHECK(over.request.tools.allow == std::vector<std::string>{"f*"});
  CHECK(over.request.limits.max_rounds == 2);
  CHECK(read_as(R"({"input":"a","profile":"none"})", "").wrong == "params.profile: there is no profile \"none\"");
  CHECK(read_as(R"({"input":"a","model":"profile:none"})", "").wrong == "params.model: there is no profile \"none\"");
}

TEST_CASE("a response format is a schema, in our shape or in OpenAI's") {
  const auto schema_of = [](std::string_view format) {
    const auto r = read(R"({"input":"a","responseFormat":)" + std::string(format) + "}");
    CHECK(r.wrong == "");
    return std::string(r.request.answer_schema.text());
  };
  CHECK(schema_of(R"({"type":"text"})") == "");
  CHECK(schema_of(R"({"type":"json_object"})") == R"({"type":"object"})");
  CHECK(schema_of(R"({"type":"json_schema","schema":{"type": "array"}})") == R"({"type": "array"})");
  CHECK(schema_of(R"({"type":"json_schema","json_schema":{"name":"n","strict":true,"schema":{"type":"string"}}})") ==
        R"({"type":"string"})");
}

TEST_CASE("L18: a named request knows what it is like, whatever its stream, and whether it names a run only") {
  const auto likeness = [](const std::string& params) {
    const auto r = read(params);
    CHECK(r.wrong.empty());
    CHECK(!r.request.name_only);
    return r.request.likeness;
  };
  const auto first = likeness(R"({"run":"r","input":"a","model":"m"})");
  CHECK(first != 0);
  CHECK(
      likeness(R"({"model":"m","stream":false,"input":"a","detach":true,"run":"r","answers":false,"_meta":{"x":1}})") ==
      first);
  CHECK(likeness(R"({"run":"r","input":"a","model":"n"})") != first);
  CHECK(likeness(R"({"run":"r","input":"a"})") != first);
  CHECK(likeness(R"({"input":"a"})") == 0);
  for (const char* params : {R"({"run":"r"})", R"({"run":"r","stream":false})", R"({"detach":true,"run":"r"})"}) {
    const auto r = read(params);
    CHECK(r.wrong.empty());
    CHECK(r.request.name_only);
    CHECK(r.request.messages.empty());
  }
}

TEST_CASE("an empty list of tools means none of them") {
  const auto r = read(R"({"input":"a","tools":[]})");
  CHECK(r.wrong.empty());
  CHECK(r.request.tools.only == std::vector<std::string>{""});
}

TEST_CASE(
    "L19 G24: a request in a session keeps to the profile, the tools and the limits of what was asked there before") {
  auto defaults = some_bounds();
  defaults.base = [](std::string_view model, std::string_view profile) -> result<chat_base> {
    if (profile == "gone") return fail(errc::invalid_argument, "there is no profile \"gone\"");
    chat_base b;
    b.profile = profile;
    b.model = model.empty() && profile == "careful" ? "its" : std::string(model);
    if (profile == "careful") b.approve = {"s__put"};
    if (profile == "careful") b.deny = {"s__rm"};
    if (profile == "careful") b.system = "be careful";
    return b;
  };
  const run_terms terms{"careful", {"s__*"}, raw_json::literal(R"({"maxRounds":3,"maxCalls":7,"status":"off"})")};
  const auto kept = [&](std::string_view json) {
    auto r = read(json, defaults);
    REQUIRE(r.wrong == "");
    REQUIRE(r.request.keep_terms);
    REQUIRE(r.request.keep_terms(r.request, terms).has_value());
    return r.request;
  };
  const auto as_before = kept(R"({"session":"ses_1"})");
  CHECK((as_before.profile == "careful" && as_before.model == "its" && as_before.system == "be careful"));
  CHECK(as_before.approve == std::vector<std::string>{"s__put"});
  CHECK(as_before.tools.deny == std::vector<std::string>{"s__rm"});
  CHECK(as_before.tools.only == std::vector<std::string>{"s__*"});
  CHECK((as_before.limits.max_rounds == 3 && as_before.limits.max_calls == 7));
  CHECK(as_before.limits.status == status_mode::off);
  CHECK(as_before.asked_limits.text() == terms.limits.text());

  const auto nearer = kept(R"({"session":"ses_1","input":"a","model":"m","system":"s","tools":["x"],"approve":"none",)"
                           R"("status":"names","limits":{"maxRounds":9}})");
  CHECK((nearer.profile == "careful" && nearer.model == "m" && nearer.system == "s"));
  CHECK(nearer.tools.only == std::vector<std::string>{"x"});
  CHECK((nearer.limits.max_rounds == 9 && nearer.limits.max_calls == 7));
  CHECK((nearer.limits.approve == approval_mode::none && nearer.limits.status == status_mode::names));
  CHECK(find_member(nearer.asked_limits, "maxRounds").as_integer() == 9);
  CHECK(find_member(nearer.asked_limits, "maxCalls").as_integer() == 7);
  CHECK(nearer.messages.size() == 1);

  auto gone = read(R"({"session":"ses_1","input":"a"})", defaults).request;
  CHECK(gone.keep_terms(gone, {"gone", {}, {}}).error().message ==
        "params.session: the session ses_1 has the profile \"gone\", and there is no profile \"gone\"; name another "
        "one to go on with it");
}

TEST_CASE("E1: a system prompt of a profile that cannot be read is told to a request that has none of its own") {
  auto defaults = some_bounds();
  defaults.base = [](std::string_view, std::string_view profile) {
    chat_base b;
    b.profile = profile;
    b.deny = {"x"};
    b.system = fail(errc::config, "profiles.p.system: MCPBX_A is not set");
    return result<chat_base>(std::move(b));
  };
  CHECK(read(R"({"input":"a","profile":"p"})", defaults).wrong ==
        "params.profile: profiles.p.system: MCPBX_A is not set");
  const auto own = read(R"({"input":"a","profile":"p","system":"mine"})", defaults);
  CHECK(own.wrong.empty());
  CHECK(own.request.system == "mine");
  CHECK(own.request.tools.deny == std::vector<std::string>{"x"});
}

TEST_CASE("L19: a request that names a profile, or begins a session, stands for itself") {
  CHECK_FALSE(read(R"({"session":"ses_1","input":"a","profile":"other"})").request.keep_terms);
  CHECK_FALSE(read(R"({"session":"ses_1","input":"a","model":"profile:other"})").request.keep_terms);
  const auto first = read(R"({"input":"a","limits":{"maxRounds":2}})").request;
  CHECK_FALSE(first.keep_terms);
  CHECK(first.asked_limits.text() == R"({"maxRounds":2})");
}

TEST_CASE("G17: the patterns of a request are bounded in number and in length") {
  const auto refusal = [](const std::string& tools) { return read(R"({"input":"a","tools":[)" + tools + "]}").wrong; };
  std::string many = "\"x\"";
  for (int i = 0; i < 256; ++i) many += ",\"*a\"";
  CHECK(refusal(many) == "params.tools: expected at most 256 patterns, got 257; * stands for any characters");
  CHECK(refusal("\"" + std::string(257, 'a') + "\"") ==
        "params.tools: expected patterns of at most 256 bytes, got a longer one");
}

TEST_CASE("E3: a chat takes the trace of _meta, and one that is wrong is no error and no other request") {
  const std::string parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const auto with = [](const std::string& meta) { return read(R"({"input":"q","run":"r","_meta":)" + meta + "}"); };
  const auto good = with(R"({"traceparent":")" + parent + R"(","tracestate":"a=1","other":[1]})");
  CHECK(good.wrong.empty());
  CHECK(good.request.trace == trace_context{parent, "a=1"});
  for (const std::string wrong : {"{}", "[]", "7", R"({"traceparent":"t"})", R"({"traceparent":7,"tracestate":{}})",
                                  R"({"tracestate":"a=1"})", R"({"traceparent":["x"]})"}) {
    const auto r = with(wrong);
    CHECK_MESSAGE(r.wrong.empty(), wrong);
    CHECK_MESSAGE(r.request.trace == trace_context(), wrong);
    CHECK(r.request.likeness == good.request.likeness);
  }
  const auto attached = read(R"({"run":"r","_meta":{"traceparent":")" + parent + "\"}}");
  CHECK(attached.request.name_only);
}
