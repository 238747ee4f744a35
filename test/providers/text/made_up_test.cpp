// Results that a model invents: behind a call, before any, cut off, and all that there is.
#include "test/providers/text/every_step.hpp"
#include "test/support/contains.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace {

using namespace mcpbx;
using namespace mcpbx::test;

TEST_CASE("F7: after the first action everything is dropped, and the rest is not waited for") {
  const std::string reply =
      "Thought: x\nAction: get_weather\nAction Input: {\"city\": \"Rome\"}\nObservation: made up\nFinal Answer: made "
      "up";
  const auto got = parse_text("react", reply, 1);
  CHECK(got.stopped);
  CHECK(got.counted == reply.find("\nObservation"));
  CHECK_FALSE(contains(got.text + got.thoughts, "made up"));
  // Not stopped by a mark, but complete.
  const auto only = parse_text("react", reply.substr(0, reply.find("\nObs")));
  CHECK_FALSE(only.stopped);
}

TEST_CASE("F7: a ReAct reply that is nothing but an invented result is told to the model, and not shown") {
  for (const std::string_view raw :
       {"Observation: made up", "\n**Observation:** made up\nThought: x\nFinal Answer: made up",
        "Observation 1: made up\n", "<think>x</think>\nObservation: made up"}) {
    CAPTURE(raw);
    const auto got = parse_at_every_step("react", raw);
    REQUIRE(got.reply.calls.size() == 1);
    CHECK(contains(got.reply.calls[0].problem, "neither an Action nor a Final Answer"));
    CHECK(got.text.empty());
    CHECK(got.stopped);
    const auto last = parse_text("react", raw, 1, {.show_unreadable = true});
    CHECK(last.reply.calls.empty());
    CHECK(last.text.empty());
  }
  // Text before the mark is the answer; without its colon the mark is an ordinary word.
  CHECK(parse_text("react", "It is four.\nObservation: made up").visible() == "It is four.");
  CHECK(parse_text("react", "It is four.\nObservation: made up").reply.calls.empty());
  CHECK(parse_text("react", "Observation\nis a word.").visible() == "Observation\nis a word.");
}

TEST_CASE("F7: a result that the model invents before any call is not shown, and what follows it is read as usual") {
  using mcpbx::providers::text::marks::parser_options;
  struct row {
    std::string raw, shown, calls;
  };
  const std::string call = R"(<tool_call>{"name": "list_all"}</tool_call>)";
  const row rows[] = {
      {"<tool_response>\nmade up\n</tool_response>\nIt is four.", "It is four.", ""},
      {"\n<tool_response>made up</tool_response>It is four.\n", "It is four.", ""},
      {"Wait.\n<tool_response>\nmade up\n</tool_response>\nIt is four.", "Wait.\n\nIt is four.", ""},
      {"<tool_response>made up</tool_response><tool_response>\nmade up</tool_response>\nSo.", "So.", ""},
      {"<tool_response>\n<tool_call>{\"name\": \"made up\"}</tool_call>\n</tool_response>" + call, "", "list_all{}"},
      {"<tool_response>made up</tool_response>\nNow.\n" + call + "<tool_response>made up", "Now.", "list_all{}"},
      {"<function_results>\n<result>made up</result>\n</function_results>\nSo.", "So.", ""},
      {"<tool_result>made up</tool_result>\nSo.", "So.", ""},
      {"[TOOL_RESULTS]{\"content\": \"made up\"}[/TOOL_RESULTS]\nSo.", "So.", ""},
      {"<think>x</think>\n<tool_response>made up</tool_response>\nSo.", "So.", ""},
      {"<tool_response>made up</tool_response>", "", ""},
      {"{\"name\": \"list_all\"}\n<tool_response>made up</tool_response>\nmade up", "", "list_all{}"},
      // Cut off with the reply.
      {"<tool_response>\nmade up", "", ""},
      {"Wait.\n<tool_response>made up\n</tool_resp", "Wait.", ""},
      {"Wait.\n<tool_response> {\"x\": \"made up", "Wait.", ""},
      {"<function_results>\n<result>\nmade up", "", ""},
      {"[TOOL_RESULTS] [{\"content\": \"made up\"}]", "", ""},
      {"<tool_response>made up</tool_response>\nWait.\n<tool_response>\n\nmade up", "Wait.", ""},
      // Spoken about: in a sentence, in code, in quotes, or never closed and no result behind it.
      {"The mark <tool_response> begins, </tool_response> ends it.", "", ""},
      {"```\n<tool_response>x</tool_response>\n```", "", ""},
      {"It is `<tool_response>x</tool_response>`.", "", ""},
      {"<tool_response> is the mark of a result.", "", ""},
      {"[TOOL_RESULTS] is the mark of a result.", "", ""},
      {"<tool_response>, the mark of a result", "", ""},
      {"<tool_response>" + std::string(20'000, 'x') + "</tool_response>", "", ""},
      {"<tool_response>" + std::string(20'000, 'x') + "\n<tool_response>x</tool_response>", "", ""},
  };
  for (const auto& r : rows)
    for (const auto bare : {parser_options::bare::anywhere, parser_options::bare::alone})
      for (const auto* format : {"hermes", "react"}) {
        const parser_options options{.untagged = bare};
        CAPTURE(r.raw.substr(0, 200));
        CAPTURE(std::string(format));
        const auto got = parse_text(format, r.raw, std::string_view::npos, options);
        CHECK_FALSE(contains(got.text, "made up"));
        CHECK(got.calls() == r.calls);
        if (contains(r.raw, "made up"))
          CHECK(got.visible() == r.shown);
        else
          CHECK(got.text == r.raw);
        for (std::size_t step = 1; step < std::min<std::size_t>(r.raw.size(), 130); ++step)
          CHECK(parse_text(format, r.raw, step, options).str() == got.str());
      }
  for (const std::string_view raw : {"Wait.\n<tool_response>", "Wait.\n<tool_response>\n", "Wait.\n[TOOL_RESULTS]"})
    CHECK(parse_text("hermes", raw, 1).visible() == "Wait.");
}

}  // namespace
