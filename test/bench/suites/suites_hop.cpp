// The hop: what one daemon between a caller and a tool server costs.
#include "test/bench/calls.hpp"
#include "test/bench/session.hpp"
#include "test/bench/suites/suites.hpp"

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
}  // namespace

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
      out.add("the same through mcpbx mcp, p50", name,
              run_calls(shim, 1, o.scaled(5'000), short_arguments()).p50_us / one.p50_us);
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
    std::vector<double> read;
    for (int i = 0; i < (o.quick ? 2 : 5); ++i) {
      const double since = now_us();
      if (s.request("resources/read", R"({"uri":"bench:///16"})").size() < 16 * mib) give_up("a resource was not read");
      read.push_back(now_us() - since);
    }
    out.add("resource of 16 MiB, p50", name, quantile(read, 0.5) / 1e3);
    out.add("result of 1 MiB, p50", name, small.p50_us / 1e3);
    out.add("result of 16 MiB, p50", name, large.p50_us / 1e3);
    if (what == target::direct) continue;
    ::usleep(200'000);
    out.add("resident after 16 MiB results", name, s.own().weigh().resident_mib);
  }
}

void suite_list(const bench_options& o, report& out) {
  for (const bool modern : {false, true})
    for (const auto& [what, name] : columns) {
      session s(what, {.bin = o.bin, .tools = 10'000, .modern_server = modern, .modern = modern});
      std::vector<double> took;
      for (int i = 0; i < (o.quick ? 3 : 10); ++i) {
        const double since = now_us();
        s.list_tools();
        took.push_back(now_us() - since);
      }
      out.add(modern ? "the same, 2026-07-28 on both sides, p50" : "tools/list of 10,000 tools, p50", name,
              quantile(took, 0.5) / 1e3);
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
