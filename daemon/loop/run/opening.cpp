// Builds the system prompt, and puts together the messages, the tools and the settings of a run.
#include "daemon/loop/run/opening.hpp"

#include "daemon/loop/core/call_ids.hpp"
#include "daemon/loop/results/result_mark.hpp"
#include "daemon/loop/results/result_order.hpp"
#include "daemon/loop/run_words.hpp"
#include "mcp/crypto/sha256.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::daemon::run {
namespace {

constexpr std::size_t longest_instructions = (8 << 10) - 384;  // bytes, without the marks

void add_paragraph(std::string& text, std::string_view more) {
  if (!text.empty() && !more.empty()) text += "\n\n";
  text += more;
}

// Adds the advice on tool use, `ours` unless the limits have another text. `ours` is "" if no tool is offered. Adds it
// only once, because the caller may send a system prompt back that has it already.
void add_guidance(std::string& system, const stored::run_limits& l, const std::string& ours) {
  if (!l.guidance.on || l.max_rounds == 0 || ours.empty()) return;
  const auto& advice = l.guidance.text.empty() ? ours : l.guidance.text;
  if (l.guidance.text.empty() ? !loop::words::has_guidance(system) : system.find(advice) == std::string::npos)
    add_paragraph(system, advice);
}

// Returns the instructions of the servers whose tools are offered, marked as data, or "". The nonce is a hash of them:
// equal prompts keep the prompt cache of a provider, and no text can contain its own hash.
std::string instructions_for(const stored::run_limits& l, const tools::offered_tools& tools) {
  if (!l.server_instructions || l.max_rounds == 0) return {};
  const auto all = tools::server_instructions(tools, longest_instructions);
  return all.empty() ? std::string() : results::marked_instructions(all, crypto::sha256_hex(all).substr(0, 16));
}

providers::message_ptr system_prompt(const std::string& own, const std::string& instructions) {
  auto m = std::make_shared<providers::message>();
  m->role = providers::role::system;
  if (!own.empty()) m->blocks.emplace_back(providers::text_block{own});
  if (!instructions.empty())
    m->blocks.emplace_back(providers::text_block{(own.empty() ? "" : "\n\n") + instructions, true});
  return m;
}

// Names of the caller's own tools that the model sees in another form: the caller's name, and the one for the model.
// The caller's messages get the latter too, so that the model reads of one tool.
using renames = std::vector<std::pair<std::string_view, std::string_view>>;

renames renamed_tools(const std::vector<mcp::catalogs::entry_ptr>& own, const tools::offered_tools& offer) {
  renames all;
  for (const auto& e : own)
    if (const auto shown = offer.shown_as(e->name); !shown.empty() && shown != e->name)
      all.emplace_back(e->name, shown);
  return all;
}

// Returns a copy of `m` with the names for the model, or `m` if nothing changes. A message in a provider's own bytes is
// not changed.
providers::message_ptr in_shown_names(const providers::message_ptr& m, const renames& names) {
  std::shared_ptr<providers::message> changed;
  const auto rename = [&](std::size_t i, const std::string& name, auto of) {
    const auto to = std::ranges::find(names, name, &renames::value_type::first);
    if (to == names.end()) return;
    if (!changed) {  // copies no data that codecs have cached in the message, because that has the old name
      changed = std::make_shared<providers::message>();
      changed->role = m->role;
      changed->blocks = m->blocks;
      changed->origin = m->origin;
    }
    std::get<decltype(of)>(changed->blocks[i]).name = to->second;
  };
  for (std::size_t i = 0; !m->raw && i < m->blocks.size(); ++i) {
    if (const auto* call = std::get_if<providers::tool_call_block>(&m->blocks[i]))
      rename(i, call->name, providers::tool_call_block());
    else if (const auto* result = std::get_if<providers::tool_result_block>(&m->blocks[i]))
      rename(i, result->name, providers::tool_result_block());
  }
  return changed ? changed : m;
}

}  // namespace

run_opening opening_of(run_request& request, session_before before, const opening_parts& of) {
  auto& messages = request.messages;
  if (!messages.empty() && messages.front()->role == providers::role::system) {
    const auto own = messages.front()->text();
    request.system = request.system.empty() ? own : request.system + "\n\n" + own;
    messages.erase(messages.begin());
  }
  request.system = results::without_marked_instructions(request.system);
  if (request.system.empty()) request.system = of.model.default_system();
  if (const auto names = renamed_tools(of.offer.own(), *of.offer.now()); !names.empty())
    for (auto& m : messages) m = in_shown_names(m, names);
  add_guidance(request.system, request.limits, of.offer.now()->guidance);
  if (request.answer_schema) add_paragraph(request.system, loop::words::answer_format(request.answer_schema));
  results::order_results(messages);
  stored::record::run_started r;
  r.run = request.run;
  r.session = request.session;
  r.principal = request.principal;
  r.model = of.model.name();
  r.inherited_count = before.history.size();
  r.inherited_after = before.history.last_run;
  r.inherited_results = std::move(before.history.results);
  r.inherited = std::move(before.history);
  r.meant = std::move(before.meant);
  r.messages.reserve(messages.size() + 1);
  if (const auto instructions = instructions_for(request.limits, *of.offer.now());
      !request.system.empty() || !instructions.empty())
    r.messages.push_back(system_prompt(request.system, instructions));
  r.messages.insert(r.messages.end(), messages.begin(), messages.end());
  messages.clear();
  auto call_ids = core::ids_of(r.inherited);
  core::separate_ids(r.messages, call_ids);
  r.profile = request.profile;
  r.tools = request.tools;
  r.approve = request.approve;
  r.client_tools = request.client_tools;
  if (request.detach || !request.client_tools.empty()) {
    // Only rules that select or rename tools depend on the names in the catalog.
    const auto& t = request.tools;
    const bool allows_all = t.only.empty() && t.allow.empty() && t.rename.empty();
    auto& servers = request.configured->servers;
    r.servers = allows_all ? servers.configured() : servers.under(of.tools.snapshot());
  }
  r.links = request.links;
  r.answer_schema = request.answer_schema;
  r.settings = request.settings;
  r.detached = request.detach;
  r.likeness = request.likeness;
  r.limits = request.limits;
  r.asked_limits = request.asked_limits;
  r.trace = request.trace;
  if (r.limits.mark_results) r.nonce = hex(of.random.next(), 16);
  return {std::move(r), std::move(call_ids)};
}

run_request request_of(const stored::record::run_started& started, std::shared_ptr<run_configuration> configured) {
  run_request r;
  r.principal = started.principal;
  r.model = started.model;
  r.profile = started.profile;
  r.tools = started.tools;
  r.approve = started.approve;
  r.client_tools = started.client_tools;
  r.answer_schema = started.answer_schema;
  r.settings = started.settings;
  r.limits = started.limits;
  r.asked_limits = started.asked_limits;
  r.trace = started.trace;
  r.detach = started.detached;
  r.likeness = started.likeness;
  r.configured = std::move(configured);
  stored::kept_terms kept;
  kept.servers = started.servers;
  kept.servers_now = r.configured->servers.configured();
  r.tools.beside = std::make_shared<const stored::kept_terms>(std::move(kept));
  return r;
}

}  // namespace mcpbx::daemon::run
