// Builds the first record of a run: system prompt, messages, tools and settings of the conversation with the model.
#include "daemon/loop/core/call_ids.hpp"
#include "daemon/loop/results/result_mark.hpp"
#include "daemon/loop/results/result_order.hpp"
#include "daemon/loop/run/live_run.hpp"
#include "daemon/loop/run_words.hpp"
#include "mcp/crypto/sha256.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/support/text.hpp"
#include "providers/model/message_format.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>

namespace mcpbx::daemon {
namespace {

constexpr std::size_t longest_instructions = (8 << 10) - 384;  // bytes, without the marks

void add_paragraph(std::string& text, std::string_view more) {
  if (!text.empty() && !more.empty()) text += "\n\n";
  text += more;
}

// Adds the advice on tool use, `ours` unless the limits have another text. `ours` is "" if no tool is offered. Adds it
// only once, because the caller may send a system prompt back that has it already.
void add_guidance(std::string& system, const run_limits& l, const std::string& ours) {
  if (!l.guidance.on || l.max_rounds == 0 || ours.empty()) return;
  const auto& advice = l.guidance.text.empty() ? ours : l.guidance.text;
  if (l.guidance.text.empty() ? !words::has_guidance(system) : system.find(advice) == std::string::npos)
    add_paragraph(system, advice);
}

// Returns the instructions of the servers whose tools are offered, marked as data, or "". The nonce is a hash of them:
// equal prompts keep the prompt cache of a provider, and no text can contain its own hash.
std::string instructions_for(const run_limits& l, const offered_tools& tools) {
  if (!l.server_instructions || l.max_rounds == 0) return {};
  const auto all = server_instructions(tools, longest_instructions);
  return all.empty() ? std::string() : marked_instructions(all, sha256_hex(all).substr(0, 16));
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

renames renamed_tools(const std::vector<mcp::entry_ptr>& own, const offered_tools& offer) {
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

// Builds run_started: the system prompt (the request's, else the model's) with the guidance and the servers'
// instructions, then the conversation as the caller sent it, with the results in the order of their calls. Moves the
// messages out of the request.
record::run_started live_run::opening() {
  take_offer();
  auto& messages = request_.messages;
  if (!messages.empty() && messages.front()->role == providers::role::system) {
    const auto own = messages.front()->text();
    request_.system = request_.system.empty() ? own : request_.system + "\n\n" + own;
    messages.erase(messages.begin());
  }
  request_.system = without_marked_instructions(request_.system);
  if (request_.system.empty()) request_.system = model_.model().default_system();
  if (const auto names = renamed_tools(offer_.own(), *offer_.now()); !names.empty())
    for (auto& m : messages) m = in_shown_names(m, names);
  add_guidance(request_.system, request_.limits, offer_.now()->guidance);
  if (request_.answer_schema) add_paragraph(request_.system, words::answer_format(request_.answer_schema));
  order_results(messages);
  record::run_started r;
  r.run = name();
  r.session = request_.session;
  r.principal = request_.principal;
  r.model = model_.model().name();
  r.inherited_count = inherited_.size();
  r.inherited_after = inherited_.last_run;
  r.inherited_results = std::move(inherited_.results);
  r.inherited = std::move(inherited_);
  r.meant = std::move(meant_before_);
  r.messages.reserve(messages.size() + 1);
  if (const auto instructions = instructions_for(request_.limits, *offer_.now());
      !request_.system.empty() || !instructions.empty())
    r.messages.push_back(system_prompt(request_.system, instructions));
  r.messages.insert(r.messages.end(), messages.begin(), messages.end());
  messages.clear();
  call_ids_ = ids_of(r.inherited);
  separate_ids(r.messages, call_ids_);
  r.profile = request_.profile;
  r.tools = request_.tools;
  r.approve = request_.approve;
  r.client_tools = request_.client_tools;
  if (request_.detach || !request_.client_tools.empty()) {
    // Only rules that select or rename tools depend on the names in the catalog.
    const auto& t = request_.tools;
    const bool allows_all = t.only.empty() && t.allow.empty() && t.rename.empty();
    auto& servers = request_.configured->servers;
    r.servers = allows_all ? servers.configured() : servers.under(around_.tools.snapshot());
  }
  r.links = request_.links;
  r.answer_schema = request_.answer_schema;
  r.settings = request_.settings;
  r.detached = request_.detach;
  r.likeness = request_.likeness;
  r.limits = request_.limits;
  r.asked_limits = request_.asked_limits;
  if (r.limits.mark_results) r.nonce = hex(around_.random.next(), 16);
  return r;
}

boost::asio::awaitable<result<run_preview>> live_run::preview() {
  auto begun = co_await inherit();
  if (!begun) co_return std::unexpected(std::move(begun.error()));
  (void)co_await wait_for_tools();
  const auto first = opening();
  const auto& offered = *offer_.now();
  run_preview p;
  p.model = first.model;
  p.id = model_.model().id();
  p.api = model_.model().api();
  p.profile = first.profile;
  for (const auto& m : conversation_of(first)) {
    std::string json;
    json_writer w(json);
    providers::append_message(w, *m);
    ++p.messages;
    p.message_bytes += json.size();
  }
  p.left_out = offered.left_out;
  if (first.limits.max_rounds > 0)
    for (const auto& tool : offered.set->tools) {
      p.tools.push_back(tool.name);
      p.tool_bytes += tool.name.size() + tool.description.size() + tool.schema.text().size();
    }
  co_return p;
}

void live_run::take_offer() {
  offer_.take(model_.model(), request_.messages.empty() ? core_.facts().started.messages : request_.messages,
              !core_.facts().kept.empty());
}

void live_run::prepare_meanwhile(const command::call_model& c) {
  model_.plan(c);
  if (around_.store.keeps_sessions() && !records_.all_written())
    boost::asio::post(around_.executor, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->model_.prepare();
    });
}

}  // namespace mcpbx::daemon
