// Steps for a reply with calls. Each call is sent to its server, asked about, handed to the caller, or closed with an
// error result. With the last result the reply and its results are added to the history.
#include "daemon/loop/core/run_core.hpp"
#include "daemon/loop/results/read_result.hpp"
#include "daemon/loop/results/result_links.hpp"
#include "daemon/loop/results/result_mark.hpp"
#include "daemon/loop/results/result_view.hpp"
#include "daemon/loop/run_words.hpp"
#include "mcp/json/canonical_json.hpp"
#include "mcp/redact/hidden_text.hpp"
#include "mcp/support/formatted.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace mcpbx::daemon::core {
namespace {

using providers::end_reason;
using stored::record::result_cause;

}  // namespace

void run_core::open_level(const stored::record::assistant& r) {
  level_ = r.message;
  for (const auto& b : level_->blocks)
    if (const auto* call = std::get_if<providers::tool_call_block>(&b)) {
      const auto i = open_.size();
      open_.push_back({.call = call, .group = i < r.serial_groups.size() ? r.serial_groups[i] : 0});
      results_.push_back({call->id, call->name, {}, false});
      const auto meant = std::ranges::find(r.tools, call->name, &stored::record::meant_tool::name);
      auto server = meant == r.tools.end() ? std::string() : meant->server;
      facts_.calls.push_back({call->id, call->name, std::move(server), call->arguments, false, false, 0});
    }
  undone_ = open_.size();

  // Runs no call of an incomplete reply, because the calls may be incomplete too (G29).
  const auto by = [&] { return loop::words::who_answered(facts_.started.model, r.message->origin); };
  switch (r.reason) {
    case end_reason::length:
      ending_ =
          sentence{stored::stop_reason::truncated,
                   loop::words::unable(loop::words::cut_at_limit(by(), facts_.started.settings.max_output_tokens))};
      return close_all(result_cause::refused,
                       "Not executed: the reply was cut off at the output limit, so this call may be incomplete.");
    case end_reason::filter:
    case end_reason::refusal:
      ending_ = sentence{stored::stop_reason::refused,
                         loop::words::unable(r.reason == end_reason::filter ? loop::words::filtered(by())
                                                                            : loop::words::refused(by(), *r.message))};
      return close_all(result_cause::refused, "Not executed: the reply that made this call was stopped.");
    case end_reason::context_full:
      ending_ = sentence{
          trimmed(*facts_.answer.text).empty() ? stored::stop_reason::context_full : stored::stop_reason::truncated,
          loop::words::unable(loop::words::context_filled(by()))};
      return close_all(result_cause::refused, "Not executed: the conversation is too long for the model.");
    case end_reason::unknown:
      ending_ =
          sentence{stored::stop_reason::truncated, loop::words::unable(loop::words::ended_unknown(by(), r.raw_reason))};
      return close_all(result_cause::refused,
                       "Not executed: the reply ended for a reason that is not known, so this call may be incomplete.");
    case end_reason::malformed_call:
      return close_all(
          result_cause::bad_arguments,
          "Not executed: this call could not be read. Make it again, with arguments that are one JSON object.");
    default:
      break;
  }
  if (!with_tools_) {
    ending_ = limit_       ? sentence{limit_->reason, loop::words::unable(limit_->text)}
              : corrected_ ? sentence{stored::stop_reason::provider_error,
                                      loop::words::unable("the model called a tool instead of correcting its answer")}
                           : sentence{stored::stop_reason::max_rounds,
                                      loop::words::unable("the model called a tool although none was offered")};
    return close_all(result_cause::refused, "Not executed: no tools are offered any more. Answer from what you know.");
  }
  if (over_token_budget()) {
    ending_ = sentence{
        stored::stop_reason::token_budget,
        loop::words::unable(formatted("the budget of {} is used up", counted(facts_.limits.token_budget, "token")))};
    return close_all(result_cause::refused, "Not executed: the run's budget of tokens is used up.");
  }
  for (std::size_t i = 0; i < open_.size(); ++i) admit(i);
  go_on();
}

