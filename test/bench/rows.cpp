// The table: all rows, with their aims.
#include "test/bench/suites/suites.hpp"

#include <string>

namespace mcpbx::bench {

void declare_rows(report& out) {
  out.show({"one call at a time, p50", "µs", 1, "floor", false, "at most 1.6x"});
  out.show({"the same through mcpbx mcp, p50", "x", 2, "", false, "at most 2.5"});
  out.show({"one call at a time, p99", "µs", 1, "floor", false, ""});
  out.show({"one call at a time, CPU per call", "µs", 1, "floor", false, "at most 20"});
  out.show({"32 calls open", "calls/s", 0, "floor", false, "at least 0.5x"});
  out.show({"32 calls open, CPU per call", "µs", 1, "floor", false, "at most 6"});
  out.show({"256 calls open", "calls/s", 0, "floor", false, "at least 0.5x"});
  out.show({"resident, idle, 1 server", "MiB", 1, "", false, "at most 10"});
  out.show({"resident, peak under calls", "MiB", 1, "", false, "at most 24"});
  out.show({"result of 1 MiB, p50", "ms", 2, "floor", false, ""});
  out.show({"result of 16 MiB, p50", "ms", 1, "floor", false, "at most 1.5x"});
  out.show({"resource of 16 MiB, p50", "ms", 1, "floor", false, "at most 1.0x"});
  out.show({"resident after 16 MiB results", "MiB", 1, "", false, "as before"});
  out.show({"tools/list of 10,000 tools, p50", "ms", 2, "direct", false, "at most 1.1x"});
  out.show({"the same, 2026-07-28 on both sides, p50", "ms", 2, "direct", false, "at most 1.1x"});
  out.show({"call, new caller and old server, p50", "x", 2, "", false, "at most 1.2"});
  out.show({"call, old caller and new server, p50", "x", 2, "", false, "at most 1.2"});
  out.show({"call, new caller and new server, p50", "x", 2, "", false, ""});
  out.show({"/mcp, one call at a time, p50", "µs", 1, "direct", false, "at most 2.5x"});
  out.show({"/mcp, one call at a time, CPU per call", "µs", 1, "", false, ""});
  out.show({"/mcp, 32 calls open", "calls/s", 0, "direct", false, "at least 0.5x"});
  out.show({"/mcp, 32 calls open, CPU per call", "µs", 1, "", false, ""});
  out.show({"/mcp of 2026-07-28, one call at a time, p50", "µs", 1, "direct", false, "at most 2.5x"});
  out.show({"/mcp of 2026-07-28, 32 calls open", "calls/s", 0, "direct", false, "at least 0.5x"});
  out.show({"server over HTTP, one call at a time, p50", "µs", 1, "direct", true, "at most +40"});
  out.show({"server over HTTP, 32 calls open", "calls/s", 0, "direct", false, "at least 0.6x"});
  out.show({"server over HTTP, 32 calls open, CPU per call", "µs", 1, "", false, ""});
  out.show({"server over HTTP, new era, one call, p50", "µs", 1, "direct", true, "at most +40"});
  out.show({"server over HTTP, new era, 32 calls open", "calls/s", 0, "direct", false, "at least 0.6x"});
  out.show({"server over HTTP, 16 MiB, p50", "ms", 1, "direct", false, ""});
  out.show({"server over HTTP, 16 MiB, peak", "MiB", 1, "", false, "at most 40"});
  out.show({"server over HTTP, first call", "round trips", 1, "direct", true, "at most +1"});
  out.show({"server over HTTP, first call, new era", "round trips", 1, "direct", true, "at most +1"});
  out.show({"resident, 100 idle servers over HTTP", "MiB", 1, "", false, "at most 20"});
  out.show({"idle caller on the socket", "KiB", 1, "", false, "at most 6"});
  out.show({"idle listening caller on the socket", "KiB", 1, "", false, ""});
  out.show({"idle caller of /mcp with a GET stream", "KiB", 1, "", false, "at most 24"});
  out.show({"idle caller of /mcp that listens", "KiB", 1, "", false, "at most 24"});
  out.show({"list_changed to 1,000 callers, CPU", "ms", 2, "floor", false, "at most 5"});
  out.show({"list_changed to 1,000 that listen, CPU", "ms", 2, "floor", false, "at most 5"});
  out.show({"list_changed to 1,000 GET streams, CPU", "ms", 2, "floor", false, "at most 5"});
  out.show({"list_changed to 1,000 listens of /mcp, CPU", "ms", 2, "floor", false, "at most 5"});
  out.show({"start to first list, 1 server", "ms", 1, "direct", true, "at most +15"});
  out.show({"start to full list, 50 servers", "ms", 1, "", false, "at most 250"});
  out.show({"resident, idle, 50 servers", "MiB", 1, "", false, "at most 16"});
  out.show({"10 tool rounds, run p50", "ms", 2, "direct", false, ""});
  out.show({"10 tool rounds, per round", "µs", 1, "direct", true, "at most +60"});
  out.show({"10 tool rounds, 100 at once", "runs/s", 0, "direct", false, "at least 800"});
  out.show({"10 tool rounds, CPU per run", "ms", 3, "", false, ""});
  out.show({"10 rounds, journal on, run p50", "ms", 2, "direct", false, ""});
  out.show({"10 rounds, journal on, per round", "µs", 1, "direct", true, "at most +150"});
  out.show({"10 rounds, journal on, 100 at once", "runs/s", 0, "direct", false, "at least 500"});
  out.show({"10 rounds, journal on, CPU per run", "ms", 3, "", false, ""});
  out.show({"streamed answer", "tokens/s", 0, "direct", false, "at least 400,000"});
  out.show({"streamed answer, CPU per token", "µs", 2, "", false, "at most 2"});
  out.show({"100 streamed answers", "tokens/s", 0, "direct", false, "at least 400,000"});
  out.show({"100 streamed answers, CPU per token", "µs", 2, "", false, "at most 2"});
  out.show({"resident, peak under 100 streams", "MiB", 1, "", false, "at most 32"});
  out.show({"first token, p50", "ms", 3, "direct", true, "at most +0.2"});
  out.show({"resident, peak under runs", "MiB", 1, "", false, "at most 32"});
  out.show({"resident, journal on, peak", "MiB", 1, "", false, ""});
  for (const char* door : {"/v1/chat/completions", "/v1/messages", "/v1/responses", "/api/chat"})
    for (const char* how : {"", ", streamed"})
      out.show({"a round at " + std::string(door) + how + ", p50", "µs", 1, "direct", true, "at most +80"});
  out.show({"resident, peak under 1,000 chats over HTTP", "MiB", 1, "", false, "at most 120"});
  for (const char* api : {"openai-chat", "openai-responses", "anthropic", "gemini", "ollama"})
    out.show({std::string("1,000 tools for ") + api, "ms", 2, "", false, "at most 20"});
  out.show({"1,000 tools, next round", "µs", 1, "", false, "none converted"});
  out.show({"1,000 tools, one changed", "ms", 2, "", false, "one converted"});
  out.show({"10,000 messages, first request", "ms", 2, "", false, ""});
  out.show({"10,000 messages, next round", "ms", 2, "", false, "one encoded"});
  out.show({"10,000 messages as text, next round", "ms", 2, "", false, "one encoded"});
  for (const auto* runs : {"one question a run", "three calls a run"}) {
    const std::string row = std::string("10,000 messages opened, ") + runs;
    out.show({row, "ms", 1, "", false, "at most 50"});
    out.show({row + ", instructions", "million", 0, "", false, ""});
  }
  out.show({"mcpbx --version, CPU", "ms", 1, "", false, "at most 5"});
  out.show({"mcpbx tools, CPU", "ms", 1, "", false, "at most 5"});
}

}  // namespace mcpbx::bench
