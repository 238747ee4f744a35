// Special tokens of all families of models: those of a format in any case, and those of formats that we do not speak.
#include "test/providers/text/every_step.hpp"
#include "test/support/contains.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

namespace {

using namespace mcpbx;
using namespace mcpbx::test;
using bare = providers::text::marks::parser_options::bare;

TEST_CASE("F5: special tokens of any family of models are seen by nobody, wherever they stand outside of code") {
  struct row {
    std::string raw, shown;
  };
  for (const auto& [raw, shown] :
       {row{"a<|EOM_ID|>", "a"}, row{"It is<|im_end|>four.", "It is\nfour."}, row{"a <|foo_bar|> b", "a  b"},
        row{"<｜begin▁of▁sentence｜>Hello<｜end▁of▁sentence｜>", "Hello"},
        row{"<｜tool▁calls▁begin｜>a<｜tool▁calls▁end｜>", "a"},
        row{"<|tool_calls_section_begin|>a<|tool_calls_section_end|>", "a"},
        row{"<|START_RESPONSE|>a<|END_RESPONSE|>", "a"}, row{"a<|python_start|><|python_end|>", "a"},
        row{"<|channel|>final<|message|>Four.<|return|>", "Four."},
        row{"<|start|>assistant<|channel|>final<|message|>Four.", "Four."},
        row{"<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Four.", "Four."},
        row{"a <| b |> c", "a <| b |> c"}, row{"a <|> b", "a <|> b"}, row{"f <| x |> y", "f <| x |> y"},
        row{"a <|word| b", "a <|word| b"}, row{"The token `<|foo|>` ends it.", "The token `<|foo|>` ends it."},
        row{"Code:\n```\n<|foo|>\n```", "Code:\n```\n<|foo|>\n```"}})
    for (const std::string_view format : {"hermes", "mistral", "xml"})
      for (const auto untagged : {bare::alone, bare::anywhere}) {
        CAPTURE(raw);
        const auto got = parse_at_every_step(format, raw, {.untagged = untagged});
        CHECK(got.visible() == shown);
        CHECK(got.reply.calls.empty());
      }
  CHECK(parse_text("hermes", "<|channel|>analysis<|message|>Hm.<|end|>Four.").thoughts == "Hm.");
  CHECK(parse_at_every_step("react", "Final Answer: a<|foo|>").visible() == "a");
  CHECK(parse_at_every_step("hermes", "a<|foo|>b", {.show_unreadable = true}).visible() == "a\nb");
}

TEST_CASE("F10: calls between marks of other families are run") {
  for (const std::string& raw :
       {"<|PYTHON_TAG|>{\"name\": \"search\", \"parameters\": {\"query\":\"tide\"}}<|EOM_ID|>",
        "<|python_start|>[search(query=\"tide\")]<|python_end|>",
        "<|START_ACTION|>[\n{\"tool_call_id\": \"0\", \"tool_name\": \"search\", \"parameters\": "
        "{\"query\":\"tide\"}}\n]"
        "<|END_ACTION|>",
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.search:0<|tool_call_argument_begin|>{\"query\":"
        "\"tide\"}"
        "<|tool_call_end|><|tool_calls_section_end|>",
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>search<｜tool▁sep｜>{\"query\":\"tide\"}<｜tool▁call▁end｜>"
        "<｜tool▁calls▁end｜>",
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>search\n```json\n{\"query\":\"tide\"}\n```"
        "<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>",
        "<function=search{\"query\":\"tide\"}></function>", "[TOOL_CALLS]search{\"query\":\"tide\"}[ARGS]"})
    for (const auto untagged : {bare::alone, bare::anywhere}) {
      CAPTURE(raw);
      const auto got = parse_at_every_step("hermes", "So.\n" + raw, {.untagged = untagged});
      CHECK(got.calls() == R"(search{"query":"tide"})");
      CHECK(got.visible() == "So.");
      // Cut off anywhere it shows nothing but a bracket.
      for (std::size_t size = 6; size < raw.size(); ++size) {
        const auto cut = parse_text("hermes", raw.substr(0, size), std::string_view::npos, {.untagged = untagged});
        CAPTURE(size);
        CHECK(cut.visible().size() < 3);
        CHECK((cut.calls().empty() || cut.calls() == got.calls()));
      }
    }
  const auto two = parse_text("hermes",
                              "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>search<｜tool▁sep｜>{\"query\":\"a\"}"
                              "<｜tool▁call▁end｜><｜tool▁call▁begin｜>search<｜tool▁sep｜>{\"query\":\"b\"}"
                              "<｜tool▁call▁end｜><｜tool▁calls▁end｜>");
  CHECK(two.calls() == R"(search{"query":"a"} search{"query":"b"})");
  CHECK(two.visible().empty());
}

TEST_CASE("F10: numbers of Python without a digit on one side of their point are numbers, and others stay refused") {
  const auto call = [](const std::string& arguments) {
    return parse_at_every_step("hermes", "<|python_tag|>" + arguments + "<|eom_id|>");
  };
  CHECK(call("add(a=.5, b=5.)").calls() == R"(add{"a":0.5,"b":5.0})");
  CHECK(call("add(a=-.5, b=5.e3)").calls() == R"(add{"a":-0.5,"b":5.0e3})");
  CHECK(call("batch(items=[.5, 5., (.25, 1)])").reply.calls.size() == 1);
  CHECK(call("batch(items=[.5, 5.])").calls() == R"(batch{"items":[0.5,5.0]})");
  CHECK(call(R"(search(query='v.5 or 5. \'.5\''))").calls() == R"(search{"query":"v.5 or 5. '.5'"})");
  CHECK(call("batch(items=[`a.b 5.`, .5])").calls() == R"(batch{"items":["a.b 5.",0.5]})");
  CHECK(call("search(query=`report2024.txt`)").calls() == R"(search{"query":"report2024.txt"})");
  CHECK(call("search(query=“page 3. Then .5”)").calls() == R"(search{"query":"page 3. Then .5"})");
  for (const std::string wrong : {"add(a=1.2., b=1)", "add(a=., b=1)", "add(a=..5, b=1)", "add(a=.5., b=1)"}) {
    CAPTURE(wrong);
    CHECK(call(wrong).calls().empty());
  }
}

TEST_CASE("F10: a program of several calls is all of them, and what is no call of an offered tool is none") {
  const std::string one = "search(query=\"tide\")", two = "search.call(query=\"wind\")";
  for (const std::string& raw :
       {"<|python_tag|>" + one + "; " + two, "<|python_tag|>" + one + "\n" + two + "<|eom_id|>",
        "<tool_call>" + one + "\n" + two + "</tool_call>"})
    for (const auto untagged : {bare::alone, bare::anywhere}) {
      CAPTURE(raw);
      const auto got = parse_at_every_step("hermes", raw, {.untagged = untagged});
      CHECK(got.calls() == R"(search{"query":"tide"} search{"query":"wind"})");
      CHECK(got.visible().empty());
    }
  const auto cut = parse_at_every_step("hermes", "<|python_tag|>" + one + "\nsearch(query=\"wi");
  CHECK(cut.calls() == R"(search{"query":"tide"})");
  CHECK(cut.reply.incomplete);
  CHECK(cut.visible().empty());
  const auto other = parse_at_every_step("hermes", "<|python_tag|>" + one + "\nprint(\"wind\")");
  CHECK(other.calls() == R"(search{"query":"tide"})");
  const auto behind = parse_at_every_step("hermes", "<tool_call>" + one + "</tool_call>\n" + one);
  CHECK(behind.calls() == R"(search{"query":"tide"})");
}

}  // namespace
