// Requests of both eras.
#include "test/bench/channel.hpp"

#include "test/bench/line_stream.hpp"
#include "test/fixtures/json_peek.hpp"

namespace mcpbx::bench {

std::string channel::params_of(std::string_view params) const {
  if (!modern_) return std::string(params);
  const std::string_view rest = params.substr(1);
  return R"({"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
         R"("io.modelcontextprotocol/clientInfo":{"name":"mcpbx_bench","version":"1"},)"
         R"("io.modelcontextprotocol/clientCapabilities":{}})" +
         std::string(rest == "}" ? "" : ",") + std::string(rest);
}

std::string channel::request(std::string_view method, std::string_view params) {
  const std::string id = std::to_string(next_id());
  send("{\"jsonrpc\":\"2.0\",\"id\":" + id + ",\"method\":\"" + std::string(method) +
       "\",\"params\":" + params_of(params) + "}");
  std::string answer;
  while (answer.empty())
    pump([&](std::string_view line) {
      if (id_of(line) == id) answer = line;
    });
  return answer;
}

void channel::shake_hands() {
  if (modern_) return;
  request("initialize",
          R"({"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"mcpbx_bench","version":"1"}})");
  send(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
}

// Follows pages; counts names without decoding them, so that the list's cost stays the target's.
int channel::list_tools() {
  int count = 0;
  std::string params = "{}";
  for (;;) {
    const std::string answer = request("tools/list", params);
    constexpr std::string_view key = "{\"name\":\"";
    for (auto at = answer.find(key); at != std::string::npos; at = answer.find(key, at + 1)) {
      ++count;
      const auto begin = at + key.size();
      const auto name = answer.substr(begin, answer.find('"', begin) - begin);
      if (tool_.empty() && name.ends_with("echo")) tool_ = name;
    }
    const auto next = fixture::member(fixture::member(answer, "result"), "nextCursor");
    if (next.empty() || next == "null") return count;
    params = "{\"cursor\":" + std::string(next) + "}";
  }
}

}  // namespace mcpbx::bench
