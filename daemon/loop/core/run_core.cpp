// Steps for rounds, replies without calls, cancels and the end. Each on(record) changes the state and adds the commands
// of that step. A run that is to end gets a result for each open call first.
#include "daemon/loop/core/run_core.hpp"

#include "daemon/loop/core/answer_format.hpp"
#include "daemon/loop/results/history_cut.hpp"
#include "daemon/loop/run_words.hpp"
#include "mcp/support/formatted.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace mcpbx::daemon::core {
namespace {

using providers::end_reason;
using stored::record::result_cause;

// Returns the bytes of the message's strings. JSON of servers and providers counts itself (shared_bytes).
std::size_t text_bytes(const providers::message& m) {
  struct sizes {
    std::size_t operator()(const providers::text_block& b) const { return b.text.size(); }
    std::size_t operator()(const providers::image_block& b) const { return b.data.size(); }
    std::size_t operator()(const providers::file_block& b) const { return b.data.size(); }
    std::size_t operator()(const providers::reasoning_block& b) const { return b.text.size(); }
    std::size_t operator()(const providers::tool_call_block& b) const { return b.arguments_text.size(); }
    std::size_t operator()(const providers::tool_result_block&) const { return 0; }
    std::size_t operator()(const providers::refusal_block& b) const { return b.text.size(); }
    std::size_t operator()(const providers::opaque_block&) const { return 0; }
  };
  std::size_t bytes = 0;
  for (const auto& b : m.blocks) bytes += std::visit(sizes{}, b);
  return bytes;
}

/// Returns the text of the message. Shares the message's string if there is at most one text block.
std::shared_ptr<const std::string> text_of(const providers::message_ptr& m) {
  const std::string* only = nullptr;
  for (const auto& b : m->blocks)
    if (const auto* t = std::get_if<providers::text_block>(&b)) {
      if (only) return std::make_shared<std::string>(m->text());
      only = &t->text;
    }
  static const std::string none;
  return {m, only ? only : &none};
}

bool has_refusal(const providers::message& m) {
  return std::ranges::any_of(m.blocks,
                             [](const auto& b) { return std::holds_alternative<providers::refusal_block>(b); });
}

// Returns the reason, for people, of a run that reached a limit but still got an answer.
std::string answered_at(const std::string& why) {
  return why + "; the answer was made from what was known by then.";
}

}  // namespace

run_core run_core::of(const std::vector<stored::run_record>& records) {
  run_core core;
  for (const auto& r : records) core.apply(r);
  return core;
}

void run_core::apply(const stored::run_record& r) {
  commands_.clear();
  assert(!facts_.ended);
  if (facts_.ended) return;
  std::visit([this](const auto& one) { on(one); }, r);
}

void run_core::on(const stored::record::run_started& r) {
  facts_.started = r;
  facts_.limits = r.limits;
  facts_.messages = stored::conversation_of(r);
  for (const auto& m : facts_.messages) held_.add(text_bytes(*m));
  const bool system = !r.messages.empty() && r.messages.front()->role == providers::role::system;
  facts_.before = r.inherited.size() + (system ? 1 : 0);
  facts_.started.messages.clear();  // facts_.messages has them
  facts_.started.inherited.clear();
  for (const auto& whole : facts_.started.inherited_results) facts_.kept.keep(whole.call_id, whole.result);
  facts_.started.inherited_results.clear();  // facts_.kept has them
  respond(0);
}

// Begins the next round: with tools while the limits allow it, else the last model call without tools, or the end.
void run_core::respond(int depth) {
  if (over_token_budget())
    return end(
        stored::stop_reason::token_budget,
        loop::words::unable(formatted("the budget of {} is used up", counted(facts_.limits.token_budget, "token"))));
  if (!limit_ && depth > 0 && depth >= facts_.limits.max_rounds)
    limit_ = sentence{stored::stop_reason::max_rounds,
                      formatted("the limit of {} was reached", counted(facts_.limits.max_rounds, "round"))};
  if (limit_ && facts_.limits.on_limit == stored::limit_policy::stop)
    return end(limit_->reason, loop::words::unable(limit_->text));
  next_round_ = command::begin_round{depth, !limit_ && facts_.limits.max_rounds > 0};
  commands_.push_back(*next_round_);
}

void run_core::on(const stored::record::round_started& r) {
  facts_.depth = r.depth;
  with_tools_ = r.with_tools;
  ++facts_.rounds;
  facts_.answer.text = no_text();
  text_held_.set(0);
  facts_.answer.partial_text.clear();
  next_round_ = command::call_model{r.depth, r.with_tools};
  commands_.push_back(*next_round_);
}

void run_core::on(const stored::record::assistant& r) {
  next_round_.reset();
  shortened_ = false;
  facts_.usage += r.usage;
  facts_.answer.text = text_of(r.message);
  text_held_.set(facts_.answer.text.use_count() == 1 ? facts_.answer.text->size() : 0);
  held_.add(text_bytes(*r.message));
  const bool calls = std::ranges::any_of(
      r.message->blocks, [](const auto& b) { return std::holds_alternative<providers::tool_call_block>(b); });
  if (calls) return open_level(r);
  if (!r.message->blocks.empty()) facts_.messages.push_back(r.message);  // providers refuse empty messages in a history
  finish_without_calls(r);
}

