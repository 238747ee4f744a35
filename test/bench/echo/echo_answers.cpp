// Requests to answers.
#include "test/bench/echo/echo_answers.hpp"

#include "test/bench/echo/echo_tools.hpp"
#include "test/bench/line_stream.hpp"
#include "test/fixtures/json_peek.hpp"

namespace mcpbx::bench {
namespace {

using fixture::member;

// The members that 2026-07-28 has in every result, and those of results that may be kept.
constexpr std::string_view complete = R"("resultType":"complete",)";
constexpr std::string_view kept = R"("ttlMs":3600000,"cacheScope":"public",)";
constexpr std::string_view capabilities = R"("capabilities":{"tools":{"listChanged":true},"resources":{}})";

void append_tool(long index, std::string& out) {
  out += R"({"name":")" + tool_name(index) + R"(","description":")";
  out += tool_description;
  out += R"(","inputSchema":)";
  out += tool_schema;
  out += '}';
}

void append_text(std::string_view size, std::string_view text, std::string& out) {
  if (const auto bytes = fixture::integer_of(size)) {
    out += '"';
    out.append(static_cast<std::size_t>(*bytes), 'x');
    out += '"';
  } else {
    out += text.empty() ? std::string_view("\"\"") : text;
  }
}

}  // namespace

echo_answers::echo_answers(long tools, bool modern) : modern_(modern) {
  for (long i = 0; i < tools; ++i) {
    if (i > 0) tools_ += ',';
    append_tool(i, tools_);
  }
}

bool echo_answers::take_changed() {
  const bool was = changed_;
  changed_ = false;
  return was;
}

void echo_answers::result(std::string_view members, std::string_view more, std::string& out) const {
  out += R"(,"result":{)";
  if (modern_) out.append(complete).append(more);
  out += members;
  out += "}}";
}

void echo_answers::call(std::string_view params, std::string& out) {
  const auto arguments = member(params, "arguments");
  if (member(arguments, "changed") == "true") {
    extra_ = !extra_;
    changed_ = true;
  }
  out += R"(,"result":{)";
  if (modern_) out += complete;
  out += R"("content":[{"type":"text","text":)";
  append_text(member(arguments, "size"), member(arguments, "message"), out);
  out += "}]}}";
}

void echo_answers::answer(std::string_view message, std::string& out) {
  const auto id = id_of(message);
  if (id.empty()) return;
  const auto method = member(message, "method");
  out += R"({"jsonrpc":"2.0","id":)";
  out += id;
  if (method == R"("tools/call")") {
    call(member(message, "params"), out);
  } else if (method == R"("tools/list")") {
    out += R"(,"result":{)";
    if (modern_) out.append(complete).append(kept);
    out.append(R"("tools":[)").append(tools_);
    if (extra_) {
      out += ',';
      append_tool(1'000'000, out);
    }
    out += "]}}";
  } else if (method == R"("resources/list")") {
    result(R"("resources":[{"uri":"bench:///16","name":"sixteen"}])", kept, out);
  } else if (method == R"("resources/read")") {
    out += R"(,"result":{)";
    if (modern_) out.append(complete).append(kept);
    out += R"("contents":[{"uri":"bench:///16","mimeType":"text/plain","text":)";
    append_text("16777216", {}, out);
    out += "}]}}";
  } else if (method == R"("initialize")" && !modern_) {
    result(R"("protocolVersion":"2025-11-25",)" + std::string(capabilities) +
               R"(,"serverInfo":{"name":"bench_echo","version":"1"})",
           {}, out);
  } else if (method == R"("server/discover")" && modern_) {
    result(R"("supportedVersions":["2026-07-28"],)" + std::string(capabilities), kept, out);
  } else if (method == R"("ping")" && !modern_) {
    result({}, {}, out);
  } else {
    out += R"(,"error":{"code":-32601,"message":"Method not found"}})";
  }
}

}  // namespace mcpbx::bench
