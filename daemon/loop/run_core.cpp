// The fold. Each on(record) is one step: it changes the state and lists what the step starts. A level enters the
// history whole, when its last result is there; whatever ends a run first closes the calls that are open.
#include "daemon/loop/run_core.hpp"

#include "daemon/loop/result_view.hpp"
#include "daemon/loop/words.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cassert>
#include <utility>

namespace mcpbx::daemon {
namespace {

using providers::end_reason;
using record::result_cause;

constexpr std::size_t nowhere = static_cast<std::size_t>(-1);

bool blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

std::string refusal_of(const providers::message& m) {
  for (const auto& b : m.blocks)
    if (const auto* refusal = std::get_if<providers::refusal_block>(&b)) return refusal->text;
  return {};
}

bool has_refusal(const providers::message& m) {
  return std::ranges::any_of(m.blocks,
                             [](const auto& b) { return std::holds_alternative<providers::refusal_block>(b); });
}

// The sentences that belong to a limit: why the run is over, for people, when the model did answer in the end.
std::string answered_at(const std::string& why) {
  return why + "; the answer was made from what was known by then.";
}

}  // namespace

record::call_result closing_record(const command::close_call& c) {
  return {c.call_id, words::error_result(c.text), true, c.cause, 0};
}

void run_core::apply(const run_record& r) {
  commands_.clear();
  assert(!ended_);
  if (ended_) return;
  std::visit([this](const auto& one) { on(one); }, r);
}

void run_core::on(const record::run_started& r) {
  started_ = r;
  limits_ = r.limits;
  messages_ = conversation_of(r);
  const bool system = !r.messages.empty() && r.messages.front()->role == providers::role::system;
  before_ = r.inherited.size() + (system ? 1 : 0);
  started_.messages.clear();  // messages_ has them
  started_.inherited.clear();
  respond(0);
}

// Opens a level: a round with tools while rounds are left, else the last call without them, or the end.
void run_core::respond(int depth) {
  if (over_token_budget())
    return end(stop_reason::token_budget,
               words::unable(fmt::format("the budget of {} tokens is used up", limits_.token_budget)));
  if (!limit_ && depth > 0 && depth >= limits_.max_rounds)
    limit_ = sentence{stop_reason::max_rounds, fmt::format("the limit of {} rounds was reached", limits_.max_rounds)};
  if (limit_ && limits_.on_limit == on_limit::stop) return end(limit_->reason, words::unable(limit_->text));
  commands_.emplace_back(command::begin_round{depth, !limit_ && limits_.max_rounds > 0});
}

void run_core::on(const record::round_started& r) {
  depth_ = r.depth;
  with_tools_ = r.with_tools;
  ++rounds_;
  text_.clear();
  commands_.emplace_back(command::call_model{r.depth, r.with_tools});
}

void run_core::on(const record::assistant& r) {
  usage_ += r.usage;
  text_ = r.message->text();
  const bool calls = std::ranges::any_of(
      r.message->blocks, [](const auto& b) { return std::holds_alternative<providers::tool_call_block>(b); });
  if (calls) return open_level(r);
  if (!r.message->blocks.empty()) messages_.push_back(r.message);  // no provider takes an empty message back
  finish_without_calls(r);
}

void run_core::finish_without_calls(const record::assistant& r) {
  switch (r.reason) {
    case end_reason::length:
      return end(stop_reason::truncated, words::unable("the answer was cut off at the model's output limit"));
    case end_reason::filter:
      return end(stop_reason::refused, words::unable("the provider's content filter stopped the answer"));
    case end_reason::context_full:
      return end(stop_reason::context_full, words::unable("the conversation is too long for the model"));
    case end_reason::malformed_call:
      return end(stop_reason::provider_error,
                 words::unable("the model tried to call a tool in a form nobody can read"));
    case end_reason::pause:  // the provider wants to be called again with what it said so far
      if (with_tools_) return respond(depth_ + 1);
      break;
    default:
      break;
  }
  if (r.reason == end_reason::refusal || has_refusal(*r.message)) {
    const auto why = refusal_of(*r.message);
    return end(stop_reason::refused,
               words::unable(why.empty() ? "the model refused to answer" : "the model refused to answer: " + why));
  }
  const bool empty = blank(text_);
  if (limit_)
    return end(limit_->reason,
               empty ? words::unable(limit_->text + " and the model gave an empty answer") : answered_at(limit_->text));
  end(stop_reason::final, empty ? words::unable("the model gave an empty answer") : "");
}

void run_core::open_level(const record::assistant& r) {
  level_ = r.message;
  for (const auto& b : level_->blocks)
    if (const auto* call = std::get_if<providers::tool_call_block>(&b)) {
      open_.push_back({call, call_state::waiting});
      results_.push_back({call->id, call->name, {}, false});
      calls_.push_back({call->id, call->name, {}, call->arguments, false, 0});
    }
  undone_ = open_.size();

  // A reply that is no whole reply: its calls may be half of what was meant, so none of them is run (row 29).
  switch (r.reason) {
    case end_reason::length:
      ending_ = sentence{stop_reason::truncated, words::unable("the model's reply was cut off at its output limit")};
      return close_all(result_cause::refused,
                       "Not executed: the reply was cut off at the output limit, so this call may be incomplete.");
    case end_reason::filter:
    case end_reason::refusal:
      ending_ = sentence{stop_reason::refused, words::unable(r.reason == end_reason::filter
                                                                 ? "the provider's content filter stopped the reply"
                                                                 : "the model refused to go on")};
      return close_all(result_cause::refused, "Not executed: the reply that made this call was stopped.");
    case end_reason::context_full:
      ending_ = sentence{stop_reason::context_full, words::unable("the conversation is too long for the model")};
      return close_all(result_cause::refused, "Not executed: the conversation is too long for the model.");
    case end_reason::malformed_call:
      return close_all(
          result_cause::bad_arguments,
          "Not executed: this call could not be read. Make it again, with arguments that are one JSON object.");
    default:
      break;
  }
  if (!with_tools_) {
    ending_ = limit_
                  ? sentence{limit_->reason, words::unable(limit_->text)}
                  : sentence{stop_reason::max_rounds, words::unable("the model called a tool though none was offered")};
    return close_all(result_cause::refused, "Not executed: no tools are offered any more. Answer from what you know.");
  }
  if (over_token_budget()) {
    ending_ = sentence{stop_reason::token_budget,
                       words::unable(fmt::format("the budget of {} tokens is used up", limits_.token_budget))};
    return close_all(result_cause::refused, "Not executed: the run's budget of tokens is used up.");
  }
  for (std::size_t i = 0; i < open_.size(); ++i) admit(i);
  intend_more();
}

// Lets a call of the level be run, or closes it with the reason for the model.
void run_core::admit(std::size_t index) {
  auto& c = open_[index];
  const auto& call = *c.call;
  if (!call.problem.empty() || (call.arguments && !call.arguments.is_object())) {
    return close(c, result_cause::bad_arguments,
                 "Not executed: the arguments could not be used: " +
                     (call.problem.empty() ? "they are no JSON object" : call.problem) +
                     ". Call the tool again with arguments that are one JSON object.");
  }
  if (index >= static_cast<std::size_t>(std::max(limits_.max_calls_per_round, 0)))
    return close(c, result_cause::too_many_calls,
                 fmt::format("Not executed: at most {} calls are run for one reply.", limits_.max_calls_per_round));
  if (admitted_ >= limits_.max_calls) {
    if (!limit_)
      limit_ =
          sentence{stop_reason::call_budget, fmt::format("the budget of {} tool calls is used up", limits_.max_calls)};
    return close(c, result_cause::too_many_calls,
                 fmt::format("Not executed: the budget of {} calls for this run is used up.", limits_.max_calls));
  }
  if (repeats(call)) {
    if (!limit_)
      limit_ = sentence{stop_reason::repeated_calls,
                        fmt::format("the model made the same call of \"{}\" more than {} times in a row", call.name,
                                    limits_.max_repeated_calls)};
    return close(
        c, result_cause::refused,
        fmt::format("Not executed: the same call was made {} times in a row already.", limits_.max_repeated_calls));
  }
  ++admitted_;
}

// Counts identical consecutive calls; true for one too many.
bool run_core::repeats(const providers::tool_call_block& call) {
  const bool same =
      last_call_ && last_call_->name == call.name && last_call_->arguments.text() == call.arguments.text();
  repeated_ = same ? repeated_ + 1 : 1;
  last_call_owner_ = level_;
  last_call_ = &call;
  return limits_.max_repeated_calls > 0 && repeated_ > limits_.max_repeated_calls;
}

void run_core::close(open_call& c, result_cause cause, std::string text) {
  c.state = call_state::closing;
  commands_.emplace_back(command::close_call{c.call->id, cause, std::move(text)});
}

void run_core::close_all(result_cause cause, const std::string& text) {
  for (auto& c : open_) close(c, cause, text);
}

void run_core::intend_more() {
  command::intend_calls next;
  for (auto& c : open_) {
    if (running_ >= std::max(limits_.tool_concurrency, 1)) break;
    if (c.state != call_state::waiting) continue;
    c.state = call_state::asked;
    ++running_;
    next.call_ids.push_back(c.call->id);
  }
  if (!next.call_ids.empty()) commands_.emplace_back(std::move(next));
}

void run_core::on(const record::call_intent& r) {
  const auto i = index_of(r.call_id);
  assert(i != nowhere && open_[i].state == call_state::asked);
  if (i == nowhere || open_[i].state != call_state::asked) return;
  open_[i].state = call_state::intended;
  auto& report = calls_[calls_.size() - open_.size() + i];
  if (!r.name.empty()) report.name = r.name;
  report.server = r.server;
  commands_.emplace_back(command::run_call{r.call_id});
}

void run_core::on(const record::call_result& r) {
  settle(r.call_id, r.result, r.is_error, r.ms);
}
void run_core::on(const record::caller_result& r) {
  settle(r.call_id, r.result, find_member(r.result, "isError").is_true(), 0);
}

void run_core::settle(std::string_view id, const raw_json& result, bool is_error, std::int64_t ms) {
  const auto i = index_of(id);
  assert(i != nowhere && open_[i].state != call_state::done);
  if (i == nowhere || open_[i].state == call_state::done) return;
  auto& c = open_[i];
  if (c.state == call_state::asked || c.state == call_state::intended) --running_;
  c.state = call_state::done;
  results_[i].result = model_view(result, is_error, limits_.max_result_bytes, limits_.empty_result_text);
  results_[i].is_error = is_error;
  auto& report = calls_[calls_.size() - open_.size() + i];
  report.is_error = is_error;
  report.duration_ms = ms;
  if (--undone_ == 0) return finish_level();
  if (ending_) return;
  if (is_error && limits_.on_tool_error == on_tool_error::stop) {
    // Calls that run may have begun to change something: they may finish. Nothing new is begun.
    ending_ = sentence{stop_reason::tool_error, words::unable(fmt::format("the call of \"{}\" failed", c.call->name))};
    for (auto& other : open_)
      if (other.state == call_state::waiting)
        close(other, result_cause::refused,
              "Not executed: another call failed, and this run stops at the first failure.");
    return;
  }
  intend_more();
}

// The last result of a level is there: the level becomes history, and the next one opens.
void run_core::finish_level() {
  const bool failed = std::ranges::all_of(results_, [](const auto& r) { return r.is_error; });
  const auto bad = std::ranges::find_if(results_, [](const auto& r) { return r.is_error; });
  if (!ending_ && bad != results_.end() && limits_.on_tool_error == on_tool_error::stop)
    ending_ = sentence{stop_reason::tool_error, words::unable(fmt::format("the call of \"{}\" failed", bad->name))};
  consecutive_errors_ = failed ? consecutive_errors_ + 1 : 0;

  auto answers = std::make_shared<providers::message>();
  answers->role = providers::role::tool_results;
  answers->blocks.reserve(results_.size());
  for (auto& r : results_) answers->blocks.emplace_back(std::move(r));
  messages_.push_back(std::move(level_));
  messages_.push_back(std::move(answers));
  level_.reset();
  open_.clear();
  results_.clear();
  running_ = 0;

  if (ending_) return end(ending_->reason, ending_->text);
  if (limits_.max_consecutive_errors > 0 && consecutive_errors_ >= limits_.max_consecutive_errors)
    return end(stop_reason::consecutive_errors,
               words::unable(fmt::format("the tool calls of {} rounds in a row failed", consecutive_errors_)));
  respond(depth_ + 1);
}

void run_core::on(const record::model_failed& r) {
  using kind = providers::model_error::kind;
  const auto reason = r.error.type == kind::context_full ? stop_reason::context_full
                      : r.error.type == kind::time_limit ? stop_reason::timeout
                                                         : stop_reason::provider_error;
  end(reason, words::unable(r.error.message));
}

void run_core::on(const record::cancel& r) {
  cancelled_ = r.why;
  // The first reason to end stands, but a run that could not be kept must not end as if it had been.
  if (!ending_ || r.why == stop_reason::store_error)
    ending_ = sentence{r.why, words::unable(r.text.empty() ? std::string(to_string(r.why)) : r.text)};
  commands_.emplace_back(command::cancel_open{});
  close_open_calls();
}

void run_core::close_open_calls() {
  if (undone_ == 0) return end(ending_->reason, ending_->text);
  const auto cause = *cancelled_ == stop_reason::timeout       ? result_cause::timed_out
                     : *cancelled_ == stop_reason::interrupted ? result_cause::interrupted
                                                               : result_cause::cancelled;
  const std::string why = cause == result_cause::timed_out     ? "the time limit of the run was reached"
                          : cause == result_cause::interrupted ? "the run was interrupted"
                                                               : "the run was cancelled";
  for (auto& c : open_) {
    if (c.state == call_state::done) continue;
    const bool sent = c.state == call_state::intended;
    commands_.emplace_back(
        command::close_call{c.call->id, cause,
                            sent ? "No result: " + why + " while this call was running; it may have taken effect."
                                 : "Not executed: " + why + "."});
  }
}

void run_core::end(stop_reason reason, std::string text) {
  ending_ = sentence{reason, std::move(text)};
  commands_.emplace_back(command::end{ending_->reason, ending_->text});
}

void run_core::on(const record::run_ended& r) {
  ended_ = true;
  reason_ = r.reason;
  reason_text_ = r.text;
}

// Questions and parked calls hold the level open by themselves: nothing starts until the answer settles a call.
void run_core::on(const record::question&) {}
void run_core::on(const record::answer&) {}
void run_core::on(const record::parked&) {}

bool run_core::over_token_budget() const {
  return limits_.token_budget > 0 && usage_.input + usage_.output >= limits_.token_budget;
}

std::size_t run_core::index_of(std::string_view id) const {
  for (std::size_t i = 0; i < open_.size(); ++i)
    if (open_[i].call->id == id) return i;
  return nowhere;
}

const providers::tool_call_block* run_core::find_call(std::string_view id) const {
  const auto i = index_of(id);
  return i == nowhere ? nullptr : open_[i].call;
}

const call_report& run_core::report(std::string_view id) const {
  static const call_report none;
  const auto found = std::find_if(calls_.rbegin(), calls_.rend(), [&](const auto& c) { return c.id == id; });
  assert(found != calls_.rend());
  return found == calls_.rend() ? none : *found;
}

bool run_core::is_open(std::string_view id) const {
  const auto i = index_of(id);
  return i != nowhere && open_[i].state != call_state::done;
}

std::vector<run_record> run_core::recovery() const {
  std::vector<run_record> records;
  if (ended_ || started_.run.empty()) return records;
  run_core copy = *this;
  const auto take = [&](run_record r) {
    records.push_back(r);
    copy.apply(records.back());
  };
  const auto decided = [](const run_command& c) { return std::holds_alternative<command::end>(c); };
  if (std::ranges::none_of(copy.commands_, decided)) {
    if (copy.cancelled_ && copy.undone_) {
      copy.commands_.clear();
      copy.close_open_calls();  // the cancel is recorded, its results are not all
    } else {
      take(record::cancel{stop_reason::interrupted, "the daemon ended while the run was going on"});
    }
  }
  while (!copy.ended_) {
    const auto commands = copy.commands_;
    for (const auto& c : commands) {
      if (const auto* close = std::get_if<command::close_call>(&c)) take(closing_record(*close));
      if (const auto* end = std::get_if<command::end>(&c)) take(record::run_ended{end->reason, end->text});
    }
  }
  return records;
}

}  // namespace mcpbx::daemon
