// Calls that come as text although the tools were sent as the API has it: only what can be nothing else is one.
#include "test/providers/text/every_step.hpp"
#include "test/support/contains.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace mcpbx;
using namespace mcpbx::test;

constexpr providers::text::marks::parser_options native{.untagged =
                                                            providers::text::marks::parser_options::bare::alone};
const std::string rome = R"({"name": "get_weather", "arguments": {"city": "Rome"}})";

// The same at every split, and what is shown is all of it where nothing is a call.
parsed_text parse_native(const std::string& raw) {
  CAPTURE(raw);
  const auto got = parse_at_every_step("hermes", raw, native);
  if (got.reply.calls.empty()) CHECK(got.text == raw);
  return got;
}

TEST_CASE("F4: beside native calls a fenced JSON call that is the whole reply is one, and so is a list of them") {
  for (const std::string& raw :
       {"```json\n" + rome + "\n```", "```\n" + rome + "\n```\n", "\n```tool_call\n" + rome + "```",
        std::string("```json\n{\"name\": \"get_weather\", \"parameters\": {\n \"city\": \"Rome\"\n}}\n```<|im_end|>"),
        "<think>Rome.</think>\n```json\n" + rome + "\n```"}) {
    CAPTURE(raw);
    const auto got = parse_native(raw);
    REQUIRE(got.reply.calls.size() == 1);
    CHECK(got.reply.calls[0].name == "get_weather");
    CHECK(got.reply.calls[0].problem.empty());
    CHECK(contains(got.reply.calls[0].arguments.text(), "Rome"));
    CHECK(got.visible().empty());
    CHECK(got.reply.forms == providers::text::marks::form_bare);
  }
  const auto list =
      parse_native("```json\n[" + rome + ", {\"name\": \"search\", \"arguments\": {\"query\": \"a\"}}]\n```");
  CHECK(list.calls() == R"(get_weather{"city": "Rome"} search{"query": "a"})");
}

TEST_CASE("F4: beside native calls fenced JSON that other text stands around, or that is no call, is text") {
  const std::string fenced = "```json\n" + rome + "\n```";
  for (const std::string& raw :
       {"For example:\n" + fenced, fenced + "\nThis calls it.", fenced + " is a call.", fenced + "\n" + fenced,
        "```json\n" + rome + "\n" + rome + "\n```", "```json\n" + rome, "```json\n" + rome + "\n",
        "```json\n" + rome + "\n// x\n```", "```json\n// x\n" + rome + "\n```", "```python\n" + rome + "\n```",
        std::string("```json\n{\"name\": \"get_weather\"}\n```"),
        std::string("```json\n{\"name\": \"no_tool\", \"arguments\": {\"city\": \"Rome\"}}\n```"),
        std::string("```json\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Rome\"}, \"note\": 1}\n```"),
        std::string("```json\n{\"name\": \"get_weather\", \"arguments\": {\"ci"),
        std::string("```json\n[") + rome + ", {\"name\": \"no_tool\", \"arguments\": {}}]\n```",
        std::string("```\n[get_weather(city=\"Rome\")]\n```"), std::string("```json\n{\"city\": \"Rome\"}\n```\n")}) {
    CAPTURE(raw);
    const auto got = parse_native(raw);
    CHECK(got.reply.calls.empty());
    CHECK_FALSE(got.reply.incomplete);
    CHECK(got.text == raw);
  }
  // It is held back no longer than it may be a call.
  parsed_text early;
  const auto parser = providers::text::find_format("hermes")->make_parser(
      providers::text::marks::offered_tools(vector_tools()), native);
  parser->feed("```json\n{\"city\": \"Ro", early);
  CHECK(early.text == "```json\n{\"city\": \"Ro");
}

TEST_CASE("F4: beside native calls a ReAct call that ends the reply is one") {
  struct row {
    std::string raw, shown;
  };
  for (const auto& [raw, shown] :
       {row{"Action: get_weather\nAction Input: {\"city\": \"Rome\"}", ""},
        row{"Thought: I need it.\nAction: get_weather\nAction Input: {\"city\": \"Rome\"}\n", "Thought: I need it."},
        row{"Action: wait\nAction:get_weather \nAction Input:{\n\"city\": \"Rome\"\n}\n\n", "Action: wait"},
        row{"<think>x</think>\nAction: get_weather\r\nAction Input: {\"city\": \"Rome\"}", ""}}) {
    CAPTURE(raw);
    const auto got = parse_native(raw);
    REQUIRE(got.reply.calls.size() == 1);
    CHECK(got.reply.calls[0].name == "get_weather");
    CHECK(contains(got.reply.calls[0].arguments.text(), "Rome"));
    CHECK(got.visible() == shown);
    CHECK(got.reply.forms == providers::text::marks::form_react);
  }
  // An object that cannot be read is told to the model.
  const auto bad = parse_native("Action: add\nAction Input: {\"a\": 1, b}");
  REQUIRE(bad.reply.calls.size() == 1);
  CHECK_FALSE(bad.reply.calls[0].problem.empty());
  CHECK(bad.visible().empty());
  const auto last = parse_text("hermes", "Action: add\nAction Input: {\"a\": 1, b}", 1,
                               {.untagged = native.untagged, .show_unreadable = true});
  CHECK(last.reply.calls.empty());
  CHECK(last.visible() == "{\"a\": 1, b}");
}

