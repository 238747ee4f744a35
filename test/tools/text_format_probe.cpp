// Runs text formats over what models wrote: a line {"format", "tools", "chunks": […]} on stdin (tools in MCP's shape)
// gives a line {"calls": [{name, arguments}], "problems": [{name, problem}], "visible_text", "incomplete"} on stdout,
// or
// {"error"}. Problems are those of calls that must not be run.
#include "mcp/json/json_walk.hpp"
#include "mcp/json/json_writer.hpp"
#include "providers/text/format.hpp"

#include <iostream>
#include <memory>
#include <string>

namespace {

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::providers;

struct shown final : text::marks::parse_sink {
  std::string text;
  void on_text(std::string_view delta) override { text += delta; }
  void on_reasoning(std::string_view) override {}
  void on_text_was_reasoning() override { text.clear(); }
};

std::string probe(const raw_json& line) {
  const auto* format = text::find_format(walk::text(walk::find(line.text(), "format")));
  if (format == nullptr)
    return R"({"error":"format is none of react, hermes, qwen3-coder, llama3, mistral, xml, glm, harmony, deepseek, )"
           R"(gemma, minimax"})";
  auto tools = std::make_shared<tool_set>();
  walk::elements(walk::find(line.text(), "tools"), [&](std::string_view tool) {
    tools->tools.push_back({walk::text(walk::find(tool, "name")), walk::text(walk::find(tool, "description")),
                            raw_json::own(walk::find(tool, "inputSchema"))});
  });
  const auto parser = format->make_parser(text::marks::offered_tools(tools), {});
  shown sink;
  walk::elements(walk::find(line.text(), "chunks"),
                 [&](std::string_view chunk) { parser->feed(walk::text(chunk), sink); });
  const auto reply = parser->finish(sink);
  std::string out;
  json_writer w(out);
  w.begin_object().key("calls").begin_array();
  for (const auto& call : reply.calls)
    if (call.problem.empty())
      w.begin_object().member("name", call.name).member("arguments", call.arguments).end_object();
  w.end_array().key("problems").begin_array();
  for (const auto& call : reply.calls)
    if (!call.problem.empty()) w.begin_object().member("name", call.name).member("problem", call.problem).end_object();
  w.end_array().member("visible_text", sink.text).member("incomplete", reply.incomplete).end_object();
  return out;
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const auto json = raw_json::parse(line);
    std::cout << (json ? probe(*json) : R"({"error":)" + json_quoted(json.error().message) + "}") << '\n' << std::flush;
  }
  return 0;
}
