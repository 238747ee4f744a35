// The formats as handlers (F3), and what each parser promises beside the vectors: nothing is shown that is a mark, what
// is made up is dropped, what cannot be read is said.
#include "test/providers/text/every_step.hpp"
#include "test/support/contains.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::test;
using mcpbx::providers::text::find_format;
using mcpbx::providers::text::formats;

TEST_CASE("F3: each format tells the model the tools with their schemas, one call, then to stop") {
  CHECK(formats().size() == 11);
  for (const auto* format : formats()) {
    CAPTURE(std::string(format->name()));
    const auto prompt = format->prompt(*vector_tools());
    for (const auto& tool : vector_tools()->tools) {
      CHECK(contains(prompt, tool.name));
      CHECK(contains(prompt, tool.schema.text()));
    }
    CHECK(contains(prompt, "stop"));
    CHECK(prompt == format->prompt(*vector_tools()));
    CHECK(find_format(format->name()) == format);
  }
  CHECK(find_format("native") == nullptr);
}

TEST_CASE("F3: ReAct's stop sequence is configured, the tagged formats need none") {
  const auto stops = find_format("react")->stop_sequences();
  REQUIRE(stops.size() == 1);
  CHECK(stops[0] == "\nObservation:");
  for (const auto* name :
       {"hermes", "qwen3-coder", "llama3", "mistral", "xml", "glm", "harmony", "deepseek", "gemma", "minimax"})
    CHECK(find_format(name)->stop_sequences().empty());
}

TEST_CASE("F3: each format reads the calls that it writes") {
  providers::tool_call_block call;
  call.name = "write_file";
  call.arguments = raw_json::literal(R"({"path":"a <b> & \"c\"","content":"x\n</parameter> ]]> } Observation: y\n"})");
  for (const auto* format : formats()) {
    CAPTURE(std::string(format->name()));
    const auto got = parse_text(format->name(), format->call(call));
    REQUIRE(got.reply.calls.size() == 1);
    CHECK(got.reply.calls[0].name == "write_file");
    CHECK(got.reply.calls[0].arguments.text() == call.arguments.text());
    CHECK(got.visible().empty());
  }
}

TEST_CASE("F3: a result cannot end the marks around it") {
  CHECK(find_format("react")->result("t", "21 degrees") == "Observation: 21 degrees");
  const auto hermes = find_format("hermes")->result("t", "x</tool_response>y");
  CHECK(hermes == "<tool_response>\nx<\\/tool_response>y\n</tool_response>");
  CHECK(find_format("glm")->result("t", "x</tool_response>y") == hermes);
  CHECK(contains(find_format("xml")->result("t", "x</output>y"), "x<\\/output>y</output>"));
  CHECK(find_format("harmony")->result("t", "x<|end|>y") ==
        "<|start|>functions.t to=assistant<|channel|>commentary<|message|>x<\\|end|>y<|end|>");
  CHECK(contains(find_format("deepseek")->result("t", "x</result>y"), "x<\\/result>y</result>"));
  CHECK(contains(find_format("gemma")->result("t", "x<|\"|>}<tool_response|>y"),
                 "x<\\|\"|\\>}<tool_response|\\>y<|\"|>}"));
  CHECK(find_format("minimax")->result("t", "x</tool_response>y") == hermes);
}

TEST_CASE("F4: the format of a model follows its id") {
  using mcpbx::providers::text::format_of_model;
  CHECK(format_of_model("qwen3-coder:30b").name() == "qwen3-coder");
  CHECK(format_of_model("Qwen/Qwen2.5-7B-Instruct").name() == "hermes");
  CHECK(format_of_model("NousResearch/Hermes-3-Llama-3.1-8B").name() == "hermes");
  CHECK(format_of_model("meta-llama/Llama-3.3-70B-Instruct").name() == "llama3");
  CHECK(format_of_model("mistral-small").name() == "mistral");
  CHECK(format_of_model("gemma-3").name() == "react");
  CHECK(format_of_model("openai/gpt-oss-120b").name() == "harmony");
  CHECK(format_of_model("deepseek-ai/DeepSeek-V3.2-Exp").name() == "deepseek");
  CHECK(format_of_model("DeepSeek-V4-Flash").name() == "deepseek");
  CHECK(format_of_model("deepseek-r1:8b").name() == "react");
  CHECK(format_of_model("gemma4:e4b").name() == "gemma");
  CHECK(format_of_model("google/gemma-4-31b-it").name() == "gemma");
  CHECK(format_of_model("MiniMaxAI/MiniMax-M3").name() == "minimax");
  for (const auto* id :
       {"zai-org/GLM-4.5-Air", "glm-4.6", "glm-4.7-flash:q4_K_M", "glm4.6", "GLM-5", "glm-5.1", "glm-5p2"})
    CHECK(format_of_model(id).name() == "glm");
  // Earlier models write their calls in other ways.
  for (const auto* id :
       {"glm-4-9b-chat", "THUDM/GLM-4-32B-0414", "glm-4.1v-thinking", "chatglm3-6b", "chatglm-6b", "glm-130b"})
    CHECK(format_of_model(id).name() == "react");
}

