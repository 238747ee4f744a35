// After three unreadable replies in a row the third one is the answer: its words are shown, without marks of any form.
#include "test/providers/text/every_step.hpp"
#include "test/support/contains.hpp"

#include <doctest/doctest.h>

#include <string_view>
#include <vector>

namespace {

using namespace mcpbx;
using namespace mcpbx::test;
using mcpbx::providers::text::marks::parser_options;

TEST_CASE("F6: a third unreadable reply is shown with its words and without any mark, opening or closing") {
  struct row {
    std::string_view format, raw;
    std::vector<std::string_view> words;
  };
  const row rows[] = {
      {"hermes", "Wait.\n<tool_call>{\"nme\": \"tide\"}</tool_call>\nDone.</tool_call>", {"Wait.", "tide", "Done."}},
      {"hermes", "It is four.</tool_call> So it is.", {"It is four.", "So it is."}},
      {"hermes", "It is four.<|im_end|> So <|eom_id|>it is.", {"It is four.", "So it is."}},
      {"hermes", "<|im_start|>assistant\nIt is four.<|im_end|>\n<|im_start|>user\nAnd?", {"It is four.", "And?"}},
      {"hermes", "The mark <tool_call> is one, </tool_call> and <parameter=x> too.", {"is one,", "x", "too."}},
      {"hermes", "Wait. <tool_call>\nname: search\nquery: tide\n</tool_call>", {"Wait.", "search", "tide"}},
      {"hermes", "<tool_call>{\"name\": \"search\", \"arguments\": {\"query\": \"tide", {"search", "tide"}},
      {"hermes", "<tool_call>{\"name\": \"search\", \"arguments\": {}}, \"query\": \"tide\"</tool_call>", {"tide"}},
      {"hermes", "<tool_call>search tide now", {"search tide now"}},
      {"hermes", "<tool_call>{\"nme\": \"tide\"}</tool_c", {"tide"}},
      {"hermes", "Sorry <tool_call id=\"2\">{\"nme\": \"tide\" it fails", {"Sorry", "tide", "it fails"}},
      {"hermes", "<TOOL_CALL >{\"nme\": \"tide\"}</TOOL_CALL > So.", {"tide", "So."}},
      {"hermes", "Well <tool_call query=\"tide\">{}</tool_call>", {"Well", "tide"}},
      {"hermes", "Well <tool_call id=\"2>{\"nme\": \"tide\"}", {"Well", "tide"}},
      {"mistral", "So: [tool_calls]tide", {"So:", "tide"}},
      {"xml",
       "Wait.\n<function_calls>\n<invoke name=\"search\">\n<parameter name=\"query\">high tide</parameter>\nand low\n"
       "</invoke>\n</function_calls>",
       {"Wait.", "search", "query", "high tide", "and low"}},
      {"xml",
       "<invoke name=\"search\"><parameter name=\"query\">high</parameter> tide</parameter></invoke>",
       {"high", "tide"}},
      {"xml", "<invoke name=\"search\" query=\"high tide\"></invoke>", {"search", "high tide"}},
      {"xml", "<invoke name=\"search\"><parameter name=\"query\">high tide", {"search", "high tide"}},
      {"xml", "<invoke name=\"search\"><query>high tide</query></invoke>", {"search", "high tide"}},
      {"qwen3-coder",
       "Wait.\n<tool_call>\n<function=search>\n<parameter=query>\nhigh tide\n</parameter>\nand "
       "low\n</function>\n</tool_call>",
       {"Wait.", "search", "query", "high tide", "and low"}},
      {"qwen3-coder", "<tool_call>\n<function=search>\n<parameter=query>\nhigh tide\n", {"search", "high tide"}},
      {"qwen3-coder", "<function=search>high tide</function>", {"search", "high tide"}},
      {"qwen3-coder", "<tool_call>\n<function=search>{\"query\": \"high", {"search", "high"}},
      {"qwen3-coder", "<tool_call>\n<function=add>{\"a\": 1, b}</function></tool_call>", {"\"a\": 1"}},
      {"glm",
       "Wait.\n<tool_call>search\n<arg_key>query</arg_key>\nhigh tide</arg_value>\n</tool_call>",
       {"Wait.", "search", "query", "high tide"}},
      {"glm", "<tool_call>search<arg_key>query</arg_key><arg_value>high tide", {"search", "query", "high tide"}},
      {"glm", "<tool_call>search<arg_value>high tide</arg_value></tool_call>", {"search", "high tide"}},
      {"harmony",
       "<|channel|>commentary to=functions.search <|constrain|>json<|message|>high tide<|call|>",
       {"high tide"}},
      {"harmony", "<|channel|>commentary to=functions.search <|constrain|>json<|message|>{\"query\": \"hi", {"hi"}},
      {"deepseek",
       "Wait.\n<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"search\">\n<parameter name=\"query\">high "
       "tide</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>",
       {"Wait.", "search", "query", "high tide"}},
      {"deepseek",
       "<｜DSML｜invoke name=\"search\"><｜DSML｜parameter name=\"query\" string=\"true\">high tide",
       {"search", "query", "high tide"}},
      {"gemma", "<|tool_call>call:search{query:<|\"|>high <|\"|>tide<|\"|>}<tool_call|>", {"high", "tide"}},
      {"gemma", "Wait. <|tool_call>call:search{query:<|\"|>high tide", {"Wait.", "search", "high tide"}},
      {"minimax",
       "Wait.]<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name=\"search\">]<]minimax[>[<query>high "
       "tide]<]minimax[>[<limit>3]<]minimax[>[</limit>]<]minimax[>[</invoke>]<]minimax[>[</tool_call>",
       {"Wait.", "search", "query", "high tide", "limit", "3"}},
      {"minimax", "]<]minimax[>[<invoke name=\"search\">]<]minimax[>[<query>high tide]<]mini", {"search", "high tide"}},
      {"llama3", "<|python_tag|>add(1, 2)<|eom_id|>", {"add(1, 2)"}},
      {"llama3", "<|python_tag|>{\"name\": \"search\", \"parameters\": {\"query\": \"high", {"search", "high"}},
      {"mistral", "Wait. [TOOL_CALLS]search[ARGS]{\"query\": \"high\"}{\"limit\": 3}", {"Wait.", "high", "limit"}},
      {"mistral", "[TOOL_CALLS][CALL_ID]search[ARGS]{\"query\": \"high\"}", {"high"}},
      {"mistral", "[TOOL_CALLS]search[ARGS]query=high tide", {"search", "high tide"}},
      {"mistral", "[TOOL_CALLS]search[ARGS]{\"query\": \"high", {"high"}},
      {"react", "Thought: I know it, it is 4.", {"it is 4."}},
      {"react", "Thought: x\nAction: add\nAction Input: {\"a\": 1, b}\nObservation: made up", {"\"a\": 1"}},
      {"react",
       "Thought: x\nAction: add\nAction Input: {\"a\": 1\nObservation: made up\nFinal Answer: 4",
       {"\"a\": 1"}},
      {"react", "Thought: x\nAction: add {\"a\": 1\nAction Input: none", {"\"a\": 1"}},
      {"react", "Action: search the tide\nAction Input:\n", {"search the tide"}},
      {"react", "Thought: x\nAction: search\nAction Input: {\"query\": \"high\"}, \"limit\": 3}", {"high", "limit"}},
      {"react",
       "Thought: I say <tool_call>{\"name\": \"search\", \"arguments\": {\"query\": \"high",
       {"I say", "high"}},
      {"react", "Thought: x\nAction: add\nAction Input: <tool_call>{\"a\": 1, b}</tool_call><|im_end|>", {"\"a\": 1"}},
  };
  for (const auto& r : rows) {
    CAPTURE(std::string(r.format));
    CAPTURE(r.raw);
    const parser_options options{.show_unreadable = true};
    const auto got = parse_at_every_step(r.format, r.raw, options);
    CAPTURE(got.text);
    CHECK(got.calls().empty());
    for (const auto& mark : marks_of(r.format)) CHECK_FALSE_MESSAGE(contains(got.text, mark), mark);
    CHECK_FALSE(contains(got.text, "made up"));
    for (const auto word : r.words) CHECK_MESSAGE(contains(got.text, word), word);
  }
}

TEST_CASE("F6: a third reply of random pieces of marks shows none of them, the same at every split") {
  namespace text = providers::text;
  std::vector<std::string_view> whole,
      pieces{"a", " ", "\n", "{\"name\": \"search\"", "}", "search", "<", ">", "/", "\""};
  for (const auto& mark : providers::text::marks::angle_marks) whole.push_back(mark.text);
  for (const auto& mark : providers::text::marks::closing_marks) whole.push_back(mark.text);
  for (const std::string_view mark : {"<parameter=", "</parameter>", "<arg_value>", "</arg_value>", "</arg_key>",
                                      "[TOOL_CALLS]", "[ARGS]", "[TOOL_RESULTS]"})
    whole.push_back(mark);
  pieces.insert(pieces.end(), whole.begin(), whole.end());
  std::uint64_t state = 5;
  const auto next = [&](std::uint64_t below) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (state >> 33) % below;
  };
  const parser_options options{.show_unreadable = true};
  for (int round = 0; round < 2000; ++round) {
    std::string raw;
    for (auto n = 1 + next(12); n > 0; --n) {
      const auto piece = pieces[next(pieces.size())];
      raw += next(4) == 0 ? piece.substr(0, next(piece.size() + 1)) : piece;
    }
    CAPTURE(raw);
    for (const std::string_view format : {"hermes", "react"}) {
      const auto got = parse_text(format, raw, std::string_view::npos, options);
      CAPTURE(got.text);
      for (const auto mark : whole) CHECK_FALSE_MESSAGE(contains(got.text, mark), mark);
      CHECK(parse_text(format, raw, 1 + next(9), options).str() == got.str());
    }
  }
}

