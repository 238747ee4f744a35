// Replies that end in the middle of a call or of a mark.
#include "test/providers/text/every_step.hpp"
#include "test/support/contains.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <utility>

namespace {

using namespace mcpbx;
using namespace mcpbx::test;
using bare = providers::text::marks::parser_options::bare;

// Length from which a cut mark counts as the beginning of a call; a shorter piece may be anything.
constexpr std::size_t least_of_a_mark = 6;

// A call in each form, and how many of its bytes may be seen when it is cut off there.
constexpr std::pair<std::string_view, std::string_view> calls_of_all_forms[] = {
    {"hermes", "<tool_call>\n{\"name\": \"search\", \"arguments\": {\"query\": \"x\", \"limit\": 2}}\n</tool_call>"},
    {"hermes", "<tool_call id=\"1\">{\"name\": \"search\", \"arguments\": {\"query\": \"x\"}}</tool_call>"},
    {"hermes", "<TOOL_CALL>{\"name\": \"search\", \"arguments\": {\"query\": \"x\"}}</TOOL_CALL>"},
    {"qwen3-coder",
     "<tool_call>\n<function=search>\n<parameter=query>\nx\n</parameter>\n<parameter=limit>\n2\n</parameter>\n"
     "</function>\n</tool_call>"},
    {"qwen3-coder", "<function=search>\n<parameter=query>\nx\n</parameter>\n</function>\n</tool_call>"},
    {"qwen3-coder", "<tool_call>\n<function=list_all>\n</function>\n</tool_call>"},
    {"xml",
     "<function_calls>\n<invoke name=\"search\">\n<parameter name=\"query\">x</parameter>\n<parameter "
     "name=\"limit\">2</parameter>\n</invoke>\n</function_calls>"},
    {"xml", "<invoke name=\"search\"><parameter name=\"query\">x</parameter></invoke>"},
    {"glm",
     "<tool_call>search\n<arg_key>query</arg_key>\n<arg_value>x</arg_value>\n<arg_key>limit</arg_key>\n<arg_value>2"
     "</arg_value>\n</tool_call>"},
    {"mistral", "[TOOL_CALLS][{\"name\": \"search\", \"arguments\": {\"query\": \"x\", \"limit\": 2}}]"},
    {"mistral", "[TOOL_CALLS]search[ARGS]{\"query\": \"x\", \"limit\": 2}"},
    {"llama3", "<|python_tag|>{\"name\": \"search\", \"parameters\": {\"query\": \"x\", \"limit\": 2}}<|eom_id|>"},
    {"llama3", "<function=search>{\"query\": \"x\", \"limit\": 2}</function>"},
};

TEST_CASE("F5: a reply that is cut off anywhere in a call shows nothing of it, in every format and at every split") {
  for (const auto& [format, call] : calls_of_all_forms)
    for (const std::string lead : {"", "Hello.\n"})
      for (const auto untagged : {bare::alone, bare::anywhere})
        for (std::size_t size = least_of_a_mark; size < call.size(); ++size) {
          const auto raw = lead + std::string(call.substr(0, size));
          CAPTURE(raw);
          const auto got = parse_text(format, raw, std::string_view::npos, {.untagged = untagged});
          CHECK(got.visible() == std::string(trimmed(lead)));
          // It says that something is missing, or the call is there.
          CHECK((got.reply.incomplete || !got.reply.calls.empty()));
          for (const std::size_t step : {1, 2, 3, 7})
            CHECK(parse_text(format, raw, step, {.untagged = untagged}).str() == got.str());
        }
}

TEST_CASE("F5: a reply that ends in what may be anything is shown to its end") {
  for (const std::string_view raw : {"a <", "a <f", "x <tool", "Write <func", "see [", "see [TOOL",
                                     "Use the mark <tool_call to begin.", "a <tool_calling"})
    CHECK(parse_text("hermes", raw).text == raw);
}

TEST_CASE("F5: what stands behind a closing mark is read alike wherever an object without its opening mark is cut") {
  const std::string long_text = std::string(300, 'x') + "\n";
  const std::string tail = std::string(200, 'y') + "}";
  for (const auto* const format : providers::text::formats())
    for (const std::string& lead : {std::string(), std::string("Hello.\n"), long_text})
      for (const std::string_view object : {R"({"name":"list_all"})", R"({"name":"search","arguments":{"query":"x"}})",
                                            "```json\n{\"name\":\"list_all\"}\n```"})
        for (const std::string_view mark : {"</tool-use>", "</tool_call>", "</function>", "</invoke>"})
          for (const std::string& behind : {std::string("\x01}"), std::string("}"), std::string("y}\":"), tail})
            for (const auto untagged : {bare::alone, bare::anywhere})
              parse_at_every_step(format->name(), lead + std::string(object) + std::string(mark) + behind,
                                  {.untagged = untagged});
}

}  // namespace
