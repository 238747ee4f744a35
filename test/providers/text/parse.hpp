// Running a format's parser over a text, cut into pieces, and comparing what it gives.
#pragma once
#include "mcp/json/raw_json.hpp"
#include "providers/text/format.hpp"
#include "providers/text/marks/marks.hpp"
#include "providers/text/marks/text_scan.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::test {

struct parsed_text final : providers::text::marks::parse_sink {
  std::string text, thoughts;
  std::string answer;  // the text that was not found to be reasoning later
  providers::text::marks::parsed_reply reply;
  bool stopped = false;
  std::size_t counted = 0;
  void on_text(std::string_view delta) override {
    text += delta;
    answer += delta;
  }
  void on_text_was_reasoning() override { answer.clear(); }
  void on_reasoning(std::string_view delta) override { thoughts += delta; }

  /// Everything in one line: what two ways of cutting must agree on.
  std::string str() const {
    std::string all = "text=" + text + " answer=" + answer + " thoughts=" + thoughts +
                      (reply.incomplete ? " incomplete" : "") + (stopped ? " stopped" : "") +
                      " counted=" + std::to_string(counted) + " forms=" + std::to_string(reply.forms);
    for (const auto& c : reply.calls)
      all +=
          " call=" + c.name + std::string(c.arguments.text()) + c.problem + c.arguments_text + (c.repaired ? "*" : "");
    return all;
  }
  /// The calls that would be run, as `name{arguments}`, joined by blanks.
  std::string calls() const {
    std::string all;
    for (const auto& c : reply.calls)
      if (c.problem.empty()) all += (all.empty() ? "" : " ") + c.name + std::string(c.arguments.text());
    return all;
  }
  std::string visible() const { return std::string(trimmed(text)); }
};

/// The tools of the vectors (testdata): required members are marked with * in its README.
inline std::shared_ptr<const providers::tool_set> vector_tools() {
  static const auto set = [] {
    auto made = std::make_shared<providers::tool_set>();
    const auto add = [&](std::string name, std::string_view properties, std::string_view required) {
      made->tools.push_back({std::move(name), "A tool.",
                             mcpbx::json::raw_json::own(R"({"type":"object","properties":{)" + std::string(properties) +
                                                        R"(},"required":[)" + std::string(required) + "]}")});
    };
    add("get_weather", R"("city":{"type":"string"},"days":{"type":"integer"})", R"("city")");
    add("search", R"("query":{"type":"string"},"limit":{"type":"integer"})", R"("query")");
    add("read_file", R"("path":{"type":"string"})", R"("path")");
    add("write_file", R"("path":{"type":"string"},"content":{"type":"string"})", R"("path","content")");
    add("run_sql", R"("sql":{"type":"string"})", R"("sql")");
    add("add", R"("a":{"type":"number"},"b":{"type":"number"})", R"("a","b")");
    add("list_all", "", "");
    add("set_flag", R"("on":{"type":"boolean"},"tag":{"type":["string","null"]})", R"("on")");
    add("batch", R"("items":{"type":"array"})", R"("items")");
    return made;
  }();
  return set;
}

inline parsed_text parse_text(std::string_view format, std::string_view raw, std::size_t step = std::string_view::npos,
                              providers::text::marks::parser_options options = {},
                              const std::shared_ptr<const providers::tool_set>& tools = vector_tools()) {
  parsed_text got;
  const auto parser =
      providers::text::find_format(format)->make_parser(providers::text::marks::offered_tools(tools), options);
  for (std::size_t at = 0; at < raw.size(); at += std::min(step, raw.size() - at))
    parser->feed(raw.substr(at, step), got);
  got.reply = parser->finish(got);
  got.stopped = parser->stopped();
  got.counted = parser->counted();
  return got;
}

/// Every mark that nobody may see of a reply in this format: opening and closing ones, special tokens, and ReAct's.
inline std::vector<std::string> marks_of(std::string_view format) {
  namespace text = providers::text;
  std::vector<std::string> all{"<parameter",  "</parameter", "<arg_key",   "</arg_key",       "<arg_value",
                               "</arg_value", "<tool_",      "</tool_",    "[TOOL_RESULTS]",  "[TOOL_CALLS]",
                               "[ARGS]",      "[CALL_ID]",   "<function",  "</function",      "<invoke",
                               "</invoke",    "<|",          "</function", "[/TOOL_RESULTS]", "CDATA",
                               "DSML",        "]<]minimax"};
  for (const auto& mark : providers::text::marks::angle_marks) all.emplace_back(mark.text);
  for (const auto& mark : providers::text::marks::closing_marks) all.emplace_back(mark.text);
  if (format == "react")
    for (const auto* word : {"Thought:", "Action:", "Action Input:", "Observation:", "Final Answer:"})
      all.emplace_back(word);
  return all;
}

}  // namespace mcpbx::test