void run_core::finish_without_calls(const stored::record::assistant& r) {
  const auto by = [&] { return loop::words::who_answered(facts_.started.model, r.message->origin); };
  switch (r.reason) {
    case end_reason::length:
      return end(stored::stop_reason::truncated,
                 loop::words::unable(loop::words::cut_at_limit(by(), facts_.started.settings.max_output_tokens)));
    case end_reason::filter:
      return end(stored::stop_reason::refused, loop::words::unable(loop::words::filtered(by())));
    case end_reason::context_full:
      // If there is text, it is the beginning of an answer.
      return end(
          trimmed(*facts_.answer.text).empty() ? stored::stop_reason::context_full : stored::stop_reason::truncated,
          loop::words::unable(loop::words::context_filled(by())));
    case end_reason::unknown:
      return end(stored::stop_reason::truncated, loop::words::unable(loop::words::ended_unknown(by(), r.raw_reason)));
    case end_reason::malformed_call:
      return end(stored::stop_reason::provider_error, loop::words::unable(loop::words::call_lost(by())));
    case end_reason::pause:  // the provider expects another call with its message so far
      if (with_tools_) return respond(facts_.depth + 1);
      break;
    default:
      break;
  }
  if (r.reason == end_reason::refusal || has_refusal(*r.message))
    return end(stored::stop_reason::refused, loop::words::unable(loop::words::refused(by(), *r.message)));
  const bool empty = trimmed(*facts_.answer.text).empty();
  if (facts_.started.answer_schema) {
    auto checked = check_answer(*facts_.answer.text, facts_.started.answer_schema);
    if (!checked.problem.empty()) return correct_answer(checked.problem);
    facts_.answer.data = std::move(checked.data);
  }
  if (limit_)
    return end(limit_->reason, empty ? loop::words::unable(limit_->text + " and the model gave an empty answer")
                                     : answered_at(limit_->text));
  end(stored::stop_reason::final, empty ? loop::words::unable("the model gave an empty answer") : "");
}

// Gives the model one more call, without tools, to correct its answer. Ends the run at the second wrong answer.
void run_core::correct_answer(const std::string& problem) {
  if (corrected_)
    return end(stored::stop_reason::provider_error,
               loop::words::unable("the model's corrected answer still does not have the requested format: " +
                                   loop::words::in_one_line(problem)));
  if (over_token_budget()) return respond(facts_.depth + 1);
  corrected_ = true;
  facts_.messages.push_back(providers::user_message(loop::words::wrong_answer(problem)));
  next_round_ = command::begin_round{facts_.depth + 1, false};
  commands_.push_back(*next_round_);
}

void run_core::on(const stored::record::model_failed& r) {
  next_round_.reset();
  facts_.usage += r.error.usage;
  facts_.answer.partial_text = r.error.partial_text;
  using kind = providers::model_error::kind;
  if (r.error.type == kind::context_full && !shortened_)
    if (const auto cut = results::cut_oldest_results(facts_.messages, facts_.kept, facts_.started.nonce); cut > 0) {
      shortened_ = true;
      next_round_ = command::begin_round{facts_.depth, with_tools_, cut};
      commands_.push_back(*next_round_);
      return;
    }
  const auto reason = r.error.type == kind::context_full ? stored::stop_reason::context_full
                      : r.error.type == kind::time_limit ? stored::stop_reason::timeout
                                                         : stored::stop_reason::provider_error;
  facts_.answer.misconfigured = r.error.type == kind::configuration;
  end(reason, loop::words::unable(r.error.message));
}

void run_core::on(const stored::record::cancel& r) {
  facts_.usage += r.usage;
  cancelled_ = r.why;
  if (!r.partial_text.empty()) facts_.answer.partial_text = r.partial_text;
  // The first reason to end is kept, but a run whose journal failed must always end with store_error.
  if (!ending_ || r.why == stored::stop_reason::store_error)
    ending_ = sentence{r.why, loop::words::unable(r.text.empty() ? std::string(stored::to_string(r.why)) : r.text)};
  commands_.emplace_back(command::cancel_open{});
  close_open_calls();
}

void run_core::close_open_calls() {
  if (undone_ == 0) return end(ending_->reason, ending_->text);
  const auto cause =
      *cancelled_ == stored::stop_reason::timeout || *cancelled_ == stored::stop_reason::caller_tools
          ? result_cause::timed_out
      : *cancelled_ == stored::stop_reason::interrupted || *cancelled_ == stored::stop_reason::store_error
          ? result_cause::interrupted
          : result_cause::cancelled;
  const std::string why = *cancelled_ == stored::stop_reason::timeout ? "the time limit of the run was reached"
                          : cause == result_cause::interrupted        ? "the run was interrupted"
                                                                      : "the run was cancelled";
  for (auto& c : open_) {
    if (c.state == call_state::done) continue;
    if (c.state == call_state::closing) {  // already closed for a more specific reason
      commands_.emplace_back(c.closing);
      continue;
    }
    const bool sent = c.state == call_state::intended;
    auto text = sent ? "No result: " + why + " while this call was running; it may have taken effect."
                     : "Not executed: " + why + ".";
    // The caller of a parked run did not send the results in time. Nobody cancelled the calls.
    if (*cancelled_ == stored::stop_reason::caller_tools)
      text = "No result: the program that was to carry out this call sent no result in time.";
    if (left_before(c)) text = loop::words::not_again(text);
    commands_.emplace_back(command::close_call{c.call->id, cause, std::move(text)});
  }
}

void run_core::end(stored::stop_reason reason, std::string text) {
  ending_ = sentence{reason, std::move(text)};
  commands_.emplace_back(command::end{ending_->reason, ending_->text});
}

void run_core::on(const stored::record::run_ended& r) {
  facts_.ended = true;
  facts_.answer.reason = r.reason;
  facts_.answer.reason_text = r.text;
}

bool run_core::over_token_budget() const {
  return facts_.limits.token_budget > 0 && facts_.usage.input + facts_.usage.output >= facts_.limits.token_budget;
}

}  // namespace mcpbx::daemon::core
