// The fold. Each on(record) is one step: it changes the state and lists what the step starts. A level enters the
// history whole, when its last result is there; whatever ends a run first closes the calls that are open.
#include "daemon/loop/run_core.hpp"

#include "daemon/loop/answer_format.hpp"
#include "daemon/loop/history_cut.hpp"
#include "daemon/loop/read_result.hpp"
#include "daemon/loop/result_mark.hpp"
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

constexpr std::string_view stopped_at_failure =
    "Not executed: another call failed, and this run stops at the first failure.";
// A call that may be made again is, after a crash; but not without end, for it may be what ends the daemon.
constexpr int most_attempts = 25;
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
  next_round_ = command::begin_round{depth, !limit_ && limits_.max_rounds > 0};
  commands_.push_back(*next_round_);
}

void run_core::on(const record::round_started& r) {
  depth_ = r.depth;
  with_tools_ = r.with_tools;
  ++rounds_;
  text_.clear();
  next_round_ = command::call_model{r.depth, r.with_tools};
  commands_.push_back(*next_round_);
}

void run_core::on(const record::assistant& r) {
  next_round_.reset();
  shortened_ = false;
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
  if (!empty && started_.answer_schema) {
    auto checked = check_answer(text_, started_.answer_schema);
    if (!checked.problem.empty()) return correct_answer(checked.problem);
    data_ = std::move(checked.data);
  }
  if (limit_)
    return end(limit_->reason,
               empty ? words::unable(limit_->text + " and the model gave an empty answer") : answered_at(limit_->text));
  end(stop_reason::final, empty ? words::unable("the model gave an empty answer") : "");
}

// One more call, without tools, in which the model may put its answer right.
void run_core::correct_answer(const std::string& problem) {
  if (corrected_)
    return end(stop_reason::provider_error,
               words::unable("the model's answer does not have the form that was asked for, although it was told what "
                             "is wrong: " +
                             words::in_one_line(problem)));
  if (over_token_budget()) return respond(depth_ + 1);
  corrected_ = true;
  messages_.push_back(providers::user_message(words::wrong_answer(problem)));
  next_round_ = command::begin_round{depth_ + 1, false};
  commands_.push_back(*next_round_);
}

void run_core::open_level(const record::assistant& r) {
  level_ = r.message;
  for (const auto& b : level_->blocks)
    if (const auto* call = std::get_if<providers::tool_call_block>(&b)) {
      const auto i = open_.size();
      open_.push_back({.call = call, .lane = i < r.lanes.size() ? r.lanes[i] : 0});
      results_.push_back({call->id, call->name, {}, false});
      calls_.push_back({call->id, call->name, {}, call->arguments, false, false, 0});
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
    ending_ = limit_ ? sentence{limit_->reason, words::unable(limit_->text)}
              : corrected_
                  ? sentence{stop_reason::provider_error,
                             words::unable("the model called a tool instead of putting its answer right")}
                  : sentence{stop_reason::max_rounds, words::unable("the model called a tool though none was offered")};
    return close_all(result_cause::refused, "Not executed: no tools are offered any more. Answer from what you know.");
  }
  if (over_token_budget()) {
    ending_ = sentence{stop_reason::token_budget,
                       words::unable(fmt::format("the budget of {} tokens is used up", limits_.token_budget))};
    return close_all(result_cause::refused, "Not executed: the run's budget of tokens is used up.");
  }
  for (std::size_t i = 0; i < open_.size(); ++i) admit(i);
  go_on();
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
  c.closing = {c.call->id, cause, std::move(text)};
  commands_.emplace_back(c.closing);
}

void run_core::close_all(result_cause cause, const std::string& text) {
  for (auto& c : open_) close(c, cause, text);
}

