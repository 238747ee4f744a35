// Runs text formats over what models wrote: a line {"format", "tools", "chunks": […]} on stdin (tools in MCP's shape)
// gives a line {"calls": [{name, arguments}], "visible_text", "incomplete"} on stdout, or {"error"}.
#include "mcp/json/json_walk.hpp"
#include "providers/text/format.hpp"

#include <iostream>
#include <memory>
#include <string>

namespace {

using namespace mcpbx;
using namespace mcpbx::providers;

struct shown final : text::parse_sink {
  std::string text;
  void on_text(std::string_view delta) override { text += delta; }
  void on_reasoning(std::string_view) override {}
  void on_text_was_reasoning() override { text.clear(); }
};

std::string probe(const raw_json& line) {
  const auto* format = text::find_format(walk::text(walk::find(line.text(), "format")));
  if (format == nullptr)
    return R"({"error":"format is none of react, hermes, qwen3-coder, llama3, mistral, xml, glm"})";
  auto tools = std::make_shared<tool_set>();
  walk::elements(walk::find(line.text(), "tools"), [&](std::string_view tool) {
    tools->tools.push_back({walk::text(walk::find(tool, "name")), walk::text(walk::find(tool, "description")),
                            raw_json::own(walk::find(tool, "inputSchema"))});
  });
  const auto parser = format->make_parser(text::offered_tools(tools), {});
  shown sink;
  walk::elements(walk::find(line.text(), "chunks"),
                 [&](std::string_view chunk) { parser->feed(walk::text(chunk), sink); });
  const auto reply = parser->finish(sink);
  std::string out = R"({"calls":[)";
  bool first = true;
  for (const auto& call : reply.calls) {
    if (!call.problem.empty()) continue;
    if (!std::exchange(first, false)) out += ',';
    out += R"({"name":)" + json_quoted(call.name) + R"(,"arguments":)" + std::string(call.arguments.text()) + "}";
  }
  return out + R"(],"visible_text":)" + json_quoted(sink.text) + R"(,"incomplete":)" +
         (reply.incomplete ? "true}" : "false}");
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
