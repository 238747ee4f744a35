// The tool server of the benchmark: MCP on stdin and stdout, one thread, no allocation worth mentioning per call.
//   bench_echo [TOOLS]      TOOLS: how many tools it lists (10); the first is "echo"
// echo gives "message" back; with "size" it gives that many characters instead.
#include "test/bench/echo_tools.hpp"
#include "test/bench/line_stream.hpp"
#include "test/fixtures/json_peek.hpp"

#include <cstdlib>
#include <string>
#include <string_view>

namespace {

using mcpbx::bench::line_stream;
using mcpbx::fixture::member;

std::string tool_list(long count) {
  std::string out = R"({"tools":[)";
  for (long i = 0; i < count; ++i) {
    if (i > 0) out += ',';
    out += R"({"name":")" + mcpbx::bench::tool_name(i) + R"(","description":")";
    out += mcpbx::bench::tool_description;
    out += R"(","inputSchema":)";
    out += mcpbx::bench::tool_schema;
    out += '}';
  }
  return out + "]}";
}

void answer(std::string_view line, const std::string& tools, std::string& out) {
  const auto id = mcpbx::bench::id_of(line);
  if (id.empty()) return;
  const auto method = member(line, "method");
  out += R"({"jsonrpc":"2.0","id":)";
  out += id;
  if (method == R"("tools/call")") {
    const auto arguments = member(member(line, "params"), "arguments");
    out += R"(,"result":{"content":[{"type":"text","text":)";
    if (const auto size = mcpbx::fixture::integer_of(member(arguments, "size"))) {
      out += '"';
      out.append(static_cast<std::size_t>(*size), 'x');
      out += '"';
    } else {
      const auto message = member(arguments, "message");
      out += message.empty() ? std::string_view("\"\"") : message;
    }
    out += "}]}}\n";
  } else if (method == R"("tools/list")") {
    out += R"(,"result":)" + tools + "}\n";
  } else if (method == R"("initialize")") {
    out += R"(,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},)"
           R"("serverInfo":{"name":"bench_echo","version":"1"}}})"
           "\n";
  } else if (method == R"("ping")") {
    out += ",\"result\":{}}\n";
  } else {
    out += R"(,"error":{"code":-32601,"message":"Method not found"}})"
           "\n";
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string tools = tool_list(argc > 1 ? std::atol(argv[1]) : 10);
  line_stream lines(0, 1, true);
  while (lines.fill([&](std::string_view line) { answer(line, tools, lines.queue()); }) && lines.flush()) {
  }
}
