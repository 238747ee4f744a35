// Methods about the tool servers and their tools: servers, restart and tools.
#include "daemon/front/base/process_memory.hpp"
#include "daemon/front/rpc/methods.hpp"
#include "daemon/loop/tools/round_tools.hpp"
#include "mcp/client/views/tool_search.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/redact/hidden_text.hpp"
#include "mcp/redact/secret.hpp"
#include "mcp/support/text.hpp"
#include "providers/schema/adapt/adapt.hpp"
#include "providers/text/format.hpp"
#include "providers/wire/registry/registry.hpp"
#include "providers/wire/tool_list.hpp"

#include <array>
#include <cstdint>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace mcpbx::daemon::rpc_door {
namespace {

/// Returns the formats: `mcp` as servers define tools, those of model APIs (openai is short for openai-chat), and text.
/// text.
std::span<const std::string_view> formats() {
  static const auto words = [] {
    std::vector<std::string_view> all{"mcp", "openai"};
    for (const auto* api : providers::registry::all_apis()) all.push_back(api->name);
    all.push_back("react");
    return all;
  }();
  return words;
}

constexpr std::size_t most_found = 50;  // tools of a search

struct tools_params {
  std::string pattern, name, search;
  std::string_view format = formats()[0];
};

tools_params read_tools(mcp::server::param_reader& in) {
  tools_params p;
  if (auto pattern = in.text("pattern", 1024)) p.pattern = std::move(*pattern);
  if (auto name = in.text("name", 1024)) p.name = std::move(*name);
  if (auto search = in.text("search", 1024)) p.search = std::move(*search);
  if (!p.search.empty() && in.has("format")) in.wrong("search", "expected no format beside it");
  if (const auto w = in.word("format", formats())) p.format = formats()[*w];
  return p;
}

/// Format in which tools are shown.
struct shown_form {
  const providers::text::tool_format* text;  ///< null: in the form of an API
  const providers::wire::api_description* api;
  std::size_t max_tools;  ///< most tools of one request; 0: no limit
};

shown_form form_of(rpc_caller& c, std::string_view format) {
  const auto* text = providers::text::find_format(format);
  const auto* api = providers::registry::find_api(format == "openai" || text != nullptr ? "openai-chat" : format);
  const auto* models = c.door().daemon.models();
  const auto model = c.profile().empty() ? std::string() : "profile:" + c.profile();
  return {text, api, models != nullptr ? models->max_tools(model, text != nullptr ? "" : api->name) : 0};
}

bool matches(const mcp::catalogs::catalog_entry& tool, const tools_params& p) {
  return (p.pattern.empty() || glob_match(p.pattern, tool.name)) && (p.name.empty() || tool.name == p.name);
}

std::string reason_of(const mcp::catalogs::catalog_entry& e, bool beyond, const shown_form& form) {
  if (beyond)
    return "The tool \"" + e.name + "\" is left out: the model takes " + std::to_string(form.max_tools) +
           " tools (maxTools, one place is kept for mcpbx's own), and this one is not among the first by name; choose "
           "with tools.allow or tools.deny of the servers or of a profile.";
  const auto why = providers::adapt::adapt_tool(e.name, e.description, json::find_member(e.definition, "inputSchema"),
                                                form.api->name);
  return why ? "The tool \"" + e.name + "\" is left out: it cannot be shown." : why.error().message;
}

/// Tools listed beside the answer's tools, each with a reason.
class told_tools {
 public:
  told_tools(json::json_writer& out, std::string_view key) : out_(out), key_(key) {}
  void add(std::string_view name, const std::string& reason) {
    if (!std::exchange(any_, true)) out_.key(key_).begin_array();
    out_.begin_object().member("name", name).member("reason", reason).end_object();
  }
  void end() {
    if (any_) out_.end_array();
  }

