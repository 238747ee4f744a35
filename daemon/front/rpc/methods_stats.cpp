// Method mcpbx/stats/live: the load of the daemon and of each tool server now, small enough to be asked every second.
#include "daemon/front/base/process_memory.hpp"
#include "daemon/front/rpc/methods.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/redact/cut_text.hpp"
#include "mcp/support/shared_bytes.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdint>

namespace mcpbx::daemon::rpc_door {
namespace {

constexpr std::size_t longest_shown_error = 300;  // bytes

/// Returns the memory of all processes of a server, or -1 if it has none.
std::int64_t memory_of(const mcp::clients::server_status& s) {
  std::int64_t sum = -1;
  const auto add = [&](pid_t pid) {
    const auto bytes = pid > 0 ? front::resident_bytes_of_tree(pid) : -1;
    if (bytes >= 0) sum = std::max<std::int64_t>(sum, 0) + bytes;
  };
  if (s.process) add(s.process->pid);
  for (const auto& i : s.instances) add(i.pid);
  return sum;
}

/// Writes a number with `digits` digits behind the point.
void append_decimal(json::json_writer& out, std::string_view name, std::int64_t scaled, int digits) {
  std::string text = std::to_string(scaled);
  const auto least = static_cast<std::size_t>(digits) + 1;
  if (text.size() < least) text.insert(0, least - text.size(), '0');
  text.insert(text.size() - static_cast<std::size_t>(digits), ".");
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  out.key(name).token(text);
}

}  // namespace

void append_calls(json::json_writer& out, const mcp::clients::call_counts& calls) {
  out.member("calls", calls.calls).member("failedCalls", calls.failed);
  append_decimal(out, "callsPerSecond", static_cast<std::int64_t>(calls.per_second * 100 + 0.5), 2);
  if (calls.p50_us >= 0) append_decimal(out, "p50Ms", calls.p50_us, 3);
  if (calls.p95_us >= 0) append_decimal(out, "p95Ms", calls.p95_us, 3);
}

json::raw_json live_stats_of(front::door_context& door) {
  const front::door_load load = door.load ? door.load() : front::door_load{};
  const auto runs = door.daemon.run_counts();
  const auto uptime = std::chrono::duration_cast<milliseconds>(door.time.now() - door.started);
  std::string json;
  json::json_writer out(json);
  out.begin_object().member("version", door.settings.version).member("uptimeMs", uptime.count());
  out.member("callers", load.callers).member("openRequests", load.open_requests);
  out.key("runs").begin_object().member("active", runs.active).member("total", runs.runs);
  out.member("rounds", runs.rounds).member("calls", runs.calls).end_object();
  out.key("memory").begin_object().member("rssBytes", front::resident_bytes(::getpid()));
  out.member("ownedBytes", byte_account::total()).end_object();
  out.key("servers").begin_array();
  for (const auto& s : door.daemon.servers()) {
    out.begin_object().member("name", s.name).member("state", mcp::clients::to_string(s.state));
    if (const auto bytes = memory_of(s); bytes >= 0) out.member("rssBytes", bytes);
    out.member("restarts", s.restarts).member("openCalls", s.open_calls).member("queuedCalls", s.queued_calls);
    append_calls(out, s.calls);
    if (s.per_scope) out.member("instances", s.instances.size());
    out.filled("lastError", redact::cut_for_people(s.last_error, longest_shown_error, {.mark = " …"})).end_object();
  }
  out.end_array().end_object();
  return out.json();
}

void add_stats_methods(front::own_methods& table) {
  table.bind("mcpbx/stats/live",
             [](rpc_caller& c, const mcp::server::reply_once& reply) { reply.result(live_stats_of(c.door())); });
}

}  // namespace mcpbx::daemon::rpc_door
