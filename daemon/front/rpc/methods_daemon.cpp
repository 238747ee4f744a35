// Methods about the daemon itself: hello, status, config, reload, stop and cancel.
#include "daemon/front/base/process_memory.hpp"
#include "daemon/front/rpc/methods.hpp"
#include "daemon/store/records/principal.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/redact/cut_text.hpp"
#include "mcp/redact/secret.hpp"
#include "mcp/support/shared_bytes.hpp"
#include "mcp/support/text.hpp"

#include <boost/asio/post.hpp>

#include <unistd.h>

#include <array>
#include <map>
#include <memory>
#include <optional>

namespace mcpbx::daemon::rpc_door {
namespace {

/// The revision of mcpbx's own methods.
constexpr int protocol = 1;
constexpr std::size_t longest_problem = 1000, longest_path = 4096;  // bytes

void append_servers(json::json_writer& out, const std::vector<mcp::clients::server_status>& servers) {
  std::map<std::string_view, std::size_t> states;
  std::size_t open = 0, queued = 0, tools = 0;
  std::uint64_t restarts = 0, noise = 0, dropped = 0;
  for (const auto& s : servers) {
    ++states[mcp::clients::to_string(s.state)];
    open += s.open_calls;
    queued += s.queued_calls;
    tools += s.tools;
    restarts += s.restarts;
    noise += s.noise_lines;
    dropped += s.dropped_answers;
  }
  out.key("servers").begin_object().member("total", servers.size());
  out.key("states").begin_object();
  for (const auto& [state, count] : states) out.member(state, count);
  out.end_object();
  out.member("tools", tools).member("restarts", restarts).member("openCalls", open).member("queuedCalls", queued);
  out.member("noiseLines", noise).member("droppedAnswers", dropped);
  // Names the faulty servers, so that a person who looks for a fault need not ask again.
  out.key("faulty").begin_array();
  for (const auto& s : servers) {
    using enum mcp::clients::server_state;
    if (s.state != crash_loop && s.state != failed && s.state != restarting && !s.start_failed && !s.suspect) continue;
    out.begin_object().member("name", s.name).member("state", mcp::clients::to_string(s.state));
    out.member("lastError", redact::redactor::redact(s.last_error)).end_object();
  }
  out.end_array().end_object();
}

void append_audit(json::json_writer& out, const audit::audit_log& audit) {
  const auto& counts = audit.counts();
  out.key("audit").begin_object().member("file", audit.path()).member("records", counts.records);
  out.member("lost", counts.lost);
  if (!counts.problem.empty()) out.member("problem", redact::redactor::redact(counts.problem));
  out.end_object();
}

void append_trouble(json::json_writer& out, const store::journal_trouble& trouble) {
  out.key("store").begin_object().member("problem",
                                         redact::cut_for_people(trouble.problem, longest_problem, {.mark = " …"}));
  out.member("sinceMs", trouble.since_ms).end_object();
}

void append_runs(json::json_writer& out, const run::loop_counters& runs) {
  static constexpr std::array<std::string_view, 8> depths{"0", "1", "2", "3-4", "5-8", "9-16", "17-64", "65+"};
  out.key("runs").begin_object().member("active", runs.active).member("total", runs.runs);
  out.member("rounds", runs.rounds).member("calls", runs.calls);
  out.key("depth").begin_object();
  for (std::size_t i = 0; i < depths.size(); ++i) out.member(depths[i], runs.depth[i]);
  out.end_object();
  out.key("stops").begin_object();
  for (const auto& [reason, count] : runs.stops) out.member(reason, count);
  out.end_object().end_object();
}

struct cancel_params {
  std::optional<std::string> run;
  std::optional<mcp::rpc::rpc_id> request;
};

cancel_params read_cancel(mcp::server::param_reader& in) {
  cancel_params p;
  p.run = in.text("run");
  if (const json::raw_json id = in.any("request"); !id.empty()) {
    p.request = mcp::rpc::rpc_id::from(id);
    if (!p.request) in.expected("request", "the id of a request on this connection", id);
  }
  if (in.has("run") == in.has("request")) in.wrong("", "expected either run or request");
  return p;
}

void cancel(rpc_caller& c, const cancel_params& p, const mcp::server::reply_once& reply) {
  if (p.request) {
    if (!c.cancel_request(*p.request, answer_when_kept(reply)))
      reply.error(
          mcp::server::to_rpc_error({errc::not_found, "no request with the id " + std::string(p.request->token()) +
                                                          " is open here; it may have ended"}));
    return;
  }
  c.cancel_run(*p.run, reply);
}

struct hello_params {
  std::string name, profile, cwd;
  bool mcp_only = false;
  std::optional<bool> answers;
};

hello_params read_hello(mcp::server::param_reader& in, const rpc_caller& c) {
  hello_params p{in.text("name", 128).value_or(""), in.text("profile", 512).value_or(""),
                 in.text("cwd", longest_path).value_or(""), in.boolean("mcpOnly").value_or(false),
                 in.boolean("answers")};
  if (!p.cwd.empty() && (p.cwd.front() != '/' || p.cwd.contains('\0')))
    in.wrong("cwd", "expected an absolute path, got " + json::json_quoted(cut_utf8(p.cwd, 128)));
  if (!in.has("profile") || in.failed()) return p;
  if (p.profile.empty()) in.wrong("profile", "expected the name of a profile, got \"\"");
  if (const auto known = c.door().settings.chat()->base("", p.profile); !known)
    in.wrong("profile", known.error().message);
  else if (!c.profile().empty() && c.profile() != p.profile)
    in.wrong("profile", "expected " + json::json_quoted(c.profile()) + ", which this connection keeps to, got " +
                            json::json_quoted(p.profile) + "; open another connection for another profile");
  return p;
}

void hello(rpc_caller& c, hello_params p, const mcp::server::reply_once& reply) {
  c.set_name(std::move(p.name));
  if (!p.cwd.empty()) c.set_cwd(std::move(p.cwd));
  if (p.mcp_only) c.keep_to_mcp();
  if (p.answers) c.set_answers(*p.answers);
  // The profile holds for requests that follow at once; the news of other tools follows the answer.
  const bool other_tools = !p.profile.empty() && c.set_profile(std::move(p.profile));
  const bool person = stored::is_person(c.principal());
  const auto answer = [version = c.door().settings.version, tell = person ? c.door().settings.tell_start : nullptr,
                       caller = other_tools ? c.weak_from_this() : std::weak_ptr<rpc_caller>(),
                       reply](const std::vector<std::string>& changed) {
    std::string json;
    json::json_writer out(json);
    out.begin_object().member("version", version).member("protocol", protocol).member("pid", ::getpid());
    if (tell) tell(out, changed);
    out.end_object();
    reply.result(out.json());
    if (const auto self = caller.lock()) self->tell_other_tools();
  };
  if (person && c.door().settings.look_at_files)
    c.door().settings.look_at_files(answer);
  else
    answer({});
}

// Stops the daemon; with ifIdle only if there are no other callers and no running work.
void stop(rpc_caller& c, bool if_idle, const mcp::server::reply_once& reply) {
  auto& door = c.door();
  if (if_idle && ((door.load && door.load().callers > 1) || door.daemon.run_counts().active > 0))
    return reply.error(
        mcp::server::to_rpc_error({errc::unavailable, "the daemon is in use: it has other callers or runs"}));
  reply.result(json::raw_json::literal("{}"));
  // Posts, so that the answer is written first.
  boost::asio::post(c.door().executor, [&daemon = c.door().daemon] { daemon.stop(); });
}

void append_texts(json::json_writer& out, std::string_view key, const std::vector<std::string>& texts) {
  out.key(key).begin_array();
  for (const auto& t : texts) out.value(t);
  out.end_array();
}

// Reads the configuration again.
void reload(rpc_caller& c, const mcp::server::reply_once& reply) {
  c.door().daemon.reload([reply](const result<front::reload_report>& told) {
    if (!told) return reply.error(mcp::server::to_rpc_error(told.error()));
    std::string json;
    json::json_writer out(json);
    out.begin_object();
    append_texts(out, "files", told->files);
    append_texts(out, "fromNextStart", told->waiting);
    append_texts(out, "notices", told->notices);
    out.end_object();
    reply.result(out.json());
  });
}

// Tells the configuration in force.
void config(rpc_caller& c, const mcp::server::reply_once& reply) {
  c.door().daemon.config([reply](const result<json::raw_json>& told) {
    if (told)
      reply.result(*told);
    else
      reply.error(mcp::server::to_rpc_error(told.error()));
  });
}

}  // namespace

json::raw_json status_of(front::door_context& door) {
  const front::door_load load = door.load ? door.load() : front::door_load{};
  const auto uptime = std::chrono::duration_cast<milliseconds>(door.time.now() - door.started);
  std::string json;
  json::json_writer out(json);
  out.begin_object().member("version", door.settings.version).member("protocol", protocol);
  out.member("pid", ::getpid()).member("uptimeMs", uptime.count()).member("socket", door.settings.socket);
  if (!door.settings.http.empty()) out.member("http", "http://" + door.settings.http);
  if (!door.settings.token_file.empty()) out.member("tokenFile", door.settings.token_file);
  out.key("callers").begin_object().member("open", load.callers).member("max", door.settings.max_callers);
  out.member("accepted", load.counters.accepted).member("refused", load.counters.refused);
  out.member("closedForNotReading", load.counters.stuck).member("openRequests", load.open_requests).end_object();
  const auto runs = door.daemon.run_counts();
  append_runs(out, runs);
  append_servers(out, door.daemon.servers());
  out.key("memory")
      .begin_object()
      .member("ownedBytes", byte_account::total())
      .member("limitBytes", byte_account::limit());
  out.member("rssBytes", front::resident_bytes(::getpid())).end_object();
  out.key("queues").begin_object().member("outboxBytes", load.outbox_bytes);
  out.member("largestOutboxBytes", load.largest_outbox).end_object();
  out.key("counters").begin_object().member("requests", load.counters.requests).member("faults", load.counters.faults);
  out.member("strayResponses", load.counters.stray).member("overloaded", load.counters.overloaded);
  out.member("droppedLogs", runs.dropped_logs).end_object();
  if (door.settings.audit) append_audit(out, *door.settings.audit);
  if (const auto trouble = door.daemon.store().trouble()) append_trouble(out, *trouble);
  out.end_object();
  return out.json();
}

void add_daemon_methods(front::own_methods& table) {
  table.bind("mcpbx/hello", read_hello, hello);
  table.bind("mcpbx/status",
             [](rpc_caller& c, const mcp::server::reply_once& reply) { reply.result(status_of(c.door())); });
  table.bind("mcpbx/cancel", read_cancel, cancel);
  table.bind("mcpbx/stop", [](mcp::server::param_reader& in) { return in.boolean("ifIdle").value_or(false); }, stop);
  table.bind("mcpbx/reload", reload);
  table.bind("mcpbx/config", config);
}

}  // namespace mcpbx::daemon::rpc_door