 private:
  json::json_writer& out_;
  std::string_view key_;
  bool any_ = false;
};

/// Writes the tools as a run without tools of its caller would send them: leaves out, with a reason, tools that the API
/// would refuse and those beyond its maximum, and reports changed schemas. Names are computed for all tools, even if
/// only some are shown.
void append_for_model(json::json_writer& out, const mcp::catalogs::catalog_ptr& tools, const tools_params& p,
                      const shown_form& form, const tools::tool_adapter& adapt) {
  const auto offered =
      tools::make_offer(tools, {}, std::string(form.api->name), tools::catalog_room(form.max_tools), adapt);
  providers::tool_set set;
  std::set<const mcp::catalogs::catalog_entry*> shown;
  for (const auto& tool : offered->set->tools) {
    const auto* entry = offered->find(tool.name);
    shown.insert(entry);
    if (matches(*entry, p)) set.tools.push_back(tool);
  }
  if (form.text != nullptr)
    out.member("prompt", form.text->prompt(set));
  else
    out.key("tools").value(providers::wire::tool_list(form.api->tools, set));
  told_tools changed(out, "changed");
  for (const auto& tool : set.tools) {
    if (tool.changes.empty()) continue;
    const auto& name = offered->find(tool.name)->name;
    changed.add(name,
                "The tool \"" + name + "\" is offered with changes: " + providers::adapt::changes_in_words(tool) + ".");
  }
  changed.end();
  const std::set<std::string_view> beyond(offered->left_out.begin(), offered->left_out.end());
  told_tools left_out(out, "leftOut");
  for (const auto& e : offered->entries)
    if (!shown.contains(e.get()) && matches(*e, p))
      left_out.add(e->name, reason_of(*e, beyond.contains(e->name), form));
  left_out.end();
}

/// Writes entries of servers that the catalog could not take. They have no name for the pattern, so those of servers
/// with matching tools are shown, or of all servers if none match.
void append_dropped(json::json_writer& out, const mcp::catalogs::catalog& tools, const tools_params& p) {
  std::set<std::string_view> servers;
  if (!p.pattern.empty())
    for (const auto& tool : tools.entries())
      if (matches(*tool, p)) servers.insert(tool->server);
  bool any = false;
  for (const auto& d : tools.dropped()) {
    if (!servers.empty() && !servers.contains(d.server)) continue;
    if (!std::exchange(any, true)) out.key("dropped").begin_array();
    out.begin_object().member("server", d.server).member("reason", d.reason).end_object();
  }
  if (any) out.end_array();
}

json::raw_json tools_of(rpc_caller& c, const mcp::catalogs::catalog_ptr& all, const tools_params& p) {
  const auto& tools = *all;
  const bool as_sent = p.format == formats()[0];
  if (as_sent && p.pattern.empty() && p.name.empty() && p.search.empty() && tools.dropped().empty())
    return tools.tools_list();
  std::string json;
  json::json_writer out(json);
  out.begin_object();
  if (!p.search.empty()) {
    std::vector<mcp::catalogs::entry_ptr> matching;
    for (const auto& tool : tools.entries())
      if (matches(*tool, p)) matching.push_back(tool);
    out.key("tools").begin_array();
    for (const auto& one : mcp::views::search_tools(matching, p.search, most_found)) out.value(one.tool->exposed);
    out.end_array();
  } else if (as_sent) {
    out.key("tools").begin_array();
    for (const auto& tool : tools.entries())
      if (matches(*tool, p)) out.value(tool->exposed);
    out.end_array();
    if (const auto one = p.name.empty() ? nullptr : tools.find(p.name); one && matches(*one, p))
      out.member("server", one->server);
  } else {
    append_for_model(out, all, p, form_of(c, p.format), c.door().settings.adapt);
  }
  if (p.name.empty() && p.search.empty()) append_dropped(out, tools, p);
  out.end_object();
  return out.json();
}

void answer_tools(rpc_caller& c, const tools_params& p, const mcp::server::reply_once& reply) {
  const auto tools = c.tools();
  auto& cache = c.door().tools_cache;
  const std::string key =
      std::string(p.format) + "\n" + p.pattern + "\n" + p.name + "\n" + p.search + "\n" + c.profile();
  const auto configured = c.door().settings.chat();
  if (cache.result.empty() || cache.configured != configured || cache.revision != tools->revision() || cache.key != key)
    cache = {configured, tools->revision(), key, tools_of(c, tools, p)};
  reply.result(cache.result);
}

}  // namespace

namespace {

// Writes the capabilities that a server declared, by the specification's words, and the names of its extensions.
void append_offers(json::json_writer& out, const mcp::protocol::server_offers& offers) {
  out.key("offers").begin_array();
  const auto word = [&](bool offered, std::string_view name) {
    if (offered) out.value(name);
  };
  word(offers.tools, "tools");
  word(offers.prompts, "prompts");
  word(offers.resources, "resources");
  word(offers.subscribe, "resources.subscribe");
  word(offers.completions, "completions");
  word(offers.logging, "logging");
  word(offers.tasks.is_object(), "tasks");
  constexpr std::size_t most_names = 64;
  std::size_t names = 0;
  for (const auto* more : {&offers.extensions, &offers.experimental})
    if (const auto members = json::raw_object::open(*more))
      members->for_each([&](std::string_view name, const json::raw_json&) {
        if (names++ < most_names) out.value(redact::redactor::redact(cut_utf8(redact::printable(name), 128)));
      });
  out.end_array();
}

// Kinds of names that mcpbx/names tells.
constexpr std::array<std::string_view, 2> kinds_of_names{"tools", "servers"};
constexpr std::size_t most_told_names = 1'000;

struct names_params {
  std::size_t of = 0;
  std::string prefix;
};

names_params read_names(mcp::server::param_reader& in) {
  names_params p;
  if (!in.has("of")) in.wrong("of", "expected \"tools\" or \"servers\", got nothing");
  p.of = in.word("of", kinds_of_names).value_or(0);
  p.prefix = in.text("prefix", 1024).value_or("");
  return p;
}

// Answers with the present tools, without waiting for servers that start, since a person waits at a shell.
json::raw_json names_of(rpc_caller& c, const names_params& p) {
  std::string json;
  json::json_writer out(json);
  out.begin_array();
  std::size_t told = 0;
  const auto add = [&](std::string_view name) {
    if (name.starts_with(p.prefix) && told++ < most_told_names) out.value(name);
  };
  if (p.of == 0)
    for (const auto& tool : c.tools()->entries()) add(tool->name);
  else
    for (const auto& server : c.door().daemon.servers()) add(server.name);
  out.end_array();
  return out.json();
}

}  // namespace

