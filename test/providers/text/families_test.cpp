// Calls as families of open models write them: whole, cut off anywhere, in code, in reasoning, and as a last resort.
#include "test/providers/text/every_step.hpp"
#include "test/support/contains.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace mcpbx;
using namespace mcpbx::test;
using bare = providers::text::marks::parser_options::bare;

// A call of search with a query and a limit, in each of the forms.
struct family_call {
  std::string_view format;
  std::string raw;
};
const std::vector<family_call>& whole_calls() {
  static const std::vector<family_call> all{
      {"harmony",
       "<|channel|>commentary to=functions.search "
       "<|constrain|>json<|message|>{\"query\":\"tide\",\"limit\":3}<|call|>"},
      {"harmony",
       "<|start|>assistant to=functions.search<|channel|>commentary "
       "<|constrain|>json<|message|>{\"query\":\"tide\",\"limit\":3}<|call|>"},
      {"deepseek",
       "<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"search\">\n<｜DSML｜parameter name=\"query\" "
       "string=\"true\">tide</｜DSML｜parameter>\n<｜DSML｜parameter name=\"limit\" "
       "string=\"false\">3</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>"},
      {"deepseek",
       "<｜｜DSML｜｜invoke name=\"search\"><｜｜DSML｜｜parameter name=\"query\" "
       "string=\"true\">tide</｜｜DSML｜｜parameter><｜｜DSML｜｜parameter name=\"limit\" "
       "string=\"false\">3</｜｜DSML｜｜parameter></｜｜DSML｜｜invoke>"},
      {"gemma", "<|tool_call>call:search{query:<|\"|>tide<|\"|>,limit:3}<tool_call|>"},
      {"minimax",
       "]<]minimax[>[<tool_call>\n]<]minimax[>[<invoke "
       "name=\"search\">\n]<]minimax[>[<query>tide]<]minimax[>[</query>\n"
       "]<]minimax[>[<limit>3]<]minimax[>[</limit>\n]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>"},
      {"harmony", "commentary to=functions.search json{\"query\":\"tide\",\"limit\":3}"},
  };
  return all;
}

// Returns the text behind its first line, without blanks around it.
std::string without_first_line(const std::string& text) {
  const auto line = text.find('\n');
  return line == std::string::npos ? std::string() : std::string(trimmed(std::string_view(text).substr(line)));
}

TEST_CASE("F10: a call of each family is run, between words too, and cut off anywhere nothing of it is shown") {
  const std::string expected = R"(search{"query":"tide","limit":3})";
  for (const auto& [format, raw] : whole_calls())
    for (const auto untagged : {bare::alone, bare::anywhere}) {
      CAPTURE(raw);
      const auto got = parse_at_every_step(format, "So.\n" + raw + "\nDone.", {.untagged = untagged});
      CHECK(got.calls() == expected);
      CHECK(got.visible() == "So.\nDone.");
      CHECK(parse_at_every_step(format, raw + "\n" + raw, {.untagged = untagged}).calls() == expected + " " + expected);
      for (std::size_t size = 1; size < raw.size(); ++size) {
        CAPTURE(size);
        const auto cut = parse_at_every_step(format, "So.\n" + raw.substr(0, size), {.untagged = untagged});
        const auto words = without_first_line(cut.text);
        CHECK_MESSAGE((words.size() < 3 || contains("commentary to=functions", words)), words);
        CHECK((cut.calls().empty() || cut.calls() == expected));
        if (size > 40) CHECK((cut.reply.incomplete || !cut.reply.calls.empty()));
      }
    }
}

TEST_CASE("F10: a call of each family among other lines of a code block or in backticks is text, to the byte") {
  for (const auto& [format, raw] : whole_calls()) {
    std::vector<std::string> examples{"In text:\n```text\nfirst\n" + raw + "\nlast\n```\nDone."};
    if (!contains(raw, "\n")) examples.push_back("Write `" + raw + "` there.");
    for (const auto& quoted : examples) {
      CAPTURE(quoted);
      const auto got = parse_at_every_step(format, quoted);
      CHECK(got.reply.calls.empty());
      CHECK(got.text == quoted);
    }
  }
}

TEST_CASE("F10: a MiniMax call of any depth is refused without a tree of that depth") {
  constexpr std::string_view token = "]<]minimax[>[";
  std::string raw = std::string(token) + "<invoke name=\"search\">";
  for (const std::string_view mark : {"<a>", "</a>"})
    for (int i = 0; i < 300'000; ++i) (raw += token) += mark;
  const auto got = parse_text("minimax", raw + std::string(token) + "</invoke>");
  REQUIRE(got.reply.calls.size() == 1);
  CHECK(contains(got.reply.calls[0].problem, "too deep"));
}

TEST_CASE("F10: a call of each family in reasoning is none") {
  for (const auto& [format, raw] : whole_calls()) {
    CAPTURE(raw);
    const auto got = parse_at_every_step(format, "<think>I could write " + raw + " here.</think>\nFour.");
    CHECK(got.reply.calls.empty());
    CHECK(got.visible() == "Four.");
  }
}

TEST_CASE("F10: Harmony's first word is reasoning behind blanks, and is none with blanks in it, at every split") {
  CHECK(parse_at_every_step("harmony", "\n \nanalysisThey want four.assistantfinalFour.").answer == "Four.");
  for (const std::string_view blank : {" ", "\r", "\n", "\r\r\r\t\n"}) {
    const auto raw = "analy" + std::string(blank) + "sis\ncommentary to=functions.x js {}assistantfinalSo.";
    CHECK(parse_at_every_step("harmony", raw).answer == raw);
  }
}

}  // namespace
