// Marks as models misspell them, and calls in more than one of them.
#include "test/providers/text/every_step.hpp"
#include "test/support/contains.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace {

using namespace mcpbx;
using namespace mcpbx::test;
using bare = providers::text::marks::parser_options::bare;

const std::string tide = R"({"name": "search", "arguments": {"query": "tide"}})";

std::string without_gaps(std::string_view text) {
  std::string all;
  for (const char c : text)
    if (!providers::text::marks::is_blank(c)) all += c;
  return all;
}

TEST_CASE("F5: marks in another case, with blanks inside or with attributes are marks, and nobody sees them") {
  for (const std::string& raw :
       {"<tool_call id=\"1\">\n" + tide + "\n</tool_call>", "<TOOL_CALL>" + tide + "</TOOL_CALL>",
        "<Tool_Call>" + tide + "</Tool_Call>", "<tool_call >" + tide + "</tool_call >",
        "<tool_call\n>" + tide + "</tool_call\n>", "< tool_call >" + tide + "</ tool_call >",
        "<tool_call type='function' id='a>b'>" + tide + "< / Tool_Call>", "<|tool_call|>" + tide + "<|/tool_call|>",
        "<Function_Call>\n" + tide + "\n</Function_Call>",
        std::string("<TOOL_CALL>search<arg_key>query</arg_key><arg_value>tide</arg_value></TOOL_CALL>"),
        std::string("<TOOL_CALL>\n<function=search>\n<parameter=query>\ntide\n</parameter>\n</function>\n</TOOL_CALL>"),
        "[tool_calls][" + tide + "]", "[Tool_Calls]" + tide,
        std::string("[tool_calls]search[ARGS]{\"query\": \"tide\"}")})
    for (const auto untagged : {bare::alone, bare::anywhere}) {
      CAPTURE(raw);
      const auto got = parse_at_every_step("hermes", "Let me look.\n" + raw + "\nSo.", {.untagged = untagged});
      REQUIRE(got.reply.calls.size() == 1);
      CHECK(got.reply.calls[0].name == "search");
      CHECK(got.reply.calls[0].problem.empty());
      CHECK(contains(got.reply.calls[0].arguments.text(), "tide"));
      CHECK(got.visible() == "Let me look.\nSo.");
    }
  CHECK(parse_at_every_step("hermes", "<tool_call>" + tide + "</tool_call><Tool_Response id=\"1\">made up")
            .visible()
            .empty());
}