// Leaves the call in state waiting so that it can be run, or closes it with a reason for the model.
void run_core::admit(std::size_t index) {
  auto& c = open_[index];
  const auto& call = *c.call;
  if (!call.problem.empty() || (call.arguments && !call.arguments.is_object())) {
    // A problem that is a complete sentence already tells the model what to do.
    if (call.problem.ends_with('.')) return close(c, result_cause::bad_arguments, "Not executed. " + call.problem);
    return close(c, result_cause::bad_arguments,
                 "Not executed: the arguments could not be used: " +
                     (call.problem.empty() ? "they are no JSON object" : call.problem) +
                     ". Call the tool again with arguments that are one JSON object.");
  }
  if (index >= static_cast<std::size_t>(std::max<std::int64_t>(facts_.limits.max_calls_per_round, 0)))
    return close(
        c, result_cause::too_many_calls,
        formatted("Not executed: at most {} {} run for one reply.", counted(facts_.limits.max_calls_per_round, "call"),
                  facts_.limits.max_calls_per_round == 1 ? "is" : "are"));
  if (admitted_ >= facts_.limits.max_calls) {
    if (!limit_)
      limit_ = sentence{stored::stop_reason::call_budget,
                        formatted("the budget of {} is used up", counted(facts_.limits.max_calls, "tool call"))};
    return close(
        c, result_cause::too_many_calls,
        formatted("Not executed: the budget of {} for this run is used up.", counted(facts_.limits.max_calls, "call")));
  }
  if (repeats(call)) {
    if (!limit_)
      limit_ = sentence{stored::stop_reason::repeated_calls,
                        formatted("the model made the same call of \"{}\" more than {} in a row", call.name,
                                  counted(facts_.limits.max_repeated_calls, "time"))};
    return close(c, result_cause::refused,
                 formatted("Not executed: the same call was made {}already.",
                           facts_.limits.max_repeated_calls == 1
                               ? ""
                               : counted(facts_.limits.max_repeated_calls, "time") + " in a row "));
  }
  ++admitted_;
}

// Counts identical consecutive calls; returns true above the limit. Blanks, escapes and the order of members in the
// arguments do not matter, except in arguments longer than most_compared.
bool run_core::repeats(const providers::tool_call_block& call) {
  const bool same_tool = last_call_ && last_call_->name == call.name;
  bool same = same_tool && last_call_->arguments.text() == call.arguments.text();
  if (!same) {
    constexpr std::size_t most_compared = 1U << 19;  // bytes; longer ones take too much time
    auto last = std::exchange(last_canonical_, {});
    if (same_tool && std::max(last_call_->arguments.text().size(), call.arguments.text().size()) <= most_compared) {
      if (last.empty()) last = json::canonical_json(last_call_->arguments);
      last_canonical_ = json::canonical_json(call.arguments);
      same = last == last_canonical_;
    }
  }
  repeated_ = same ? repeated_ + 1 : 1;
  last_call_owner_ = level_;
  last_call_ = &call;
  return facts_.limits.max_repeated_calls > 0 && repeated_ > facts_.limits.max_repeated_calls;
}

// Returns true if an earlier daemon sent the call and this one has not sent it again.
bool run_core::left_before(const open_call& c) {
  return c.attempt > 0 &&
         (c.state == call_state::waiting || c.state == call_state::asked || c.state == call_state::questioned);
}

void run_core::close(open_call& c, result_cause cause, std::string text) {
  if (left_before(c)) {
    cause = result_cause::interrupted;
    text = loop::words::not_again(text);
  }
  c.asked_during.clear();
  c.state = call_state::closing;
  c.closing = {c.call->id, cause, std::move(text)};
  commands_.emplace_back(c.closing);
}

void run_core::close_all(result_cause cause, const std::string& text) {
  for (auto& c : open_) close(c, cause, text);
}

void run_core::intend_more() {
  command::intend_calls next;
  std::vector<int> taken;  // serial groups of which an earlier call is not done
  for (auto& c : open_) {
    if (running_ >= std::max<std::int64_t>(facts_.limits.tool_concurrency, 1)) break;
    const bool held = c.group != 0 && std::ranges::find(taken, c.group) != taken.end();
    // Calls handed to the caller keep no server busy.
    const bool busy = c.state != call_state::done && c.state != call_state::closing && c.state != call_state::handed;
    if (c.group != 0 && !held && busy) taken.push_back(c.group);
    if (held || c.state != call_state::waiting) continue;
    c.state = call_state::asked;
    ++running_;
    next.call_ids.push_back(c.call->id);
  }
  if (!next.call_ids.empty()) commands_.emplace_back(std::move(next));
}

// Starts more calls, or parks the run if only calls of the caller's own tools are left.
void run_core::go_on() {
  intend_more();
  if (facts_.parked || undone_ == 0) return;
  command::park mine;
  for (const auto& c : open_) {
    if (c.state == call_state::handed) mine.call_ids.push_back(c.call->id);
    if (c.state != call_state::handed && c.state != call_state::done) return;
  }
  commands_.emplace_back(std::move(mine));
}