TEST_CASE("F5: the failure that started it all: words, a call as <tool_call>, no mark is seen") {
  const std::string response =
      "Done. Next I'm going to delete...\n<tool_call>\n{\"name\":\"delete_user_attribute\",\"arguments\":{\"query\":"
      "\"qwen\"}}\n</tool_call>";
  for (const auto* format : formats()) {
    CAPTURE(std::string(format->name()));
    CHECK_FALSE(contains(format->sanitize(response), "tool_call"));
    CHECK(contains(format->sanitize(response), "Done. Next I'm going to delete..."));
    // And it is a call, whichever format was asked for.
    const auto got = parse_text(format->name(), response);
    CHECK(got.calls() == R"(delete_user_attribute{"query":"qwen"})");
    CHECK((got.reply.forms & providers::text::marks::form_tool_call) != 0);
  }
}

TEST_CASE("F8: a tool's name behind a namespace is the tool's in every format, and an argument's name is kept whole") {
  for (const std::string name :
       {"functions.list_all", "default_api.list_all", "tools.list_all", "`functions.list_all`"}) {
    CAPTURE(name);
    CHECK(parse_text("hermes", R"(<tool_call>{"name":")" + name + R"(","arguments":{}}</tool_call>)").calls() ==
          "list_all{}");
    CHECK(parse_text("react", "Action: " + name + "\nAction Input: {}").calls() == "list_all{}");
    CHECK(parse_text("xml", "<function_calls><invoke name=\"" + name + "\"></invoke></function_calls>").calls() ==
          "list_all{}");
  }
  const auto got =
      parse_text("qwen3-coder",
                 "<tool_call>\n<function=other>\n<parameter=functions.a>\nx\n</parameter>\n</function>\n</tool_call>");
  CHECK(got.calls() == R"(other{"functions.a":"x"})");
}

TEST_CASE("F5: sanitizing removes all marks of a reply") {
  const auto* react = find_format("react");
  CHECK(trimmed(react->sanitize("Thought: x\nAction: t\nAction Input: {}\nObservation: y")).empty());
  CHECK(trimmed(react->sanitize(
            "Thought: x\nFinal Answer: yes <tool_call>{\"name\":\"t\",\"arguments\":{}}</tool_call>")) == "yes");
  CHECK(trimmed(find_format("hermes")->sanitize("a<|im_end|>")) == "a");
}

TEST_CASE("F7: an answer is one, also with an Observation behind it that does not count") {
  const std::string reply = "Thought: t\nFinal Answer: 12\nObservation: nothing";
  for (std::size_t step = 1; step <= reply.size(); ++step) {
    const auto got = parse_text("react", reply, step);
    CHECK(got.visible() == "12");
    CHECK(got.reply.calls.empty());
    CHECK(trimmed(got.thoughts) == "t");
  }
}

TEST_CASE("F5: the line break that ends a thought is no reasoning of its own behind the answer") {
  struct deltas final : providers::text::marks::parse_sink {
    std::string all;
    char last = 0;
    void add(char kind, std::string_view delta) {
      if (std::exchange(last, kind) != kind) all += kind;
      all += delta;
    }
    void on_text(std::string_view delta) override { add('t', delta); }
    void on_reasoning(std::string_view delta) override { add('r', delta); }
  };
  for (const auto& [raw, all] : std::vector<std::pair<std::string_view, std::string_view>>{
           {"Thought: I know.\nFinal Answer: 4", "r I know.t4"},
           {"Thought: I know.\n\nIt is 4. \n\nFinal Answer: 4", "r I know.\n\nIt is 4.t4"},
           {"Thought: I know.\nAction: list_all\nAction Input: {}", "r I know."}}) {
    CAPTURE(raw);
    deltas got;
    const auto parser =
        providers::text::find_format("react")->make_parser(providers::text::marks::offered_tools(vector_tools()), {});
    parser->feed(raw, got);
    parser->finish(got);
    CHECK(got.all == all);
  }
}

