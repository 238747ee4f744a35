// Methods mcpbx/pins/*: listing and approving pinned tool definitions.
#include "daemon/front/rpc/methods.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/support/text.hpp"

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::daemon::rpc_door {
namespace {

constexpr std::size_t longest_pinned_name = 1024;

struct pins_params {
  std::string name, sha256;
  bool definitions = false;
};

/// Resolves a server, a tool by its offered name, or SERVER__TOOL with the server's own name of the tool, which also
/// finds tools that are gone.
pins::pin_choice choice_of(front::backend& daemon, const std::string& name) {
  if (name.empty()) return {};
  const auto servers = daemon.servers();
  for (const auto& s : servers)
    if (s.name == name) return {name, ""};
  const auto tools = daemon.tools();
  if (const auto tool = tools->find(name)) return {tool->server, tool->tool};
  if (const auto* tool = tools->find_withheld(name)) return {tool->server, tool->tool};
  for (const auto& s : servers)
    if (name.starts_with(s.name + "__")) return {s.name, name.substr(s.name.size() + 2)};
  const auto cut = name.find("__");
  if (cut == std::string::npos) return {name, ""};
  return {name.substr(0, cut), name.substr(cut + 2)};
}

std::string nothing_named(front::backend& daemon, const std::string& name) {
  std::vector<mcp::clients::server_status> servers = daemon.servers();
  std::vector<std::string_view> known;
  for (const auto& s : servers) known.push_back(s.name);
  const auto tools = daemon.tools();
  for (const auto& e : tools->entries()) known.push_back(e->name);
  for (const auto& [withheld, e] : tools->withheld()) known.push_back(withheld);
  return "there are no pins of " + json::json_quoted(cut_utf8(name, 128)) + did_you_mean(name, known) +
         "; `mcpbx pins` lists them";
}

json::raw_json report_json(const pins::pin_report& report, const mcp::catalogs::catalog& tools) {
  std::map<std::pair<std::string_view, std::string_view>, std::string_view> names;
  for (const auto& e : tools.entries()) names[{e->server, e->tool}] = e->name;
  for (const auto& [name, e] : tools.withheld()) names[{e.server, e.tool}] = name;
  std::string json;
  json::json_writer out(json);
  out.begin_object().member("file", report.file);
  if (!report.problem.empty()) out.member("problem", report.problem);
  out.key("pins").begin_array();
  for (const auto& r : report.rows) {
    out.begin_object().member("server", r.server).member("tool", r.tool);
    if (const auto name = names.find({r.server, r.tool}); name != names.end()) out.member("name", name->second);
    out.member("state", pins::to_string(r.state)).member("pin", pins::to_string(r.mode)).member("withheld", r.withheld);
    if (r.origin_only) out.member("originOnly", true);
    if (!r.sha256.empty()) out.member("sha256", r.sha256);
    if (!r.pinned_sha256.empty()) out.member("pinnedSha256", r.pinned_sha256).member("pinnedAt", r.pinned_at);
    if (r.pinned) out.member("pinned", r.pinned);
    if (r.listed) out.member("listed", r.listed);
    out.end_object();
  }
  out.end_array();
  if (!report.sha256.empty()) out.member("sha256", report.sha256);
  out.end_object();
  return out.json();
}

bool has_pins(rpc_caller& c, const mcp::server::reply_once& reply) {
  if (c.door().daemon.pins()) return true;
  reply.error(mcp::server::to_rpc_error({errc::unavailable, "this daemon keeps no pins"}));
  return false;
}

void list(rpc_caller& c, const pins_params& p, const mcp::server::reply_once& reply) {
  if (!has_pins(c, reply)) return;
  // Waits for servers that are starting and are about to list their tools.
  c.when_settled(c.door().settings.session.settle, [&c, p, reply] {
    if (!reply.open()) return;
    front::backend& daemon = c.door().daemon;
    daemon.pins()->list(
        choice_of(daemon, p.name), p.definitions,
        [&daemon, p, reply, seen = c.seen_pins()](const pins::pin_report& report) {
          if (!p.name.empty() && report.rows.empty() && report.problem.empty())
            return reply.error(mcp::server::to_rpc_error({errc::not_found, nothing_named(daemon, p.name)}));
          if (p.definitions && report.problem.empty()) seen->note(p.name, report.sha256);
          reply.result(report_json(report, *daemon.tools()));
        });
  });
}

void accept(rpc_caller& c, const pins_params& p, const mcp::server::reply_once& reply) {
  if (!has_pins(c, reply)) return;
  c.when_settled(c.door().settings.session.settle, [&c, p, reply] {
    if (!reply.open()) return;
    front::backend& daemon = c.door().daemon;
    // An approval needs the hash of the definitions that were shown: sent by the caller, or shown on this connection.
    const std::string hash = p.sha256.empty() ? c.seen_pins()->of(p.name) : p.sha256;
    if (hash.empty())
      return reply.error(mcp::server::to_rpc_error(
          {errc::invalid_argument, "params.sha256: expected the hash of what is approved, got nothing; " +
                                       json::json_quoted(cut_utf8(p.name, 128)) +
                                       " was not shown on this connection: look at it with mcpbx/pins/list "
                                       "(\"definitions\": true), which tells the hash"}));
    daemon.pins()->accept(choice_of(daemon, p.name), hash, [reply](const result<std::size_t>& done) {
      if (!done) return reply.error(mcp::server::to_rpc_error(done.error()));
      std::string json;
      json::json_writer out(json);
      out.begin_object().member("accepted", *done).end_object();
      reply.result(out.json());
    });
  });
}

}  // namespace

void add_pin_methods(front::own_methods& table) {
  table.bind(
      "mcpbx/pins/list",
      [](mcp::server::param_reader& in) {
        pins_params p;
        p.name = in.text("name", longest_pinned_name).value_or("");
        p.definitions = in.boolean("definitions").value_or(false);
        return p;
      },
      list);
  table.bind(
      "mcpbx/pins/accept",
      [](mcp::server::param_reader& in) {
        pins_params p;
        p.name = in.text("name", longest_pinned_name).value_or("");
        if (p.name.empty()) in.wrong("name", "expected the name of a tool server or a tool, got nothing");
        p.sha256 = in.text("sha256", 64).value_or("");
        return p;
      },
      accept);
}

}  // namespace mcpbx::daemon::rpc_door