json::raw_json servers_of(const std::vector<mcp::clients::server_status>& servers) {
  std::string json;
  json::json_writer out(json);
  const auto free_text = [](const std::string& text) { return redact::redactor::redact(text); };
  out.begin_array();
  for (const auto& s : servers) {
    out.begin_object();
    out.member("name", s.name)
        .member("state", mcp::clients::to_string(s.state))
        .member("era", mcp::clients::to_string(s.era));
    out.member("revision", s.revision);
    if (!s.command.empty()) out.member("command", free_text(s.command));
    if (s.remote) {
      out.key("remote").begin_object().member("address", free_text(s.remote->address));
      if (!s.remote->transport.empty()) out.member("transport", s.remote->transport);
      if (!s.remote->problem.empty()) out.member("problem", s.remote->problem);
      out.end_object();
    }
    const auto process = s.process.value_or(mcp::clients::process_status());
    const auto memory = process.pid > 0 ? front::resident_bytes_of_tree(process.pid) : -1;
    const auto known = [&](std::string_view key, std::int64_t value) {
      value >= 0 ? out.member(key, value) : out.member(key, json::raw_json());
    };
    known("pid", process.pid);
    known("rssBytes", memory);
    out.member("tools", s.tools).member("prompts", s.prompts).member("resources", s.resources);
    out.member("resourceTemplates", s.resource_templates);
    append_offers(out, s.offers);
    out.member("restarts", s.restarts);
    out.member("lastError", free_text(s.last_error));
    if (s.last_error_ms >= 0) out.member("lastErrorMs", s.last_error_ms);
    out.member("exit", free_text(process.exit));
    out.member("stderr", free_text(process.stderr_tail));
    known("nextTryMs", s.next_try_ms);
    out.member("startFailed", s.start_failed);
    out.member("openCalls", s.open_calls).member("queuedCalls", s.queued_calls);
    append_calls(out, s.calls);
    out.member("noiseLines", s.noise_lines).member("droppedAnswers", s.dropped_answers);
    out.member("withheldTools", s.withheld);
    if (s.per_scope) {
      out.key("instances").begin_array();
      for (const auto& i : s.instances) {
        out.begin_object().member("for", free_text(i.of)).member("state", mcp::clients::to_string(i.state));
        if (i.pid > 0) out.member("pid", i.pid);
        out.member("openCalls", i.open_calls);
        out.member("lastError", free_text(i.last_error)).end_object();
      }
      out.end_array();
    }
    if (!s.pin_notice.empty()) out.member("pins", s.pin_notice);
    out.end_object();
  }
  out.end_array();
  return out.json();
}

void add_tool_methods(front::own_methods& table) {
  table.bind("mcpbx/servers", [](rpc_caller& c, const mcp::server::reply_once& reply) {
    reply.result(servers_of(c.door().daemon.servers()));
  });
  table.bind(
      "mcpbx/restart",
      [](mcp::server::param_reader& in) {
        auto server = in.text("server");
        if (!server) in.wrong("server", "expected the name of a tool server, got nothing");
        return server.value_or("");
      },
      [](rpc_caller& c, const std::string& server, const mcp::server::reply_once& reply) {
        if (auto done = c.door().daemon.restart(server); !done)
          return reply.error(mcp::server::to_rpc_error(done.error()));
        reply.result(json::raw_json::literal("{}"));
      });
  table.bind("mcpbx/names", read_names, [](rpc_caller& c, const names_params& p, const mcp::server::reply_once& reply) {
    reply.result(names_of(c, p));
  });
  table.bind("mcpbx/tools", read_tools, [](rpc_caller& c, tools_params p, const mcp::server::reply_once& reply) {
    // A name that is known now need not wait for other servers (G7).
    if (!p.name.empty())
      if (const auto tools = c.tools(); tools->find(p.name) || tools->find_withheld(p.name))
        return answer_tools(c, p, reply);
    c.when_settled(c.door().settings.session.settle, [&c, p = std::move(p), reply] {
      if (reply.open()) answer_tools(c, p, reply);
    });
  });
}

}  // namespace mcpbx::daemon::rpc_door