// Takes the intent of a new call (state asked), of a repeated one (intended), or of a resumed run (waiting).
void run_core::on(const stored::record::call_intent& r) {
  const auto i = index_of(r.call_id);
  const bool possible = i != nowhere && (open_[i].state == call_state::asked || open_[i].state == call_state::waiting ||
                                         open_[i].state == call_state::intended);
  assert(possible);
  if (!possible) return;
  auto& c = open_[i];
  forget_asked_during(c);
  if (c.state == call_state::waiting) ++running_;
  c.state = r.to_caller ? call_state::handed : call_state::intended;
  c.repeatable = r.repeatable;
  c.attempt = r.attempt;
  auto& report = report_of(i);
  if (!r.name.empty()) report.name = r.name;
  report.server = r.server;
  report.pending = r.to_caller;
  if (!r.to_caller) {
    commands_.emplace_back(command::run_call{r.call_id});
    return;
  }
  --running_;
  wait_for_somebody(c);
}

// Stops counting the call as running, so that other calls do not wait for a person.
void run_core::on(const stored::record::question& r) {
  const auto i = index_of(r.call_id);
  const auto fits = [&](const open_call& c) {
    if (r.during_call) return c.state == call_state::intended;
    return c.state == call_state::asked || c.state == call_state::waiting;
  };
  assert(i != nowhere && fits(open_[i]));
  if (i == nowhere || !fits(open_[i])) return;
  auto& c = open_[i];
  if (r.during_call) return ask_during(c, r);
  if (c.state == call_state::asked) --running_;
  c.state = call_state::questioned;
  c.question = r;
  if (!ending_) commands_.emplace_back(command::ask{r});
  wait_for_somebody(c);
}

// Stops counting the call as running while its server waits for an answer.
void run_core::ask_during(open_call& c, const stored::record::question& r) {
  if (c.asked_during.empty()) --running_;
  c.asked_during.push_back(r);
  commands_.emplace_back(command::ask{r});
  if (!ending_) go_on();
}

// Returns false if no server has asked this. The call runs on, even if as many as may run do so already.
bool run_core::answer_during(const stored::record::answer& r) {
  for (auto& c : open_) {
    const auto asked = std::ranges::find(c.asked_during, r.id, &stored::record::question::id);
    if (asked == c.asked_during.end()) continue;
    auto question = std::move(*asked);
    c.asked_during.erase(asked);
    if (c.asked_during.empty()) ++running_;
    if (question.kind == "approval" && json::find_member(r.body, "approve").is_true() &&
        json::find_member(r.body, "always").is_true())
      always_.push_back({json::member_text(question.body, "tool"), question.tool_sha256});
    if (!r.withdrawn) commands_.emplace_back(command::pass_answer{std::move(question), r});
    return true;
  }
  return false;
}

// Ends the server's questions about a call whose attempt is over.
void run_core::forget_asked_during(open_call& c) {
  if (!c.asked_during.empty()) ++running_;
  c.asked_during.clear();
}

// Goes on with other calls while this one waits for a person or the caller. Closes it if the run is ending anyway.
void run_core::wait_for_somebody(open_call& c) {
  if (ending_) return close(c, result_cause::refused, std::string(loop::words::stopped_at_failure));
  go_on();
}

void run_core::on(const stored::record::answer& r) {
  if (answer_during(r)) return;
  const auto found = std::ranges::find_if(
      open_, [&](const auto& c) { return c.state == call_state::questioned && c.question.id == r.id; });
  assert(found != open_.end());
  if (found == open_.end()) return;
  if (r.unattended) {
    const auto& session = facts_.started.session;
    ending_ = sentence{stored::stop_reason::needs_approval,
                       loop::words::unable(formatted(
                           "the call of \"{}\" needs approval, and nobody was there to give it{}", found->call->name,
                           session.empty() ? "" : "; continue the session " + session + " to be asked again"))};
    close(*found, result_cause::refused,
          "Not executed: this call needs a yes of the user, and nobody was there to be asked.");
    return begin_no_more(
        "Not executed: this run ended, because another call needs a yes of the user, and nobody was "
        "there to be asked.");
  }
  if (r.mute)
    return close(*found, result_cause::refused,
                 "Not executed: this call needs a yes of the user, and nobody who follows this run can be asked any "
                 "more.");
  if (r.expired)
    return close(*found, result_cause::refused,
                 "Not executed: this call needs a yes of the user, and nobody answered in time.");
  if (!json::find_member(r.body, "approve").is_true())
    return close(*found, result_cause::refused, "Not executed: the user refused this call.");
  found->state = call_state::waiting;
  found->approved = true;
  if (json::find_member(r.body, "always").is_true())
    always_.push_back({found->call->name, found->question.tool_sha256});
  go_on();
}

