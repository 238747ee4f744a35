// Tells what mcpbx/status and mcpbx/stats/live count. Names follow the conventions of Prometheus: base units, a counter
// ends with _total (https://prometheus.io/docs/practices/naming/).
#include "daemon/front/api/metrics.hpp"

#include "daemon/front/base/door_context.hpp"
#include "daemon/front/base/process_memory.hpp"
#include "mcp/support/shared_bytes.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <vector>

namespace mcpbx::daemon::api_door {
namespace {

constexpr std::string_view counter = "counter", gauge = "gauge";
// Series of a server cost the reader memory for as long as it keeps them.
constexpr std::size_t most_servers = 1'000;

constexpr std::array all_states{mcp::clients::server_state::disabled,   mcp::clients::server_state::starting,
                                mcp::clients::server_state::ready,      mcp::clients::server_state::lazy,
                                mcp::clients::server_state::restarting, mcp::clients::server_state::crash_loop,
                                mcp::clients::server_state::failed,     mcp::clients::server_state::stopped};

std::int64_t number(std::uint64_t n) {
  return static_cast<std::int64_t>(n);
}

void add_daemon(metrics_page& page, front::door_context& door) {
  page.begin("mcpbx_build_info", gauge, "The version of the daemon.");
  page.sample(1, {{"version", door.settings.version}});
  page.begin("mcpbx_uptime_seconds", gauge, "Time since the start of the daemon.");
  page.seconds(std::chrono::duration_cast<std::chrono::microseconds>(door.time.now() - door.started).count());
  page.one("process_resident_memory_bytes", gauge, "Resident memory of the daemon, without tool servers.",
           front::resident_bytes(::getpid()));
  page.one("mcpbx_owned_bytes", gauge, "Bytes of messages that the daemon holds.", number(byte_account::total()));
  page.one("mcpbx_owned_bytes_limit", gauge, "The limit of these bytes.", number(byte_account::limit()));
  page.one("mcpbx_journal_writable", gauge, "1 if the journal takes runs, or none is configured.",
           door.daemon.store().trouble() ? 0 : 1);
  if (door.settings.audit == nullptr) return;
  const auto& audit = door.settings.audit->counts();
  page.one("mcpbx_audit_records_total", counter, "Records of the audit.", number(audit.records));
  page.one("mcpbx_audit_lost_total", counter, "Records of the audit that could not be written.", number(audit.lost));
}

void add_callers(metrics_page& page, const front::door_load& load) {
  const auto& seen = load.counters;
  page.one("mcpbx_callers", gauge, "Open connections.", number(load.callers));
  page.one("mcpbx_callers_accepted_total", counter, "Connections that were taken.", number(seen.accepted));
  page.one("mcpbx_callers_refused_total", counter, "Connections that were refused.", number(seen.refused));
  page.one("mcpbx_callers_stuck_total", counter, "Connections that were closed because they read nothing.",
           number(seen.stuck));
  page.one("mcpbx_open_requests", gauge, "Requests without an answer yet.", number(load.open_requests));
  page.one("mcpbx_requests_total", counter, "Requests of callers.", number(seen.requests));
  page.one("mcpbx_request_faults_total", counter, "Wrong requests.", number(seen.faults));
  page.one("mcpbx_requests_overloaded_total", counter, "Requests that were refused because too many were open.",
           number(seen.overloaded));
  page.one("mcpbx_outbox_bytes", gauge, "Bytes that wait for callers to read them.", number(load.outbox_bytes));
}

void add_runs(metrics_page& page, const run::loop_counters& runs) {
  page.one("mcpbx_runs_active", gauge, "Runs that have not ended.", number(runs.active));
  page.one("mcpbx_runs_total", counter, "Runs that have begun.", number(runs.runs));
  page.one("mcpbx_run_rounds_total", counter, "Requests to models.", number(runs.rounds));
  page.one("mcpbx_run_calls_total", counter, "Calls of tools that models wanted.", number(runs.calls));
  page.begin("mcpbx_runs_ended_total", counter, "Runs that have ended, by the reason.");
  for (const auto& [reason, count] : runs.stops) page.sample(number(count), {{"reason", reason}});
}

void add_servers(metrics_page& page, const std::vector<mcp::clients::server_status>& all) {
  page.begin("mcpbx_servers", gauge, "Tool servers by their state.");
  for (const auto state : all_states)
    page.sample(std::ranges::count(all, state, &mcp::clients::server_status::state),
                {{"state", mcp::clients::to_string(state)}});
  const auto end = all.begin() + static_cast<std::ptrdiff_t>(std::min(all.size(), most_servers));
  const auto each = [&](std::string_view name, std::string_view type, std::string_view help, auto value) {
    page.begin(name, type, help);
    for (auto s = all.begin(); s != end; ++s)
      if (s->state != mcp::clients::server_state::disabled) page.sample(number(value(*s)), {{"server", s->name}});
  };
  using status = mcp::clients::server_status;
  each("mcpbx_server_up", gauge, "1 if the tool server is ready, or starts when it is needed.", [](const status& s) {
    return s.state == mcp::clients::server_state::ready || s.state == mcp::clients::server_state::lazy ? 1u : 0u;
  });
  each("mcpbx_server_tools", gauge, "Tools that it lists.", [](const status& s) { return s.tools; });
  each("mcpbx_server_restarts_total", counter, "Restarts of it.", [](const status& s) { return s.restarts; });
  each("mcpbx_server_calls_total", counter, "Calls that it has ended.", [](const status& s) { return s.calls.calls; });
  each("mcpbx_server_failed_calls_total", counter, "Those of them that failed.",
       [](const status& s) { return s.calls.failed; });
  each("mcpbx_server_open_calls", gauge, "Calls that it works on.", [](const status& s) { return s.open_calls; });
  each("mcpbx_server_queued_calls", gauge, "Calls that wait for it.", [](const status& s) { return s.queued_calls; });
  each("mcpbx_server_noise_lines_total", counter, "Lines of its output that were no message.",
       [](const status& s) { return s.noise_lines; });
  each("mcpbx_server_dropped_answers_total", counter, "Answers of it that nobody waited for.",
       [](const status& s) { return s.dropped_answers; });
  page.begin("mcpbx_server_call_seconds", gauge, "Time of its latest calls: the median and the 95th percentile.");
  for (auto s = all.begin(); s != end; ++s) {
    if (s->calls.p50_us >= 0) page.seconds(s->calls.p50_us, {{"server", s->name}, {"quantile", "0.5"}});
    if (s->calls.p95_us >= 0) page.seconds(s->calls.p95_us, {{"server", s->name}, {"quantile", "0.95"}});
  }
}

}  // namespace

void metrics_page::begin(std::string_view name, std::string_view type, std::string_view help) {
  family_ = name;
  text_.append("# HELP ").append(name).append(" ").append(help).append("\n# TYPE ").append(name).append(" ");
  text_.append(type).append("\n");
}

void metrics_page::sample(std::int64_t value, labels of) {
  line(std::to_string(value), of);
}

void metrics_page::seconds(std::int64_t microseconds, labels of) {
  std::string digits = std::to_string(std::max<std::int64_t>(microseconds, 0));
  if (digits.size() < 7) digits.insert(0, 7 - digits.size(), '0');
  line(digits.insert(digits.size() - 6, "."), of);
}

void metrics_page::one(std::string_view name, std::string_view type, std::string_view help, std::int64_t value) {
  begin(name, type, help);
  sample(value);
}

void metrics_page::line(std::string_view value, labels of) {
  text_ += family_;
  char before = '{';
  for (const auto& [name, label] : of) {
    text_.append(1, before).append(name).append("=\"");
    before = ',';
    for (const char c : label) {
      if (c == '\n')
        text_ += "\\n";
      else if (c == '"' || c == '\\')
        text_.append(1, '\\').append(1, c);
      else
        text_ += c;
    }
    text_ += '"';
  }
  if (before == ',') text_ += '}';
  text_.append(1, ' ').append(value).append(1, '\n');
}

void handle_metrics(const std::shared_ptr<routes::exchange>& x) {
  auto& door = x->door();
  metrics_page page;
  add_daemon(page, door);
  add_callers(page, door.load ? door.load() : front::door_load{});
  add_runs(page, door.daemon.run_counts());
  add_servers(page, door.daemon.servers());
  x->answer({200, {{"Content-Type", "text/plain; version=0.0.4; charset=utf-8"}}, page.text()});
}

}  // namespace mcpbx::daemon::api_door