TEST_CASE("F7: beside native calls what a model makes up behind its ReAct call is dropped, and the call is one") {
  const std::string call = "Action: get_weather\nAction Input: {\"city\": \"Rome\"}";
  for (const std::string& made_up :
       {std::string("\nObservation: 21\nFinal Answer: fake"), std::string("\n\n**Observation:** 21"),
        "\nFinal Answer: fake\n" + call, "\r\n observation: 21\nThought: so\n" + call}) {
    const auto got = parse_native("Thought: I need it.\n" + call + made_up);
    CHECK(got.calls() == R"(get_weather{"city": "Rome"})");
    CHECK(got.reply.calls.size() == 1);
    CHECK(got.visible() == "Thought: I need it.");
    CHECK(got.stopped);
    CHECK(got.counted == std::string("Thought: I need it.\n" + call).size());
    CHECK(got.reply.forms == providers::text::marks::form_react);
  }
}

TEST_CASE("F4: beside native calls a ReAct call in another shape, or that anything follows, is text") {
  const std::string call = "Action: get_weather\nAction Input: {\"city\": \"Rome\"}";
  for (const std::string& raw :
       {call + "\nThat is how.",
        call + " is how.",
        call + " Observation: 21",
        call + "\nObservations: 21",
        call + "\n" + call,
        "- " + call,
        "> " + call,
        "```\n" + call + "\n```",
        "```\n" + call,
        "`<x> " + call,
        std::string("Action: get_weather\n\nAction Input: {}"),
        std::string("Action: no_tool\nAction Input: {}"),
        std::string("Action: get_weather\nAction Input: Rome"),
        std::string("Action: get_weather\nAction Input: {\"city\": \"Ro"),
        std::string("Action: get_weather"),
        std::string("Action: get_weather now\nAction Input: {}"),
        std::string("Action: "),
        std::string("Act"),
        "See: " + call,
        std::string("Action: get_weather\nAction Input: {the arguments}\nObservation: the result"),
        std::string("Action: no_tool\nAction Input: {}\nObservation: 21"),
        "```\n" + call + "\nObservation: 21\n```",
        "- " + call + "\nObservation: 21",
        call + "\n> Observation: 21",
        std::string("Action: get_weather\nInput: {}")}) {
    CAPTURE(raw);
    const auto got = parse_native(raw);
    CHECK(got.reply.calls.empty());
    CHECK(got.text == raw);
  }
  // Nor in a call of another form, whose value it is.
  const auto value = parse_text("hermes", "<function=search>\n<parameter=query>\n" + call, 1, native);
  CHECK(value.calls().empty());
  CHECK(parse_text("hermes", "<function=search>\n<parameter=query>\n" + call + "\n</parameter>\n</function>", 1, native)
            .reply.calls.size() == 1);
  CHECK(parse_text("hermes", "<tool_call>{\"name\": \"list_all\"}</tool_call>\n" + call, 1, native).calls() ==
        "list_all{}");
  CHECK(parse_text("hermes", "<think>\n" + call, 1, native).calls().empty());
  // It is held back no longer than it may be a call.
  parsed_text early;
  const auto parser = providers::text::find_format("hermes")->make_parser(
      providers::text::marks::offered_tools(vector_tools()), native);
  parser->feed("Action: we sh", early);
  CHECK(early.text == "Action: we sh");
  parser->feed("all\n" + call + "\nx", early);
  CHECK(early.text == "Action: we shall\n" + call + "\nx");
}

TEST_CASE("F4: beside native calls random pieces of calls are read the same at every split") {
  static constexpr std::string_view pieces[] = {"\n",
                                                "Action: search",
                                                "Action Input: {\"query\": \"a\"}",
                                                "Action: list_all\nAction Input: {}",
                                                "Observation: 21",
                                                "Final Answer: 21",
                                                "Obser",
                                                "```",
                                                "```json\n",
                                                "{\"name\": \"list_all\", \"arguments\": {}}",
                                                "{",
                                                "}",
                                                "a",
                                                " ",
                                                "<think>",
                                                "</think>",
                                                "<tool_call>",
                                                "</tool_call>",
                                                "`<",
                                                "<|im_end|>",
                                                "<tool_response>",
                                                "</tool_response>",
                                                "[",
                                                "]",
                                                "[TOOL_CALLS]list_all[ARGS]{}",
                                                "<function=list_all>\n</function>"};
  std::uint64_t state = 9;
  const auto next = [&](std::uint64_t below) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (state >> 33) % below;
  };
  for (int round = 0; round < 3000; ++round) {
    std::string raw;
    for (auto n = 1 + next(10); n > 0; --n) {
      raw += pieces[next(std::size(pieces))];
      if (next(2) == 0) raw += '\n';
    }
    CAPTURE(raw);
    const providers::text::marks::parser_options options{.untagged = native.untagged, .show_unreadable = next(4) == 0};
    const auto got = parse_text("hermes", raw, std::string_view::npos, options);
    CHECK(got.counted <= raw.size());
    for (const std::size_t step : {1U, 2U, 5U, 11U}) CHECK(parse_text("hermes", raw, step, options).str() == got.str());
  }
}

TEST_CASE("F6: a closing mark behind a fenced call, and another call, are read whatever came before the fence") {
  const std::string fenced = "\n\n\n```json\n{\"name\":\"search\",\"arguments\":{\"query\":\"a\"}}\n</tool_call>";
  const std::string marked = R"(<tool_call>{"name":"search","arguments":{"query":"b"}}</tool_call>)";
  for (const std::size_t step : {std::size_t{1}, std::size_t{7}, std::string_view::npos})
    CHECK(mcpbx::test::parse_text("hermes", fenced + marked, step,
                                  {.untagged = providers::text::marks::parser_options::bare::alone})
              .calls() == R"(search{"query":"a"} search{"query":"b"})");
}

}  // namespace