TEST_CASE("F6: what cannot be read becomes a problem for the model, and as a last resort text without marks") {
  struct row {
    std::string_view format, raw, why;
  };
  const row rows[] = {
      {"hermes", R"(<tool_call>{"nme": "x"}</tool_call>)", "no \"name\""},
      {"hermes", R"(<tool_call>{"name": "search", "query": "x"}</tool_call>)", "no \"arguments\""},
      {"hermes", R"(<tool_call>{"name": "search", "arguments": {"query": "a "b" c"}}</tool_call>)", "not escaped"},
      {"hermes", R"(<tool_call>{"name": "add", "arguments": [1, 2]}</tool_call>)", "not a JSON object"},
      {"llama3", R"(<|python_tag|>add(1, 2))", "no names"},
      {"react", "Thought: I know it, it is 4.", "neither an Action nor a Final Answer"},
      {"react", "Action: add\nAction Input: {\"a\": 1, b}", "colon is missing"},
      {"mistral", R"([TOOL_CALLS][])", "list is empty"},
      {"mistral", R"([TOOL_CALLS]{"query": "a"})", "no \"name\""},
      {"mistral", R"([TOOL_CALLS][ARGS]{"query": "a"})", "no name"},
      {"mistral", R"([TOOL_CALLS][CALL_ID]search[ARGS]{"query": "a"})", "no name"},
      {"mistral", R"([ARGS]{"query": "a"})", "no name"},
      {"glm", "<tool_call>search\n<arg_key>query</arg_key>\nx</arg_value>\n</tool_call>", "before a value is missing"},
      {"glm", "<tool_call>search<arg_key>query</arg_key>arg_value>x</arg_value></tool_call>", "value is damaged"},
  };
  for (const auto& r : rows) {
    CAPTURE(r.raw);
    const auto got = parse_text(r.format, r.raw);
    REQUIRE(got.reply.calls.size() == 1);
    CHECK_MESSAGE(contains(got.reply.calls[0].problem, r.why), got.reply.calls[0].problem);
    CHECK(got.reply.calls[0].arguments.empty());
    CHECK(got.visible().empty());
    const auto last = parse_text(r.format, r.raw, 1, {.show_unreadable = true});
    CHECK(last.reply.calls.empty());
    CHECK_FALSE(last.visible().empty());
    for (const auto& mark : marks_of(r.format)) CHECK_FALSE_MESSAGE(contains(last.text, mark), mark);
  }
}

TEST_CASE("F6: a Mistral call behind which an object without a name follows is refused, and told as one") {
  for (const std::string_view raw : {R"([TOOL_CALLS]search[ARGS]{"query": "a"}{"limit": 3})",
                                     R"([TOOL_CALLS]search[ARGS]{"query": "a"} [ARGS] {"limit": 3})",
                                     R"([TOOL_CALLS][{"name": "search", "arguments": {"query": "a"}}]{"limit": 3})"}) {
    CAPTURE(raw);
    const auto got = parse_at_every_step("mistral", raw);
    CHECK(got.calls().empty());
    CHECK(got.visible().empty());
    REQUIRE(got.reply.calls.size() == 2);
    CHECK(contains(got.reply.calls[0].problem, "what follows it may be some of its arguments"));
    CHECK(got.reply.calls[0].arguments.empty());
  }
  // A call with a mark of its own is another one.
  CHECK(parse_text("mistral",
                   R"([TOOL_CALLS]list_all[ARGS]{}[TOOL_CALLS]{"name": "search", "arguments": {"query": "a"}})", 1)
            .calls() == R"(list_all{} search{"query": "a"})");
}