void run_core::intend_more() {
  command::intend_calls next;
  std::vector<int> taken;  // lanes with a call that is not done
  for (auto& c : open_) {
    if (running_ >= std::max(limits_.tool_concurrency, 1)) break;
    const bool held = c.lane != 0 && std::ranges::find(taken, c.lane) != taken.end();
    if (c.lane != 0 && !held && c.state != call_state::done && c.state != call_state::closing) taken.push_back(c.lane);
    if (held || c.state != call_state::waiting) continue;
    c.state = call_state::asked;
    ++running_;
    next.call_ids.push_back(c.call->id);
  }
  if (!next.call_ids.empty()) commands_.emplace_back(std::move(next));
}

// What comes next in a level that is open: more calls, or the caller's turn.
void run_core::go_on() {
  intend_more();
  if (parked_ || undone_ == 0) return;
  command::park mine;
  for (const auto& c : open_) {
    if (c.state == call_state::handed) mine.call_ids.push_back(c.call->id);
    if (c.state != call_state::handed && c.state != call_state::done) return;
  }
  commands_.emplace_back(std::move(mine));
}

// A call that waited or was sent already is one of a run that was resumed.
void run_core::on(const record::call_intent& r) {
  const auto i = index_of(r.call_id);
  const bool possible = i != nowhere && (open_[i].state == call_state::asked || open_[i].state == call_state::waiting ||
                                         open_[i].state == call_state::intended);
  assert(possible);
  if (!possible) return;
  auto& c = open_[i];
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

// The call leaves the number of those that run, so that others need not wait for a person.
void run_core::on(const record::question& r) {
  const auto i = index_of(r.call_id);
  assert(i != nowhere && (open_[i].state == call_state::asked || open_[i].state == call_state::waiting));
  if (i == nowhere) return;
  auto& c = open_[i];
  if (c.state == call_state::asked) --running_;
  c.state = call_state::questioned;
  c.question = r;
  if (!ending_) commands_.emplace_back(command::ask{r});
  wait_for_somebody(c);
}

// A call that a person or the caller holds up; nobody is troubled for a run that ends already.
void run_core::wait_for_somebody(open_call& c) {
  if (ending_) return close(c, result_cause::refused, std::string(stopped_at_failure));
  go_on();
}

void run_core::on(const record::answer& r) {
  const auto found = std::ranges::find_if(
      open_, [&](const auto& c) { return c.state == call_state::questioned && c.question.id == r.id; });
  assert(found != open_.end());
  if (found == open_.end()) return;
  if (r.expired)
    return close(*found, result_cause::refused,
                 "Not executed: this call needs a yes of the user, and nobody answered in time.");
  if (!find_member(r.body, "approve").is_true())
    return close(*found, result_cause::refused, "Not executed: the user refused this call.");
  found->state = call_state::waiting;
  found->approved = true;
  if (find_member(r.body, "always").is_true()) always_.push_back({found->call->name, found->question.definition_hash});
  go_on();
}

void run_core::on(const record::parked&) {
  parked_ = true;
  commands_.emplace_back(command::hand_over{});
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
  if (c.call->name == read_result::name) {
    results_[i].result = result;  // a page is as large as it may be
  } else {
    auto view = model_view(result, is_error, limits_.max_result_bytes, limits_.empty_result_text, id);
    results_[i].result = std::move(view.shown);
    if (view.text_missing) kept_.keep(id, result);
  }
  if (!started_.nonce.empty()) results_[i].result = marked_as_data(results_[i].result, started_.nonce);
  results_[i].is_error = is_error;
  auto& report = report_of(i);
  report.is_error = is_error;
  report.pending = false;
  report.duration_ms = ms;
  if (--undone_ == 0) return finish_level();
  if (ending_) return;
  if (is_error && limits_.on_tool_error == on_tool_error::stop) {
    // Calls that run may have begun to change something: they may finish. Nothing new is begun, nobody is asked.
    ending_ = sentence{stop_reason::tool_error, words::unable(fmt::format("the call of \"{}\" failed", c.call->name))};
    for (auto& other : open_)
      if (other.state == call_state::waiting || other.state == call_state::questioned ||
          other.state == call_state::handed)
        close(other, result_cause::refused, std::string(stopped_at_failure));
    return;
  }
  go_on();
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
  parked_ = false;

  if (ending_) return end(ending_->reason, ending_->text);
  if (limits_.max_consecutive_errors > 0 && consecutive_errors_ >= limits_.max_consecutive_errors)
    return end(stop_reason::consecutive_errors,
               words::unable(fmt::format("the tool calls of {} rounds in a row failed", consecutive_errors_)));
  respond(depth_ + 1);
}

void run_core::on(const record::model_failed& r) {
  next_round_.reset();
  using kind = providers::model_error::kind;
  if (r.error.type == kind::context_full && !shortened_)
    if (const auto cut = cut_oldest_results(messages_, kept_, started_.nonce); cut > 0) {
      shortened_ = true;
      next_round_ = command::begin_round{depth_, with_tools_, cut};
      commands_.push_back(*next_round_);
      return;
    }
  const auto reason = r.error.type == kind::context_full ? stop_reason::context_full
                      : r.error.type == kind::time_limit ? stop_reason::timeout
                                                         : stop_reason::provider_error;
  misconfigured_ = r.error.type == kind::configuration;
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

bool run_core::approved(std::string_view call_id, std::uint64_t definition_hash, std::uint64_t arguments_hash) const {
  const auto i = index_of(call_id);
  if (i == nowhere) return false;
  const auto& c = open_[i];
  if (c.approved && c.question.definition_hash == definition_hash && c.question.arguments_hash == arguments_hash)
    return true;
  return std::ranges::any_of(
      always_, [&](const auto& yes) { return yes.tool == c.call->name && yes.definition_hash == definition_hash; });
}

const record::question* run_core::find_question(std::string_view id) const {
  for (const auto& c : open_)
    if (c.state == call_state::questioned && c.question.id == id) return &c.question;
  return nullptr;
}

std::vector<const record::question*> run_core::questions() const {
  std::vector<const record::question*> all;
  for (const auto& c : open_)
    if (c.state == call_state::questioned) all.push_back(&c.question);
  return all;
}

std::vector<std::string_view> run_core::handed() const {
  std::vector<std::string_view> ids;
  for (const auto& c : open_)
    if (c.state == call_state::handed) ids.emplace_back(c.call->id);
  return ids;
}

// Calls that still wait while none is under way are held back by one of their lane that a person holds up.
bool run_core::waits_for_people() const {
  return undone_ > 0 && std::ranges::none_of(open_, [](const auto& c) {
           return c.state == call_state::asked || c.state == call_state::intended || c.state == call_state::closing;
         });
}

int run_core::attempts(std::string_view id) const {
  const auto i = index_of(id);
  return i == nowhere ? 0 : open_[i].attempt;
}

void run_core::resume() {
  commands_.clear();
  if (ended_ || started_.run.empty()) return;
  if (undone_ == 0) {
    if (ending_)
      commands_.emplace_back(command::end{ending_->reason, ending_->text});
    else if (next_round_)
      commands_.push_back(*next_round_);
    return;
  }
  if (cancelled_) return close_open_calls();
  running_ = 0;
  bool closes = false;
  for (auto& c : open_) {
    if (c.state == call_state::closing) commands_.emplace_back(c.closing);
    if (c.state == call_state::questioned) commands_.emplace_back(command::ask{c.question});
    const bool repeats = c.repeatable && c.attempt < most_attempts && !ending_;
    if (c.state == call_state::asked || (c.state == call_state::intended && repeats)) c.state = call_state::waiting;
    // A run that stops at its first failure begins nothing any more.
    if (c.state == call_state::waiting && ending_) close(c, result_cause::refused, std::string(stopped_at_failure));
    if (c.state == call_state::intended)
      close(c, result_cause::interrupted,
            "No result: mcpbx was interrupted while this call was running; it may have taken effect.");
    closes = closes || c.state == call_state::closing;
  }
  // The results of those that are closed may end the run; they open the way for the others when they are recorded.
  if (!closes) go_on();
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