TEST_CASE("F5: calls that are markup are read in any case, and what their values hold is left alone") {
  const auto upper = [](std::string text) {
    std::ranges::transform(text, text.begin(),
                           [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
    return text;
  };
  const auto function = [&](auto form) {
    return form("<function=") + "write_file" + form("><parameter=") + "path>\nx.txt\n" +
           form("</parameter><parameter=") + "content>\n<B>bold</B>\n" + form("</parameter></function>");
  };
  const auto invoke = [&](auto form) {
    return form("<function_calls><invoke name=") + "\"write_file\">" + form("<parameter name=") + "\"path\">x.txt" +
           form("</parameter><parameter name=") + "\"content\"><B>bold</B>" +
           form("</parameter></invoke></function_calls>");
  };
  const auto mixed = [&](std::string text) {
    for (std::size_t i = 0; i < text.size(); ++i)
      if (i > 0 && !providers::text::marks::is_name_char(text[i - 1])) text[i] = upper(text.substr(i, 1))[0];
    return text;
  };
  for (const auto& raw : {function(upper), function(mixed), invoke(upper), invoke(mixed)})
    for (const auto untagged : {bare::alone, bare::anywhere}) {
      CAPTURE(raw);
      const auto got = parse_at_every_step("xml", "Let me look.\n" + raw + "\nSo.", {.untagged = untagged});
      CHECK(got.calls() == R"(write_file{"path":"x.txt","content":"<B>bold</B>"})");
      CHECK(got.visible() == "Let me look.\nSo.");
    }
  // Half of one is not run, in any case.
  CHECK(parse_at_every_step("xml", "<INVOKE NAME=\"search\"><PARAMETER NAME=\"query\">ti").reply.incomplete);
}

TEST_CASE("F5: what only looks like a mark, or is spoken about, is text, byte for byte") {
  for (const std::string_view raw :
       {"The mark <TOOL_CALL> opens one.", "It is <tool_call id=\"1\"> here.", "<tool_call is a mark> of it",
        "a <tool_callers> b", "a < tool b", "<tool_call id=\"1\" and so on, for as long as it takes to say it all",
        "[tool_calls][1] is a link", "[tool_calls]\nenabled = true", "[tool_calls](x)", "`<TOOL_CALL>` it is"}) {
    CAPTURE(raw);
    const auto got = parse_at_every_step("hermes", std::string(raw));
    CHECK(got.reply.calls.empty());
    CHECK(got.text == raw);
  }
}

TEST_CASE("G29: attributes of a mark that may be arguments of its call refuse it") {
  for (const std::string_view raw : {"<tool_call query=\"tide\">{\"name\": \"list_all\"}</tool_call>",
                                     "<tool_call name=\"search\">{\"query\": \"tide\"}</tool_call>",
                                     "<tool_calls limit='3'><tool_call>{\"name\": \"search\", \"arguments\": "
                                     "{\"query\": \"a\"}}</tool_call></tool_calls>"}) {
    const auto got = parse_at_every_step("hermes", std::string(raw));
    REQUIRE(got.reply.calls.size() == 1);
    CHECK_FALSE(got.reply.calls[0].problem.empty());
    CHECK(got.visible().empty());
  }
}

TEST_CASE("F10: a list of calls may hold each of them in a tag of its own") {
  const std::string one = "<tool_call>\n" + tide + "\n</tool_call>";
  for (const std::string& raw : {"<tool_calls>\n" + one + "\n</tool_calls>", "<tool_calls>" + one + "</tool_calls>",
                                 "<function_calls>" + one + "</function_calls>", "<Tool_Calls>" + one}) {
    const auto got = parse_at_every_step("hermes", raw);
    CHECK(got.calls() == R"(search{"query": "tide"})");
    CHECK(got.visible().empty());
  }
  CHECK(parse_at_every_step("hermes", "<tool_calls>\n" + one + "\n" + one + "\n</tool_calls>").reply.calls.size() == 2);
  const std::string said = "Write <tool_calls><tool_call> around it.";
  CHECK(parse_at_every_step("hermes", said).text == said);
}

TEST_CASE("F10: of a list that was cut off the calls before the cut stay") {
  const std::string sum = R"({"name": "add", "arguments": {"a": 1, "b": 2}})";
  for (const std::string& raw :
       {"[TOOL_CALLS][" + tide + ", {\"name\": \"add\", \"argum", "<tool_call>[" + tide + ",{\"name\": \"add\"",
        "[TOOL_CALLS][" + tide + ",", "[" + tide + ", {\"na", "<|python_tag|>[" + tide + ", {"}) {
    const auto got = parse_at_every_step("llama3", raw);
    CHECK(got.calls() == R"(search{"query": "tide"})");
    CHECK(got.reply.calls.size() == 1);
    CHECK(got.reply.incomplete);
    CHECK(got.visible().empty());
  }
  CHECK(parse_at_every_step("llama3", "[search(query=\"tide\"), add(a=1,").calls() == R"(search{"query":"tide"})");
  CHECK(parse_at_every_step("mistral", "[TOOL_CALLS][" + tide + ", " + sum + ", {").reply.calls.size() == 2);
  // The text behind the object may be a part of it.
  for (const std::string& raw :
       {"[TOOL_CALLS][" + tide + ", \"limit\": 3", "[TOOL_CALLS][" + tide + "x",
        std::string("[TOOL_CALLS][{\"name\": \"search\"}, {\"query\": \"ti"), "[TOOL_CALLS][[" + tide + ", {"}) {
    const auto got = parse_at_every_step("mistral", raw);
    CHECK(got.reply.calls.empty());
    CHECK(got.reply.incomplete);
  }
  const auto shown =
      parse_at_every_step("mistral", "[TOOL_CALLS][" + tide + ", {\"nme\": \"low", {.show_unreadable = true});
  CHECK(shown.calls() == R"(search{"query": "tide"})");
  CHECK(contains(shown.text, "low"));
  CHECK_FALSE(contains(shown.text, "tide"));
}

TEST_CASE("F5: reasoning whose opening mark is missing is none of the answer, its calls are not run, no mark is seen") {
  struct row {
    std::string raw, text, answer;
  };
  const std::string call = "<tool_call>" + tide + "</tool_call>";
  for (const auto& [raw, text, answer] :
       {row{"secret</think>vis", "secretvis", "vis"}, row{"secret\n</think>\n\nvis", "secretvis", "vis"},
        row{"secret </think>", "secret", ""}, row{"a " + call + "</think>Answer", "a Answer", "Answer"},
        row{"a " + call + "\n</think>\n**4**", "a **4**", "**4**"}, row{"```\n" + tide + "\n```\n</think>4", "4", "4"}})
    for (const auto untagged : {bare::alone, bare::anywhere}) {
      const auto got = parse_at_every_step("hermes", raw, {.untagged = untagged});
      CAPTURE(raw);
      CHECK(got.reply.calls.empty());
      CHECK(without_gaps(got.text) == without_gaps(text));
      CHECK(got.answer == answer);
    }
  const auto run = parse_at_every_step("hermes", "a " + call + "\n</think>" + call);
  CHECK(run.calls() == R"(search{"query": "tide"})");
  CHECK(run.answer.empty());
  CHECK(parse_at_every_step("react", "secret\n</think>\nvis").answer == "vis");
  for (const std::string said :
       {"The mark `</think>` ends it.", "It ends with \"</think>\".", "See </think>, it ends."})
    CHECK(parse_at_every_step("hermes", said).answer == said);
}

}  // namespace