TEST_CASE("F6: a third reply that is plain text, or whose call can be read, is what it is") {
  const parser_options options{.show_unreadable = true};
  for (const std::string_view raw : {"1 < 2 && 3 > 2, a[0] <b> <", "`x` [a](b) {c} <d>\n", "", " ", "Thoughts: none."})
    for (const auto* format : providers::text::formats())
      for (const std::size_t step : {1U, 2U, 100U}) {
        CAPTURE(std::string(format->name()));
        CHECK(parse_text(format->name(), raw, step, options).text == raw);
      }
  const auto got = parse_text(
      "hermes", "So.\n<tool_call>{\"name\": \"search\", \"arguments\": {\"query\": \"<s>\"}}</tool_call>", 1, options);
  CHECK(got.calls() == R"(search{"query": "<s>"})");
  CHECK(got.visible() == "So.");
}

TEST_CASE("F7: what a third reply makes up behind a mark is not shown, also what came in one piece with it") {
  const parser_options options{.show_unreadable = true};
  for (const std::size_t step : {std::size_t{1}, std::size_t{7}, std::string_view::npos})
    CHECK(parse_text("react", "<s>Observation: made up</think> done", step, options).text == "done");
}

TEST_CASE("F6: a reply of half marks in quotes and calls is shown the same however it is cut") {
  using bare = parser_options::bare;
  const std::string raw = "</s><tool_call>{}[tool_calls]{</arg_valu></tool_call>&lt;`</tool_call>";
  for (const auto* format : providers::text::formats())
    for (const auto untagged : {bare::never, bare::alone, bare::anywhere}) {
      const parser_options options{.untagged = untagged, .show_unreadable = true};
      const auto whole = parse_text(format->name(), raw, std::string_view::npos, options);
      for (const std::size_t step : {1U, 2U, 3U, 7U, 64U})
        CHECK(parse_text(format->name(), raw, step, options).str() == whole.str());
    }
}

}  // namespace
