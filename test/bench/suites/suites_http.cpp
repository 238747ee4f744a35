// HTTP on either side of mcpbxd, against the tool server itself over HTTP, from the same load generator.
#include "test/bench/calls.hpp"
#include "test/bench/http_channel.hpp"
#include "test/bench/session.hpp"
#include "test/bench/suites/suites.hpp"

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::bench {
namespace {

constexpr std::size_t large_result = 16u << 20;
constexpr std::array<bool, 2> eras{false, true};

/// bench_echo over HTTP.
class http_server {
 public:
  http_server(const std::string& bin, bool modern, int delay_ms = 0)
      : process_({bin + "/bench_echo", "10", modern ? "modern" : "legacy", "--http", std::to_string(delay_ms)},
                 process::io::output) {
    const int out = process_.take_out();
    std::array<char, 16> text{};
    if (::read(out, text.data(), text.size() - 1) <= 0) give_up("bench_echo did not start");
    ::close(out);
    port_ = std::atoi(text.data());
  }
  int port() const noexcept { return port_; }
  const process& own() const noexcept { return process_; }

 private:
  process process_;
  int port_ = 0;
};

struct rows {
  std::string one, many;
};

// Calls in parts, of which the median counts: a short run that the kernel stops once, for others' share of the core,
// would show half of the throughput.
call_figures run_in_parts(channel& c, int calls) {
  constexpr int parts = 5;
  call_figures out;
  std::vector<double> rates;
  double cpu_us = 0;
  for (int i = 0; i < parts; ++i) {
    out = run_calls(c, 32, calls / parts, short_arguments());
    rates.push_back(out.per_s);
    cpu_us += out.cpu_us;
  }
  out.per_s = quantile(rates, 0.5);
  out.cpu_us = cpu_us / parts;
  return out;
}

call_figures measure_calls(channel& c, const bench_options& o, const rows& r, std::string_view column, report& out) {
  const auto one = run_calls(c, 1, o.scaled(4'000), short_arguments());
  const auto many = run_in_parts(c, o.scaled(20'000));
  out.add(r.one, column, one.p50_us);
  out.add(r.many, column, many.per_s);
  auto both = many;
  both.p50_us = one.cpu_us;
  return both;
}

double first_call_ms(channel& c, double since_us) {
  c.request("tools/call", R"({"name":")" + c.tool() + R"(","arguments":)" + short_arguments() + "}");
  return (now_us() - since_us) / 1e3;
}

// The handshake of a client of the SDK, which waits for each answer, then the call.
double first_call_direct(const bench_options& o, bool modern, int delay_ms) {
  const http_server server(o.bin, modern, delay_ms);
  http_channel known(server.port(), modern, server.own());  // only to know the tool's name
  const double since = now_us();
  if (modern) known.request("server/discover", "{}");
  known.shake_hands();
  known.settle();
  return first_call_ms(known, since);
}

double first_call_through(const bench_options& o, bool modern, int delay_ms) {
  const http_server server(o.bin, modern, delay_ms);
  session s(target::mcpbx, {.bin = o.bin, .remote = server.port()});
  return first_call_ms(s, s.started_us());
}

// Round trips are the time that a server far away adds, so that the start of the programs does not count.
void measure_first_call(const bench_options& o, bool modern, report& out) {
  constexpr int delay_ms = 100;
  const std::string row = modern ? "server over HTTP, first call, new era" : "server over HTTP, first call";
  const auto added = [&](auto&& first_call) {
    return (first_call(o, modern, delay_ms) - first_call(o, modern, 0)) / delay_ms;
  };
  out.add(row, "direct", added(first_call_direct));
  out.add(row, "mcpbx", added(first_call_through));
}

}  // namespace

void suite_http(const bench_options& o, report& out) {
  for (const bool modern : eras) {
    const rows r = modern ? rows{"/mcp of 2026-07-28, one call at a time, p50", "/mcp of 2026-07-28, 32 calls open"}
                          : rows{"/mcp, one call at a time, p50", "/mcp, 32 calls open"};
    {
      const http_server server(o.bin, modern);
      http_channel direct(server.port(), modern, server.own());
      measure_calls(direct, o, r, "direct", out);
    }
    const int port = free_port();
    const session daemon(target::mcpbx,
                         {.bin = o.bin, .modern_server = modern, .http = port, .more = R"("http":{"auth":"none"},)"});
    http_channel through(port, modern, daemon.own());
    const auto cpu = measure_calls(through, o, r, "mcpbx", out);
    if (modern) continue;
    out.add("/mcp, one call at a time, CPU per call", "mcpbx", cpu.p50_us);
    out.add("/mcp, 32 calls open, CPU per call", "mcpbx", cpu.cpu_us);
  }
}

void suite_remote(const bench_options& o, report& out) {
  for (const bool modern : eras) {
    const rows r = modern ? rows{"server over HTTP, new era, one call, p50", "server over HTTP, new era, 32 calls open"}
                          : rows{"server over HTTP, one call at a time, p50", "server over HTTP, 32 calls open"};
    const http_server server(o.bin, modern);
    http_channel direct(server.port(), modern, server.own());
    measure_calls(direct, o, r, "direct", out);
    session s(target::mcpbx, {.bin = o.bin, .modern = modern, .remote = server.port()});
    const auto cpu = measure_calls(s, o, r, "mcpbx", out);
    if (!modern) {
      out.add("server over HTTP, 32 calls open, CPU per call", "mcpbx", cpu.cpu_us);
      const int times = o.quick ? 2 : 5;
      out.add("server over HTTP, 16 MiB, p50", "direct",
              run_calls(direct, 1, times, size_arguments(large_result)).p50_us / 1e3);
      const auto big = run_calls(s, 1, times, size_arguments(large_result));
      out.add("server over HTTP, 16 MiB, p50", "mcpbx", big.p50_us / 1e3);
      out.add("server over HTTP, 16 MiB, peak", "mcpbx", big.peak_mib);
    }
    measure_first_call(o, modern, out);
  }
  const http_server server(o.bin, false);
  const session many(target::mcpbx, {.bin = o.bin, .servers = 100, .remote = server.port()});
  ::usleep(200'000);
  out.add("resident, 100 idle servers over HTTP", "mcpbx", many.own().weigh().resident_mib);
}

void suite_eras(const bench_options& o, report& out) {
  double same = 0;
  for (const bool modern_server : eras)
    for (const bool modern : eras) {
      session s(target::mcpbx, {.bin = o.bin, .modern_server = modern_server, .modern = modern});
      const double took = run_calls(s, 1, o.scaled(10'000), short_arguments()).p50_us;
      if (!modern_server && !modern)
        same = took;
      else
        out.add("call, " + std::string(modern ? "new" : "old") + " caller and " + (modern_server ? "new" : "old") +
                    " server, p50",
                "mcpbx", took / same);
    }
}

}  // namespace mcpbx::bench