TEST_CASE("F5: ReAct's marks in quotes and in items of lists are text, are not run and take nothing away") {
  for (const std::string item : {"> ", "- ", "* ", "+ ", "1. ", "\xE2\x80\xA2 ", "  - ", ">", "  *\t"}) {
    CAPTURE(item);
    const auto shown = item + "Thought: x\n" + item + "Action: search\n" + item + "Action Input: {\"query\": \"a\"}\n" +
                       item + "Observation: y\n" + item + "Final Answer: z";
    // Without any mark of its own all of it is the answer; behind a final answer too.
    for (const std::string begin : {"", "Final Answer: "}) {
      const auto got = parse_text("react", begin + "So:\n" + shown);
      CHECK(got.reply.calls.empty());
      CHECK_FALSE(got.reply.incomplete);
      CHECK(got.visible() == "So:\n" + shown);
      for (const std::size_t step : {1U, 2U, 3U, 7U})
        CHECK(parse_text("react", begin + "So:\n" + shown, step).str() == got.str());
    }
    // In a thought it is a part of that, and the action that stands for itself is the one that counts.
    const auto acts = parse_text("react", "Thought: either\n" + shown + "\nAction: list_all\nAction Input: {}", 1);
    CHECK(acts.calls() == "list_all{}");
    CHECK(acts.visible().empty());
    // With no action and no answer of its own it is told the model, and nobody sees half of it.
    const auto lost = parse_text("react", "Thought: either\n" + item + "Action: search", 1);
    CHECK(lost.calls().empty());
    CHECK(lost.visible().empty());
    REQUIRE(lost.reply.calls.size() == 1);
    CHECK(contains(lost.reply.calls[0].problem, "neither an Action nor a Final Answer"));
  }
}

TEST_CASE("F4: beside native calls only marked calls count, and JSON that is the whole reply") {
  const providers::text::marks::parser_options native{.untagged = providers::text::marks::parser_options::bare::alone};
  const auto run = [&](std::string_view raw) { return parse_text("hermes", raw, 1, native); };
  CHECK(run(R"({"name": "get_weather", "arguments": {"city": "Rome"}})").calls() == R"(get_weather{"city": "Rome"})");
  const auto* example =
      "For example:\n```json\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Rome\"}}\n```\n";
  CHECK(run(example).calls().empty());
  CHECK(run(example).text == example);
  CHECK(run("<tool_call>{\"name\": \"list_all\"}</tool_call>").calls() == "list_all{}");
}

TEST_CASE(
    "F5: a call that cannot be read is hidden and told to the model, wherever its mark stands, with native tools too") {
  const providers::text::marks::parser_options native{.untagged = providers::text::marks::parser_options::bare::alone};
  for (const std::string_view raw :
       {"Done. <tool_call>\nname: search\narguments:\n  query: 1+1\n</tool_call>",
        "Done.\n<tool_call>\nname: search\narguments:\n  query: 1+1\n</tool_call>",
        "Done. <invoke name=\"search\"><query>a</query></invoke>", "Done.\n<function=search>query=a</function>",
        "Done. <function_calls><invoke name=search><query>a</query></invoke></function_calls>",
        "Done. [TOOL_CALLS]search[ARG]{\"query\": \"a\"}", "Done. [TOOL_CALLS]search[ARGS]query=a"})
    for (const auto& options : {native, providers::text::marks::parser_options{}}) {
      CAPTURE(raw);
      const auto got = parse_text("hermes", raw, std::string_view::npos, options);
      CHECK(got.visible() == "Done.");
      REQUIRE(got.reply.calls.size() == 1);
      CHECK_FALSE(got.reply.calls[0].problem.empty());
      for (const std::size_t step : {1U, 2U, 3U, 7U})
        CHECK(parse_text("hermes", raw, step, options).str() == got.str());
      // As a last resort its words, without the marks.
      const auto last = parse_text("hermes", raw, 1, {.show_unreadable = true});
      CHECK(last.reply.calls.empty());
      for (const std::string_view word : {"Done.", "search"}) CHECK(contains(last.text, word));
      for (const auto& mark : marks_of("hermes")) CHECK_FALSE_MESSAGE(contains(last.text, mark), mark);
    }
  CHECK(parse_text("hermes", "Done. [TOOL_CALLS]search(query=\"a\")", 1).calls() == R"(search{"query":"a"})");
  // Nor is what is only spoken about held back for ever.
  for (const std::string_view raw :
       {"The mark <tool_call> begins a search, </tool_call> ends it.", "Write <invoke name=\"x\"> then </invoke>.",
        "The mark [TOOL_CALLS] comes before search."})
    for (const auto& options : {native, providers::text::marks::parser_options{}})
      CHECK(parse_text("hermes", raw, 1, options).calls().empty());
  CHECK(parse_text("hermes", "The mark <tool_call> begins a search, </tool_call> ends it.", 1).text ==
        parse_text("hermes", "The mark <tool_call> begins a search, </tool_call> ends it.").text);
  parsed_text early;
  const auto parser = find_format("hermes")->make_parser(providers::text::marks::offered_tools(vector_tools()), {});
  parser->feed("A <tool_call> is " + std::string(300, 'x') + " and so on", early);
  CHECK(contains(early.text, "and so"));
}

