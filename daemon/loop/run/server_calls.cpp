// Sends tool calls, makes results from their outcomes, and plans repeated attempts.
#include "daemon/loop/run/server_calls.hpp"

#include "daemon/guard/approval_seal.hpp"
#include "daemon/loop/results/call_result.hpp"
#include "daemon/loop/results/read_result.hpp"
#include "daemon/loop/results/result_links.hpp"
#include "daemon/loop/run_words.hpp"
#include "daemon/loop/tools/caller_tools.hpp"
#include "mcp/client/catalog/item_filter.hpp"
#include "mcp/client/catalog/resource_routes.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/support/text.hpp"
#include "mcp/trace/trace_meta.hpp"
#include "providers/call/retry.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace mcpbx::daemon::run {
namespace {

constexpr std::size_t longest_shown_uri = 200;                // bytes
constexpr milliseconds first_wait{200}, longest_wait{5'000};  // pauses before repeated attempts

// Returns true for an error of the server or of the connection to it, so that another attempt may succeed. A call that
// the server has answered is never repeated.
bool may_pass(errc code) {
  return code == errc::unavailable || code == errc::timed_out || code == errc::limit;
}

}  // namespace

bool server_calls::may_repeat(const mcp::catalogs::catalog_entry& tool) {
  return results::read_result::is(tool) || tool.manner.max_retries > 0;
}

stored::record::call_intent server_calls::intent(const providers::tool_call_block& call,
                                                 const mcp::catalogs::catalog_entry& tool) const {
  stored::record::call_intent intent;
  intent.call_id = call.id;
  intent.to_caller = tools::is_caller_tool(tool);
  intent.name = tool.name;
  intent.server = tool.server;
  intent.definition_hash = tool.hash;
  intent.arguments_hash = stable_hash(call.arguments.text());
  intent.attempt = by_.core.attempts(call.id) + 1;
  intent.repeatable = may_repeat(tool);
  return intent;
}

std::vector<server_calls::sent_call>::iterator server_calls::find(std::string_view call) {
  return std::ranges::find(sent_, call, &sent_call::id);
}

void server_calls::send(const std::string& id, const std::weak_ptr<listener>& told,
                        const std::weak_ptr<server_questions::listener>& asked) {
  const auto& call = *by_.core.find_call(id);
  const auto* entry = by_.offer.find(call.name);
  auto server = entry->owner.lock();
  if (const auto before = find(id); before != sent_.end())
    before->client = server;
  else
    // Each attempt of an earlier process counts as sent, because it may have been.
    sent_.push_back(
        {id, entry->name, entry->server, told, server, 0, by_.time.now(), by_.core.attempts(id) - 1, {}, {}});
  const auto ended = [&](mcp::rpc::call_outcome outcome) {
    if (const auto l = told.lock()) l->on_outcome(id, std::move(outcome));
  };
  if (results::read_result::is(*entry))
    if (const auto uri = results::read_result::linked_uri(call.arguments); !uri.empty())
      return read_link(id, uri, told);
  if (results::read_result::is(*entry))
    return ended(
        {mcp::rpc::call_outcome::kind::result,
         results::read_result::page(by_.core.facts().kept, call.arguments, by_.core.facts().limits.max_result_bytes),
         {}});
  if (!server)  // the server was removed after the intent
    return ended(mcp::rpc::call_outcome::failed(errc::unavailable, "the server \"" + entry->server + "\" is gone"));
  mcp::clients::server_call out;
  out.params = results::call_params(entry->tool, call.arguments, by_.core.facts().started.trace);
  out.name = entry->name;
  out.own_name = entry->tool;
  out.limits = entry->manner.limits;
  out.done = [told, id](mcp::rpc::call_outcome outcome) {
    if (const auto l = told.lock()) l->on_outcome(id, std::move(outcome));
  };
  out.progress = [told, id](const json::raw_json& params) {
    if (const auto l = told.lock()) l->on_progress(id, params);
  };
  out.log = [told, id](const json::raw_json& params) {
    if (const auto l = told.lock()) l->on_log(id, params);
  };
  out.asker = this;
  by_.questions.attach_to(out, id, asked);
  out.scope = by_.scope;
  const auto ticket = server->call(std::move(out));
  if (const auto sent = find(id); sent != sent_.end()) sent->ticket = ticket;
}

// Reads a resource at its server. Only what a result of this conversation links to can be read, so that the model gets
// no more of the resources than tools have shown it.
void server_calls::read_link(const std::string& id, const std::string& uri, const std::weak_ptr<listener>& told) {
  const auto ended = [&](const std::string& why) {
    if (const auto l = told.lock())
      l->on_outcome(id, {mcp::rpc::call_outcome::kind::result, loop::words::error_result(why), {}});
  };
  const std::string shown = json::json_quoted(cut_utf8(uri, longest_shown_uri));
  if (!results::has_link(by_.core.facts().kept, uri))
    return ended("Not read: no result that is still kept in this conversation links to " + shown + ".");
  const auto tools = by_.tools.snapshot();
  auto route = tools->route_resource(uri);
  for (const auto* rules : {&by_.core.facts().started.links, &by_.links}) {
    if (!route || *rules == stored::record::link_rules()) continue;
    const auto view =
        std::make_shared<const mcp::catalogs::uri_filter>(mcp::catalogs::item_filter{rules->allow, rules->deny});
    // Another server may be found under these rules, which must not open the way to the one that they deny.
    const auto allowed = tools->rest().routes->narrowed(view)->find(uri);
    if (!allowed || allowed->server != route->server || allowed->uri != route->uri) route.reset();
  }
  const auto server = route ? route->owner.lock() : nullptr;
  if (!server) return ended("Not read: no tool server that this run may read from has the resource " + shown + ".");
  mcp::clients::server_call out;
  out.method = "resources/read";
  out.name = cut_utf8(uri, longest_shown_uri);
  std::string params;
  json::json_writer w(params);
  w.begin_object().member("uri", route->uri);
  trace::append_trace_meta(w, by_.core.facts().started.trace);
  w.end_object();
  out.params = json::raw_json::own(std::move(params));
  out.asker = this;
  out.scope = by_.scope;
  out.principal = by_.core.facts().started.principal;
  out.done = [told, id](mcp::rpc::call_outcome outcome) {
    if (outcome.type == mcp::rpc::call_outcome::kind::result)
      outcome.value = results::resource_as_result(outcome.value);
    if (const auto l = told.lock()) l->on_outcome(id, std::move(outcome));
  };
  if (const auto sent = find(id); sent != sent_.end()) sent->client = server;
  const auto ticket = server->call(std::move(out));
  if (const auto sent = find(id); sent != sent_.end()) sent->ticket = ticket;
}

std::optional<stored::record::call_result> server_calls::settle(const std::string& id,
                                                                const mcp::rpc::call_outcome& outcome) {
  const auto sent = find(id);
  if (sent == sent_.end() || !by_.core.is_open(id)) return std::nullopt;
  if (outcome.sent) ++sent->lost;
  if (try_again(*sent, outcome)) return std::nullopt;
  if (outcome.type == mcp::rpc::call_outcome::kind::result)
    for (const auto& uri : results::links_in(outcome.value)) by_.tools.snapshot()->saw_uri(sent->server, uri);
  auto result =
      results::to_call_result(id, outcome, sent->tool, sent->server, by_.clock.ms_since(sent->since), sent->lost);
  sent_.erase(sent);
  return result;
}

// Plans another attempt if the outcome, the tool and the run's time allow it. Returns false if not.
bool server_calls::try_again(sent_call& sent, const mcp::rpc::call_outcome& outcome) {
  if (outcome.type != mcp::rpc::call_outcome::kind::failed || !may_pass(outcome.failure.code) || by_.core.ending())
    return false;
  const auto* entry = by_.offer.find(by_.core.find_call(sent.id)->name);
  const auto attempts = by_.core.attempts(sent.id);
  const auto wait = providers::call::wait_before_retry({entry->manner.max_retries, first_wait, longest_wait, {}},
                                                       attempts, {}, by_.random.next(), by_.clock.left());
  if (!wait) return false;
  sent.failure =
      results::to_call_result(sent.id, outcome, sent.tool, sent.server, by_.clock.ms_since(sent.since), sent.lost);
  sent.again = by_.time.make_timer();
  make_again(sent, by_.time.now() + *wait);
  return true;
}

void server_calls::make_again(sent_call& sent, time_point when) {
  sent.again->arm(when, [told = sent.told, id = sent.id] {
    if (const auto l = told.lock()) l->on_retry_due(id);
  });
}

// Puts off an attempt until the server's next start, if the server is known to be down and starts within longest_wait.
// An attempt before that would be wasted. Returns false if the attempt should be made now.
bool server_calls::waits_for_start(sent_call& sent) {
  const auto server = sent.client.lock();
  if (!server || by_.core.ending()) return false;
  const auto start = server->next_start();
  const auto wait = std::chrono::ceil<milliseconds>(start - by_.time.now());
  if (wait.count() <= 0 || wait > longest_wait || wait >= by_.clock.left()) return false;
  make_again(sent, start);
  return true;
}

std::optional<stored::run_record> server_calls::next_attempt(const std::string& id) {
  const auto sent = find(id);
  if (sent == sent_.end() || !by_.core.is_open(id) || waits_for_start(*sent)) return std::nullopt;
  sent->again.reset();
  auto failure = std::move(*std::exchange(sent->failure, std::nullopt));
  const auto& call = *by_.core.find_call(id);
  const auto* entry = by_.offer.find(call.name);
  const auto now = by_.tools.snapshot()->find(entry->listed_name());
  if (!by_.core.ending() && now && guard::same_tool(*now, *entry) && !entry->owner.expired())
    return intent(call, *entry);
  sent_.erase(sent);
  return failure;
}

std::optional<std::int64_t> server_calls::close(std::string_view id) {
  const auto sent = find(id);
  if (sent == sent_.end()) return std::nullopt;
  const auto ms = by_.clock.ms_since(sent->since);
  sent_.erase(sent);
  return ms;
}

// Keeps the calls until they are closed, so that their results can have the time that they took.
void server_calls::cancel_all() {
  for (auto& sent : sent_) {
    sent.again.reset();
    if (auto server = sent.client.lock()) server->cancel(sent.ticket, "the run was cancelled");
  }
}

}  // namespace mcpbx::daemon::run
