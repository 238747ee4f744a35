// Tests of the cost of parsing answers of the largest size: linear, whatever the text is made of.
#include "providers/text/marks/offered_tools.hpp"
#include "test/providers/text/parse.hpp"
#include "test/support/sanitized.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::test;
using mcpbx::providers::text::formats;

// Sanitizers make each byte many times as dear; what is quadratic shows in a quarter of a text too.
constexpr std::size_t full(std::size_t bytes) {
  return sanitized ? bytes / 4 : bytes;
}

TEST_CASE("F10: text as long as an answer may be is parsed in linear time, byte by byte") {
  // With anything quadratic these would take minutes.
  const std::string_view units[] = {"<",
                                    "{",
                                    "[",
                                    "`",
                                    "\n",
                                    " ",
                                    "<tool_call>{",
                                    "{\"type\":\"function\",",
                                    "<function=a>",
                                    "<invoke name=\"a\"><parameter name=\"b\">",
                                    "Action: a\n",
                                    "Action: search\nAction Input: {\n",
                                    "Action: search\nAction Input: {}\n",
                                    "```json\n{\"name\":\"search\",\"arguments\":{}}\n```\n",
                                    "a </parameter>",
                                    "<arg_key>",
                                    "<tool_call>a",
                                    "<tool_call>search <arg_key>a</arg_key><arg_value>",
                                    "a </arg_value> ",
                                    "[TOOL_CALLS]a ",
                                    "<invoke ",
                                    "x<arg_key>\n",
                                    "x<tool_call>",
                                    "x\n<tool_response>",
                                    "\n<tool_response></tool_response>",
                                    "<|channel|>commentary to=functions.search<|message|>a ",
                                    "<|channel|>analysis<|message|><|start|>",
                                    "\ncommentary to=functions.search json ",
                                    "assistantcommentary ",
                                    "<｜DSML｜invoke name=\"search\">",
                                    "<｜DSML｜function_calls>",
                                    "<｜DSML｜parameter name=\"query\" string=\"true\">a<",
                                    "<|tool_call>call:search{",
                                    "<|tool_call>call:a <|\"|>",
                                    "]<]minimax[>[",
                                    "]<]minimax[>[<invoke name=\"search\">",
                                    "]<]minimax[>[<a>",
                                    "[Calling tool: search(",
                                    "<think><tool_call>",
                                    "<invoke name=\"search\"><parameter name=\"query\">a</parameter>"};
  for (const auto unit : units) {
    std::string text;
    while (text.size() < full(200'000)) text += unit;
    // The other formats have the parser of one of these, with the same options.
    for (const std::string_view format : {"hermes", "llama3", "react"}) {
      CAPTURE(std::string(unit));
      CHECK(parse_text(format, text, 1).counted <= text.size());
    }
    using bare = providers::text::marks::parser_options::bare;
    for (const std::size_t step : {std::string_view::npos, std::size_t{1}}) {
      CAPTURE(std::string(unit));
      CHECK(parse_text("hermes", text, step, {.untagged = bare::alone, .show_unreadable = step == 1}).counted <=
            text.size());
    }
  }
}

TEST_CASE("F10: marks that no call follows cost as much each, however many come behind them, in any pieces") {
  // With the end of each looked for in all that may be waited for, these would take minutes.
  for (const std::string_view unit : {"<invoke ", "x<arg_key>\n", "x<tool_call>", "<tool_call>\n",
                                      "<invoke \"search\" ", "<tool_response>\n", "\n[TOOL_RESULTS]"}) {
    std::string text;
    while (text.size() < full(1'000'000)) text += unit;
    // The other formats have the parser of the first.
    for (const std::string_view format : {"hermes", "react"})
      for (const std::size_t step : {std::string_view::npos, std::size_t{4096}}) {
        CAPTURE(std::string(unit));
        CHECK(parse_text(format, text, step).text.size() <= text.size());
      }
  }
}

TEST_CASE("F10: a value is judged in linear time, whatever is left of marks in it") {
  // With all of its rest looked through at each of them, these would take minutes.
  struct row {
    std::string_view begin, unit, end;
  };
  for (const auto& [begin, unit, end] : {row{"/parameter", " parameter", ""}, row{"", " </parameter", "> x"}}) {
    std::string value(begin);
    while (value.size() < full(4'000'000)) value += unit;
    value += end;
    for (const auto* format : formats()) {
      CAPTURE(std::string(unit));
      const auto got =
          parse_text(format->name(), "<function=search>\n<parameter=query>\n" + value + "\n</parameter>\n</function>");
      CHECK(got.reply.calls.size() <= 1);
    }
  }
}

TEST_CASE("F10: what stands before the brackets of an action or its input is read in linear time") {
  // With all of it looked at again for each byte, these would take hours.
  struct row {
    std::string_view begin, unit, end;
  };
  const std::string_view input = "Action: search\nAction Input: ```";
  for (const auto& [begin, unit, end] :
       {row{input, "a", ""}, row{input, " ", ""}, row{input, "\n", "{}"}, row{"Action: search", " ", ""},
        row{"Action: ```a", " {", ""}, row{"Action: ", "*", " ((((((((((((((((((((((((((((((((("}}) {
    std::string text(begin);
    while (text.size() < full(4'000'000)) text += unit;
    text += end;
    CAPTURE(std::string(begin));
    CAPTURE(std::string(unit));
    CHECK(parse_text("react", text, 4096).counted <= text.size());
  }
}

TEST_CASE("F10: a parameter whose mark may be the end of a value is looked for in linear time among the others") {
  // With each looked for among all that were given, these would take minutes.
  std::string text = "<function=search>\n";
  while (text.size() < full(2'000'000)) text += "<parameter=a>\n1\n</parameter>\n";
  text += "<parameter=query>\n1\n</parameter>\n<parameter=b>";
  while (text.size() < full(4'000'000)) text += "\n<parameter=query>";
  CHECK(parse_text("qwen3-coder", text + "\n</parameter>\n</function>").reply.calls.size() == 1);
}

TEST_CASE("F10: any number of arguments is read in linear time, and the last of a name counts") {
  // With each looked for among all the others, these would take minutes.
  constexpr int many = static_cast<int>(full(300'000));
  std::string markup = "<function=search>\n", pairs = "<tool_call>search\n";
  for (int i = 0; i < many; ++i) {
    const auto name = "k" + std::to_string(i % (many - 1));
    const auto value = std::to_string(i);
    markup += "<parameter=" + name + ">\n" + value + "\n</parameter>\n";
    pairs += "<arg_key>" + name + "</arg_key><arg_value>" + value + "</arg_value>";
  }
  for (const auto& text : {markup + "</function>", pairs + "</tool_call>"}) {
    const auto got = parse_text("hermes", text);
    REQUIRE(got.reply.calls.size() == 1);
    const auto arguments = got.reply.calls[0].arguments.text();
    CHECK(arguments.starts_with(R"({"k1":"1","k2":"2")"));
    CHECK(arguments.ends_with(R"("k0":")" + std::to_string(many - 1) + R"("})"));
  }
}

TEST_CASE("F10: blanks that an object may come behind are waited for in linear time") {
  // With all of them skipped again for each byte, these would take minutes.
  for (const std::string_view begin : {R"([TOOL_CALLS]search{"query":"a"}[ARGS])", R"([TOOL_CALLS]search{"query":"a"})",
                                       R"(<tool_call>{"name":"search","arguments":{"query":"a"}},)"}) {
    CAPTURE(std::string(begin));
    const auto got = parse_text("hermes", std::string(begin) + std::string(full(400'000), ' '), 1);
    CHECK(got.reply.calls.size() <= 1);
  }
  CHECK(parse_text("hermes", "Action: search\nAction Input: {}" + std::string(full(400'000), ' '), 1,
                   {.untagged = providers::text::marks::parser_options::bare::alone})
            .reply.calls.size() == 1);
}

TEST_CASE("F10: arguments are fitted to their types in linear time, however many a tool has") {
  // With the tool's schema walked for each of them, this would take minutes.
  constexpr int many = 30'000;
  providers::tool_definition tool;
  std::string schema = R"({"type":"object","properties":{)";
  std::vector<providers::text::marks::untyped_argument> arguments;
  for (int i = 0; i < many; ++i) {
    const auto name = "property_" + std::to_string(i);
    schema += (i == 0 ? "\"" : ",\"") + name + R"(":{"type":"integer"})";
    arguments.push_back({name, std::to_string(i)});
  }
  tool.schema = raw_json::own(schema + "}}");
  providers::tool_call_block call;
  providers::text::marks::set_untyped(call, &tool, arguments);
  CHECK(call.arguments.text().starts_with(R"({"property_0":0,"property_1":1,)"));
  CHECK(providers::text::marks::takes_no_more(&tool, arguments));
  arguments.pop_back();
  CHECK_FALSE(providers::text::marks::takes_no_more(&tool, arguments));
}

TEST_CASE("F10: control tokens that wait for more text are not looked through at each mark behind them") {
  // With the line break looked for among all of them, this would take minutes.
  std::string text = "x";
  while (text.size() < full(1'000'000)) text += "<s>";
  text += '\n';
  while (text.size() < full(2'000'000)) text += "<think></think>";
  CHECK(parse_text("hermes", text, 4096).text == "x\n");
}

TEST_CASE("F10: tuples within tuples are read as deep as lists are, and no deeper") {
  const auto nested = [](std::size_t depth) {
    std::string value = "1";
    for (std::size_t i = 0; i < depth; ++i) value = "(" + value + ",)";
    return "<|python_tag|>batch(items=" + value + ")";
  };
  const auto list = std::string(20, '[') + "1" + std::string(20, ']');
  CHECK(parse_text("llama3", nested(20)).calls() == R"(batch{"items":)" + list + "}");
  CHECK(parse_text("llama3", nested(1000)).calls().empty());
}

TEST_CASE("F10: a schema whose references lead to the same ones over and over is looked through once") {
  // With each followed for itself, this would take hours.
  std::string schema = R"({"type":"object","properties":{"a":{"$ref":"#/$defs/d0"}},"$defs":{)";
  for (int i = 0; i < 3; ++i) {
    const auto next = R"({"$ref":"#/$defs/d)" + std::to_string(i + 1) + R"("})";
    schema += R"("d)" + std::to_string(i) + R"(":{"anyOf":[)" + next;
    for (int k = 0; k < 5000; ++k) schema += "," + next;
    schema += "]},";
  }
  providers::tool_definition tool;
  tool.schema = raw_json::own(schema + R"("d3":{"type":"integer"},"d4":{"$ref":"#/$defs/d4"}}})");
  providers::tool_call_block call;
  providers::text::marks::set_untyped(call, &tool, {{"a", "1"}});
  CHECK(call.arguments.text() == R"({"a":1})");
}

TEST_CASE("G32: of more than 1,024 calls in one text the first are taken, in whatever form, and the rest is dropped") {
  const auto repeated = [](std::string_view before, std::string_view one, std::string_view between,
                           std::string_view after, std::size_t count) {
    std::string text(before);
    for (std::size_t i = 0; i < count; ++i) text.append(i == 0 ? "" : between).append(one);
    return text.append(after);
  };
  struct form {
    std::string_view before, one, between, after;
  };
  const std::string_view object = R"({"name":"search","arguments":{"query":"a"}})";
  const form forms[] = {
      {"", R"(<tool_call>{"name":"search","arguments":{"query":"a"}}</tool_call>)", "\n", ""},
      {"", R"(<invoke name="search"><parameter name="query">a</parameter></invoke>)", "\n", ""},
      {"", "<tool_call>search\n<arg_key>query</arg_key>\n<arg_value>a</arg_value>\n</tool_call>", "\n", ""},
      {"<tool_call>[", object, ",", "]</tool_call>"},
      {"[TOOL_CALLS][", object, ",", "]"},
      {"[TOOL_CALLS][", object, ",", ""},
      {"[", object, ",", "]"},
      {"[", R"(search(query="a"))", ", ", "]"},
      {"<|python_tag|>", object, "; ", ""},
      {"<|python_tag|>", R"(search(query="a"))", "; ", ""}};
  constexpr auto most = providers::max_reply_calls;
  for (const auto& f : forms) {
    CAPTURE(std::string(f.before) + std::string(f.one));
    const auto fits = parse_text("hermes", repeated(f.before, f.one, f.between, f.after, most));
    CHECK(fits.reply.calls.size() == most);
    CHECK_FALSE(fits.reply.too_many);
    const auto text = repeated(f.before, f.one, f.between, f.after, most + 300) + "\nand this";
    const auto whole = parse_text("hermes", text);
    CHECK(whole.reply.calls.size() == most);
    CHECK(whole.reply.too_many);
    CHECK(std::ranges::all_of(whole.reply.calls, [](const auto& c) { return c.problem.empty(); }));
    CHECK(parse_text("hermes", text, 7).str() == whole.str());
  }
}

}  // namespace
