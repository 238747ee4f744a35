// The hop: what one daemon between a caller and a tool server costs.
#include "test/bench/calls.hpp"
#include "test/bench/session.hpp"
#include "test/bench/suites.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace mcpbx::bench {
namespace {

struct column {
  target what;
  std::string_view name;
};
constexpr std::array<column, 3> columns{
    {{target::direct, "direct"}, {target::floor, "floor"}, {target::mcpbx, "mcpbx"}}};

constexpr std::size_t mib = 1 << 20;
constexpr const char* through_shim = "the same through mcpbx mcp, p50";

}  // namespace

void declare_rows(report& out) {
  out.show({"one call at a time, p50", "µs", 1, "floor", false, "at most 1.6x"});
  out.show({through_shim, "x", 2, "", false, "at most 2.5"});
  out.show({"one call at a time, p99", "µs", 1, "floor", false, ""});
  out.show({"one call at a time, CPU per call", "µs", 1, "floor", false, "at most 20"});
  out.show({"32 calls open", "calls/s", 0, "floor", false, "at least 0.5x"});
  out.show({"32 calls open, CPU per call", "µs", 1, "floor", false, "at most 6"});
  out.show({"256 calls open", "calls/s", 0, "floor", false, "at least 0.5x"});
  out.show({"resident, idle, 1 server", "MiB", 1, "", false, "at most 10"});
  out.show({"resident, peak under calls", "MiB", 1, "", false, "at most 24"});
  out.show({"result of 1 MiB, p50", "ms", 2, "floor", false, ""});
  out.show({"result of 16 MiB, p50", "ms", 1, "floor", false, "at most 1.5x"});
  out.show({"resident after 16 MiB results", "MiB", 1, "", false, "as before"});
  out.show({"tools/list of 10,000 tools, p50", "ms", 2, "direct", false, "at most 1.3x"});
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

void suite_calls(const bench_options& o, report& out) {
  for (const auto& [what, name] : columns) {
    session s(what, {.bin = o.bin});
    ::usleep(200'000);  // lets the work of the start settle
    const auto idle = s.own().weigh();
    const auto one = run_calls(s, 1, o.scaled(5'000), short_arguments());
    const auto some = run_calls(s, 32, o.scaled(40'000), short_arguments());
    const auto many = run_calls(s, 256, o.scaled(40'000), short_arguments());
    out.add("one call at a time, p50", name, one.p50_us);
    out.add("one call at a time, p99", name, one.p99_us);
    out.add("32 calls open", name, some.per_s);
    out.add("256 calls open", name, many.per_s);
    if (what == target::mcpbx) {
      session shim(s, {.bin = o.bin});
      out.add(through_shim, name, run_calls(shim, 1, o.scaled(5'000), short_arguments()).p50_us / one.p50_us);
    }
    if (what == target::direct) continue;  // it has no process of its own to weigh
    out.add("one call at a time, CPU per call", name, one.cpu_us);
    out.add("32 calls open, CPU per call", name, some.cpu_us);
    out.add("resident, idle, 1 server", name, idle.resident_mib);
    out.add("resident, peak under calls", name, std::max({one.peak_mib, some.peak_mib, many.peak_mib}));
  }
}

void suite_big(const bench_options& o, report& out) {
  for (const auto& [what, name] : columns) {
    session s(what, {.bin = o.bin});
    const auto small = run_calls(s, 1, o.quick ? 3 : 10, size_arguments(mib));
    const auto large = run_calls(s, 1, o.quick ? 2 : 5, size_arguments(16 * mib));
    out.add("result of 1 MiB, p50", name, small.p50_us / 1e3);
    out.add("result of 16 MiB, p50", name, large.p50_us / 1e3);
    if (what == target::direct) continue;
    ::usleep(200'000);
    out.add("resident after 16 MiB results", name, s.own().weigh().resident_mib);
  }
}

void suite_list(const bench_options& o, report& out) {
  for (const auto& [what, name] : columns) {
    session s(what, {.bin = o.bin, .tools = 10'000});
    std::vector<double> took;
    for (int i = 0; i < (o.quick ? 3 : 10); ++i) {
      const double since = now_us();
      s.list_tools();
      took.push_back(now_us() - since);
    }
    out.add("tools/list of 10,000 tools, p50", name, quantile(took, 0.5) / 1e3);
  }
}

void suite_start(const bench_options& o, report& out) {
  for (const auto& [what, name] : columns)
    out.add("start to first list, 1 server", name, session(what, {.bin = o.bin}).ready_ms());
  session many(target::mcpbx, {.bin = o.bin, .servers = 50});
  out.add("start to full list, 50 servers", "mcpbx", many.ready_ms());
  ::usleep(200'000);
  out.add("resident, idle, 50 servers", "mcpbx", many.own().weigh().resident_mib);
}

}  // namespace mcpbx::bench
