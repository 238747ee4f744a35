// How a run makes its calls: which it lets through, which one after another, which again, and those that it carries out
// itself.
#include "daemon/guard/approval_seal.hpp"
#include "daemon/loop/results/call_result.hpp"
#include "daemon/loop/results/read_result.hpp"
#include "daemon/loop/run/live_run.hpp"
#include "daemon/loop/run_words.hpp"
#include "daemon/loop/tools/caller_tools.hpp"
#include "mcp/support/text.hpp"
#include "providers/call/retry.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::daemon {
namespace {

constexpr milliseconds first_wait{200}, longest_wait{5'000};

// The server, or the way to it, was at fault, and nothing says that another attempt meets the same. What a server
// answered is never asked for again.
bool may_pass(errc code) {
  return code == errc::unavailable || code == errc::timed_out || code == errc::limit;
}

bool may_repeat(const mcp::catalog_entry& tool) {
  return read_result::is(tool) || tool.manner.max_retries > 0;
}

}  // namespace

// One after another, because a call that is refused may stop those behind it.
void live_run::intend(const command::intend_calls& c) {
  for (const auto& id : c.call_ids) {
    records one;
    one.push_back(intent_or_refusal(id));
    fold(std::move(one));
  }
}

run_record live_run::intent_or_refusal(const std::string& id) {
  const auto& call = *core_.find_call(id);
  // Of a call that was sent by an earlier process nobody knows what it has done.
  const auto refusal = [&](record::result_cause cause, std::string text) {
    if (core_.attempts(id) > 0) return closing_record({id, record::result_cause::interrupted, words::not_again(text)});
    return closing_record({id, cause, std::move(text)});
  };
  if (core_.stopped_before(id)) return refusal(record::result_cause::refused, std::string(words::stopped_at_failure));
  const auto* entry = offer_.find(call.name);
  if (!entry)
    return refusal(record::result_cause::unknown_tool,
                   words::unknown_tool(call.name, offer_.now()->similar(call.name, 3), offer_.now()->names));
  // It may have changed since the round was begun with it.
  const auto now = around_.tools.snapshot();
  const auto facts = facts_for(*entry, *now);
  const auto judged = judge(id, *entry, facts);
  const auto not_allowed = [&] {
    return refusal(record::result_cause::refused, words::not_allowed(judged, entry->name, facts));
  };
  if (judged.by == rule::withheld) return not_allowed();
  if (facts.of_a_server && entry->owner.expired())
    return refusal(record::result_cause::unavailable,
                   "Not executed: the server \"" + entry->server + "\" of this tool is gone.");
  if (core_.attempts(id) > 0 && !may_repeat(*entry))
    return refusal(record::result_cause::interrupted,
                   "the configuration does not let calls of this tool be repeated any more.");
  if (auto problem = around_.arguments.problem(*entry, call.name, call.arguments); !problem.empty())
    return refusal(record::result_cause::bad_arguments, std::move(problem));
  if (judged.denies()) return not_allowed();
  if (!judged.allows()) return approval_question(id, *entry, judged.by);
  record::call_intent intent;
  intent.call_id = id;
  intent.to_caller = is_caller_tool(*entry);
  intent.name = entry->name;
  intent.server = entry->server;
  intent.definition_hash = entry->hash;
  intent.arguments_hash = stable_hash(call.arguments.text());
  intent.attempt = core_.attempts(id) + 1;
  intent.repeatable = may_repeat(*entry);
  return intent;
}

// Calls that are closed one after another are one commit.
live_run::records live_run::close(command::close_call first) {
  records batch;
  const auto add = [&](const command::close_call& c) {
    // Its intent could not be kept, so it never left.
    const bool never_left = records_.broken() && !told_.was_told_of(c.call_id);
    auto r = closing_record(never_left ? command::close_call{c.call_id, c.cause, std::string(words::never_left)} : c);
    told_.drop_line(c.call_id);
    if (auto sent = std::ranges::find(sent_, c.call_id, &sent_call::id); sent != sent_.end()) {
      r.ms = clock_.ms_since(sent->since);
      sent_.erase(sent);
    }
    batch.emplace_back(std::move(r));
  };
  add(first);
  for (; !todo_.empty() && std::holds_alternative<command::close_call>(todo_.front()); todo_.pop_front())
    add(std::get<command::close_call>(todo_.front()));
  return batch;
}

void live_run::run_call(const command::run_call& c) {
  const auto& call = *core_.find_call(c.call_id);
  const auto* entry = offer_.find(call.name);
  auto server = entry->owner.lock();
  if (const auto before = std::ranges::find(sent_, c.call_id, &sent_call::id); before != sent_.end())
    before->client = server;
  else
    // Its attempts in an earlier process may have left, each of them.
    sent_.push_back(
        {c.call_id, entry->name, entry->server, server, 0, around_.time.now(), core_.attempts(c.call_id) - 1, {}, {}});
  ++around_.counters.calls;
  if (read_result::is(*entry)) return run_built_in(c.call_id);
  if (!server) {  // it went away between the intent and now
    inbox_.push(call_done{
        c.call_id, mcp::call_outcome::failed(errc::unavailable, "the server \"" + entry->server + "\" is gone")});
    return;
  }
  mcp::server_call out;
  out.params = call_params(entry->tool, call.arguments);
  out.name = entry->name;
  out.limits = entry->manner.limits;
  out.done = [weak = weak_from_this(), id = c.call_id](mcp::call_outcome outcome) {
    if (auto self = weak.lock()) self->inbox_.push(call_done{id, std::move(outcome)});
  };
  out.progress = [weak = weak_from_this(), id = c.call_id](const raw_json& params) {
    if (auto self = weak.lock()) self->told_.tool_progress(id, params);
  };
  out.log = [weak = weak_from_this(), id = c.call_id](const raw_json& params) {
    if (auto self = weak.lock()) self->told_.tool_log(id, params);
  };
  out.asker = this;
  const auto ticket = server->call(std::move(out));
  if (auto sent = std::ranges::find(sent_, c.call_id, &sent_call::id); sent != sent_.end()) sent->ticket = ticket;
}

// The calls stay in sent_ until they are closed, so that their results can tell how long they ran.
void live_run::cancel_open() {
  to_prepare_.reset();
  model_call_.reset();
  told_.drop_lines();
  questions_.clear();
  parked_limit_.reset();
  for (auto& sent : sent_) {
    sent.again.reset();
    if (auto server = sent.client.lock()) server->cancel(sent.ticket, "the run was cancelled");
  }
}

// Whether the call, which may be made again, is: after a while that doubles each time (L13).
bool live_run::try_again(sent_call& sent, const mcp::call_outcome& outcome) {
  if (outcome.type != mcp::call_outcome::kind::failed || !may_pass(outcome.failure.code) || core_.ending())
    return false;
  const auto* entry = offer_.find(core_.find_call(sent.id)->name);
  const auto attempts = core_.attempts(sent.id);
  const auto wait = providers::wait_before_retry({entry->manner.max_retries, first_wait, longest_wait, {}}, attempts,
                                                 {}, around_.random.next(), clock_.left());
  if (!wait) return false;
  sent.failure = to_call_result(sent.id, outcome, sent.tool, sent.server, clock_.ms_since(sent.since), sent.lost);
  sent.again = around_.time.make_timer();
  make_again(sent, around_.time.now() + *wait);
  return true;
}

void live_run::make_again(sent_call& sent, time_point when) {
  sent.again->arm(when, [weak = weak_from_this(), id = sent.id] {
    if (auto self = weak.lock()) self->inbox_.push(retry_due{id});
  });
}

// Whether the attempt that is due is put off: one at a server that is known to be down would be spent for nothing.
bool live_run::waits_for_start(sent_call& sent) {
  const auto server = sent.client.lock();
  if (!server || core_.ending()) return false;
  const auto start = server->next_start();
  const auto wait = std::chrono::ceil<milliseconds>(start - around_.time.now());
  if (wait.count() <= 0 || wait > longest_wait || wait >= clock_.left()) return false;
  make_again(sent, start);
  return true;
}

// The next attempt, or what the last one came to when the tool is not there any more as it was.
run_record live_run::next_attempt(sent_call& sent) {
  sent.again.reset();
  auto failure = std::move(*std::exchange(sent.failure, std::nullopt));
  const auto& call = *core_.find_call(sent.id);
  const auto* entry = offer_.find(call.name);
  const auto now = around_.tools.snapshot()->find(entry->listed_name());
  if (core_.ending() || !now || !same_tool(*now, *entry) || entry->owner.expired()) return failure;
  record::call_intent intent;
  intent.call_id = sent.id;
  intent.name = entry->name;
  intent.server = entry->server;
  intent.attempt = core_.attempts(sent.id) + 1;
  intent.definition_hash = entry->hash;
  intent.arguments_hash = stable_hash(call.arguments.text());
  intent.repeatable = true;
  return intent;
}

void live_run::run_built_in(const std::string& id) {
  const auto result = read_result::page(core_.kept(), core_.find_call(id)->arguments, request_.limits.max_result_bytes);
  inbox_.push(call_done{id, {mcp::call_outcome::kind::result, result, {}}});
}

}  // namespace mcpbx::daemon