TEST_CASE("F5: text that is no call comes out byte for byte") {
  for (const std::string_view raw : {"", " ", "\n\n", "a  b\n", "1 < 2 && 3 > 2", "```\ncode\n```\n",
                                     "`x` [a](b) {c} <d>", "# T\n\n- a\n- b\n", "\xC3\xA4\n"})
    for (const auto* format : formats()) {
      CAPTURE(std::string(format->name()));
      CHECK(parse_text(format->name(), raw, 1).text == raw);
    }
}

TEST_CASE("F6: arguments that were written over several lines leave on one, in every form") {
  const std::string_view rows[][2] = {
      {"hermes",
       "<tool_call>\n{\n  \"name\": \"batch\",\n  \"arguments\": {\n    \"items\": [\n1\n]\n  }\n}\n</tool_call>"},
      {"hermes", "<tool_call>{\"name\": \"batch\", \"arguments\": {\"items\": \"[\\n1\\n]\"}}</tool_call>"},
      {"qwen3-coder", "<function=batch>\n<parameter=items>\n[\n  1\n]\n</parameter>\n</function>"},
      {"glm", "<tool_call>batch\n<arg_key>items</arg_key>\n<arg_value>[\n  1\n]</arg_value>\n</tool_call>"},
      {"llama3", "[batch(items=[\n1\n])]"},
      {"mistral", "[TOOL_CALLS]batch[ARGS]{\n\"items\": [\n1]}"},
      {"react", "Action: batch\nAction Input: {\n  \"items\": [\n    1\n  ]\n}"},
  };
  for (const auto& row : rows) {
    CAPTURE(row[1]);
    const auto got = parse_text(row[0], row[1]);
    REQUIRE(got.reply.calls.size() == 1);
    const auto text = got.reply.calls[0].arguments.text();
    CHECK(contains(text, "items"));
    CHECK(contains(text, "1"));
    CHECK(text.find_first_of("\r\n") == std::string_view::npos);
  }
}

TEST_CASE("F10: many blanks behind a mark are judged alike at every split") {
  for (const std::size_t many : {255U, 256U, 257U, 300U, 600U}) {
    const std::string blanks(many, ' ');
    for (const auto& raw :
         {"<invoke name=\"search\"><parameter name=\"query\">x</parameter>" + blanks + "y</parameter></invoke>",
          "<function=search><parameter=query>x</parameter>" + blanks + "</function>",
          "<function=search><parameter=query>x</function>" + blanks + "y</parameter></function>",
          "<tool_call>search" + blanks + "<arg_key>query</arg_key><arg_value>x</arg_value></tool_call>",
          "<tool_call>search" + blanks + "{\"query\": \"x\"}</tool_call>",
          "<tool_call>search<arg_key>query</arg_key>" + blanks + "<arg_value>x</arg_value></tool_call>",
          "<tool_call>search<arg_key>query</arg_key><arg_value>x</arg_value>" + blanks + "y</arg_value></tool_call>",
          "<tool_call>search<arg_key>query</arg_key><arg_value>x</arg_value>" + blanks + "</tool_call>"})
      for (const std::size_t step : {1U, 7U, 100U}) {
        CAPTURE(many);
        CAPTURE(raw);
        CHECK(parse_text("hermes", raw, step).str() == parse_text("hermes", raw).str());
      }
  }
}

TEST_CASE("F6: members beside the arguments that are said again and again change nothing") {
  std::string many;
  for (int i = 0; i < 1000; ++i) many += R"("id": "x", "index": 0, "type": "function", )";
  CHECK(parse_text("hermes", "<tool_call>{" + many + R"("name": "list_all"})" + "</tool_call>").calls() ==
        "list_all{}");
}

}  // namespace
