// The tool servers and their tools, as callers see them.
#include "daemon/front/methods.hpp"
#include "daemon/front/process_memory.hpp"
#include "daemon/loop/round_tools.hpp"
#include "mcp/server/json_out.hpp"
#include "mcp/support/secret.hpp"
#include "mcp/support/text.hpp"
#include "providers/schema/adapt.hpp"
#include "providers/text/format.hpp"
#include "providers/wire/tool_list.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace mcpbx::daemon {
namespace {

/// `mcp` is what servers say; the others are what models are shown, by API, and as text.
constexpr std::array<std::string_view, 7> formats{"mcp",    "openai", "openai-responses", "anthropic", "gemini",
                                                  "ollama", "react"};

struct tools_params {
  std::string pattern, name;
  std::string_view format = formats[0];
};

tools_params read_tools(mcp::param_reader& in) {
  tools_params p;
  if (auto pattern = in.text("pattern", 1024)) p.pattern = std::move(*pattern);
  if (auto name = in.text("name", 1024)) p.name = std::move(*name);
  if (const auto w = in.word("format", formats)) p.format = formats[*w];
  return p;
}

/// As in a run: tools that the API would refuse are left out, each with its reason.
void append_for_model(mcp::json_out& out, const std::vector<mcp::entry_ptr>& entries, std::string_view format) {
  const auto* text = providers::text::find_format(format);
  const std::string_view api = format == "openai" || text != nullptr ? "openai-chat" : format;
  providers::tool_set set;
  std::vector<bool> shown(entries.size());
  for (auto& tool : schema_adapter()(entries, api)) {
    shown[tool.entry] = true;
    set.tools.push_back(std::move(tool.definition));
  }
  if (text != nullptr)
    out.member("prompt", text->prompt(set));
  else
    out.key("tools").value(providers::tool_list(api, set));
  if (std::ranges::find(shown, false) == shown.end()) return;
  out.key("leftOut").begin_array();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (shown[i]) continue;
    const auto& e = *entries[i];
    const auto why = providers::adapt_tool(e.name, e.description, find_member(e.definition, "inputSchema"), api);
    out.begin_object().member("name", e.name);
    out.member("reason", why ? std::string_view("it cannot be shown") : std::string_view(why.error().message));
    out.end_object();
  }
  out.end_array();
}

raw_json tools_of(const mcp::catalog& tools, const tools_params& p) {
  const bool as_sent = p.format == formats[0];
  if (as_sent && p.pattern.empty() && p.name.empty()) return tools.tools_list();
  std::vector<mcp::entry_ptr> picked;
  for (const auto& tool : tools.entries())
    if ((p.pattern.empty() || glob_match(p.pattern, tool->name)) && (p.name.empty() || tool->name == p.name))
      picked.push_back(tool);
  mcp::json_out out;
  out.begin_object();
  if (as_sent) {
    out.key("tools").begin_array();
    for (const auto& tool : picked) out.value(tool->exposed);
    out.end_array();
    if (!p.name.empty() && !picked.empty()) out.member("server", picked.front()->server);
  } else {
    append_for_model(out, picked, p.format);
  }
  out.end_object();
  return out.json();
}

void answer_tools(connection& c, const tools_params& p, const mcp::reply_once& reply) {
  const auto tools = c.tools();
  auto& cache = c.door().tools_cache;
  const std::string key = std::string(p.format) + "\n" + p.pattern + "\n" + p.name + "\n" + c.profile();
  if (cache.result.empty() || cache.revision != tools->revision() || cache.key != key)
    cache = {tools->revision(), key, tools_of(*tools, p)};
  reply.result(cache.result);
}

}  // namespace

raw_json servers_of(const std::vector<mcp::server_status>& servers) {
  mcp::json_out out;
  const auto free_text = [](const std::string& text) { return redactor::redact(text); };
  out.begin_array();
  for (const auto& s : servers) {
    out.begin_object();
    out.member("name", s.name).member("state", mcp::to_string(s.state)).member("era", mcp::to_string(s.era));
    out.member("revision", s.revision);
    const auto memory = s.pid > 0 ? resident_bytes_of_tree(s.pid) : -1;
    const auto known = [&](std::string_view key, std::int64_t value) {
      value >= 0 ? out.member(key, value) : out.member(key, raw_json());
    };
    known("pid", s.pid);
    known("rssBytes", memory);
    out.member("tools", s.tools).member("restarts", s.restarts);
    out.member("lastError", free_text(s.last_error)).member("exit", free_text(s.exit));
    out.member("stderr", free_text(s.stderr_tail));
    known("nextTryMs", s.next_try_ms);
    out.member("startFailed", s.start_failed);
    out.member("openCalls", s.open_calls).member("queuedCalls", s.queued_calls);
    out.member("noiseLines", s.noise_lines).member("droppedAnswers", s.dropped_answers);
    out.member("withheldTools", s.withheld);
    if (!s.pin_notice.empty()) out.member("pins", s.pin_notice);
    out.end_object();
  }
  out.end_array();
  return out.json();
}

void add_tool_methods(own_methods& table) {
  table.bind("mcpbx/servers",
             [](connection& c, const mcp::reply_once& reply) { reply.result(servers_of(c.door().daemon.servers())); });
  table.bind(
      "mcpbx/restart",
      [](mcp::param_reader& in) {
        auto server = in.text("server");
        if (!server) in.wrong("server", "expected the name of a tool server, got nothing");
        return server.value_or("");
      },
      [](connection& c, const std::string& server, const mcp::reply_once& reply) {
        if (auto done = c.door().daemon.restart(server); !done) return reply.error(mcp::to_rpc_error(done.error()));
        reply.result(raw_json::literal("{}"));
      });
  table.bind("mcpbx/tools", read_tools, [](connection& c, tools_params p, const mcp::reply_once& reply) {
    // A name that is known now does not wait for other servers (guarantees row 7).
    if (!p.name.empty())
      if (const auto tools = c.tools(); tools->find(p.name) || tools->find_withheld(p.name))
        return answer_tools(c, p, reply);
    c.when_settled(c.door().settings.session.settle, [&c, p = std::move(p), reply] {
      if (reply.open()) answer_tools(c, p, reply);
    });
  });
}

}  // namespace mcpbx::daemon
