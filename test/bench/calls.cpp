// The calls, with their latencies.
#include "test/bench/calls.hpp"

#include "test/bench/line_stream.hpp"
#include "test/bench/report.hpp"

#include <algorithm>
#include <charconv>
#include <unordered_map>
#include <vector>

namespace mcpbx::bench {

call_figures run_calls(channel& s, int open, int count, const std::string& arguments) {
  const std::string rest = R"(,"method":"tools/call","params":)" +
                           s.params_of(R"({"name":")" + s.tool() + R"(","arguments":)" + arguments + "}") + "}";
  const int warm = std::clamp(count / 10, 1, 500), total = warm + count;
  std::unordered_map<long, double> since;
  std::vector<double> took;
  took.reserve(static_cast<std::size_t>(total));
  int sent = 0, answered = 0;
  double measured_from = 0;
  weight before;
  const auto send = [&] {
    const long id = s.next_id();
    since[id] = now_us();
    s.send(R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + rest);
    ++sent;
  };
  s.own().reset_peak();
  while (sent < std::min(open, total)) send();
  while (answered < total) {
    int free = 0;
    s.pump([&](std::string_view line) {
      const double now = now_us();
      long id = 0;
      const auto token = id_of(line);
      std::from_chars(token.data(), token.data() + token.size(), id);
      const auto known = since.find(id);
      if (known == since.end()) return;  // a notification
      if (line.substr(0, 128).find("\"result\":") == std::string_view::npos)
        give_up("a call failed: " + std::string(line.substr(0, 300)));
      if (++answered > warm) took.push_back(now - known->second);
      if (answered == warm) {
        before = s.own().weigh();
        measured_from = now_us();
      }
      since.erase(known);
      ++free;
    });
    for (; free > 0 && sent < total; --free) send();
  }
  const double wall_us = now_us() - measured_from;
  const weight after = s.own().weigh();
  call_figures f;
  f.p50_us = quantile(took, 0.5);
  f.p99_us = quantile(took, 0.99);
  f.per_s = count / wall_us * 1e6;
  f.cpu_us = static_cast<double>(after.cpu_ns - before.cpu_ns) / 1e3 / count;
  f.peak_mib = after.peak_mib;
  return f;
}

std::string short_arguments() {
  return R"({"message":"A message of some sixty characters, as a short call has it."})";
}

std::string size_arguments(std::size_t size) {
  return "{\"message\":\"\",\"size\":" + std::to_string(size) + "}";
}

}  // namespace mcpbx::bench