void run_core::on(const stored::record::parked&) {
  facts_.parked = true;
  commands_.emplace_back(command::hand_over{});
}

void run_core::on(const stored::record::call_result& r) {
  settle(r.call_id, r.result, r.is_error, r.ms);
}
void run_core::on(const stored::record::caller_result& r) {
  settle(r.call_id, r.result, json::find_member(r.result, "isError").is_true(), 0);
}

void run_core::settle(std::string_view id, const json::raw_json& result, bool is_error, std::int64_t ms) {
  const auto i = index_of(id);
  assert(i != nowhere && open_[i].state != call_state::done);
  if (i == nowhere || open_[i].state == call_state::done) return;
  auto& c = open_[i];
  forget_asked_during(c);
  if (c.state == call_state::asked || c.state == call_state::intended) --running_;
  c.state = call_state::done;
  if (c.call->name == results::read_result::name && results::read_result::linked_uri(c.call->arguments).empty()) {
    results_[i].result = redact::without_hidden(result);  // not cut: the page already respects the limit
  } else {
    auto view =
        results::model_view(result, is_error, facts_.limits.max_result_bytes, facts_.limits.empty_result_text, id);
    results_[i].result = std::move(view.shown);
    const bool linked = !facts_.started.links.none() && !results::links_in(result).empty();
    if (linked) results_[i].result = results::with_link_hint(results_[i].result);
    if (view.text_missing || linked) facts_.kept.keep(id, result);
  }
  if (!facts_.started.nonce.empty())
    results_[i].result = results::marked_as_data(results_[i].result, facts_.started.nonce);
  results_[i].is_error = is_error;
  auto& report = report_of(i);
  report.is_error = is_error;
  report.pending = false;
  report.duration_ms = ms;
  if (--undone_ == 0) return finish_level();
  if (ending_) return;
  if (is_error && facts_.limits.on_tool_error == stored::tool_error_policy::stop) {
    ending_ = sentence{stored::stop_reason::tool_error,
                       loop::words::unable(formatted("the call of \"{}\" failed", c.call->name))};
    return begin_no_more(loop::words::stopped_at_failure);
  }
  go_on();
}

// Closes the calls that wait, also those that wait for a person or the caller. Calls that run may finish, because they
// may already have had an effect.
void run_core::begin_no_more(std::string_view why) {
  for (auto& c : open_)
    if (c.state == call_state::waiting || c.state == call_state::questioned || c.state == call_state::handed)
      close(c, result_cause::refused, std::string(why));
}

// Adds the reply and its results to the history, then ends the run or begins the next round.
void run_core::finish_level() {
  const bool failed = std::ranges::all_of(results_, [](const auto& r) { return r.is_error; });
  const auto bad = std::ranges::find_if(results_, [](const auto& r) { return r.is_error; });
  if (!ending_ && bad != results_.end() && facts_.limits.on_tool_error == stored::tool_error_policy::stop)
    ending_ = sentence{stored::stop_reason::tool_error,
                       loop::words::unable(formatted("the call of \"{}\" failed", bad->name))};
  consecutive_errors_ = failed ? consecutive_errors_ + 1 : 0;

  auto answers = std::make_shared<providers::message>();
  answers->role = providers::role::tool_results;
  answers->blocks.reserve(results_.size());
  for (auto& r : results_) answers->blocks.emplace_back(std::move(r));
  facts_.messages.push_back(std::move(level_));
  facts_.messages.push_back(std::move(answers));
  level_.reset();
  open_.clear();
  results_.clear();
  running_ = 0;
  facts_.parked = false;

  if (ending_) return end(ending_->reason, ending_->text);
  if (facts_.limits.max_consecutive_errors > 0 && consecutive_errors_ >= facts_.limits.max_consecutive_errors)
    return end(stored::stop_reason::consecutive_errors,
               loop::words::unable(formatted("the tool calls of {}{} failed", counted(consecutive_errors_, "round"),
                                             consecutive_errors_ == 1 ? "" : " in a row")));
  respond(facts_.depth + 1);
}

}  // namespace mcpbx::daemon::core
