// Steps after a crash: resume() continues a run from its records, recovery() closes one that is not resumed.
#include "daemon/loop/core/run_core.hpp"
#include "daemon/loop/run_words.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::daemon::core {
namespace {

using stored::record::result_cause;

// Bound on the attempts of a repeatable call after crashes: the call itself may be the cause of the crashes.
constexpr int most_attempts = 25;

}  // namespace

stored::record::call_result closing_record(const command::close_call& c) {
  return {c.call_id, loop::words::error_result(c.text), true, c.cause, 0};
}

void run_core::resume() {
  commands_.clear();
  if (facts_.ended || facts_.started.run.empty()) return;
  if (undone_ == 0) {
    if (ending_)
      commands_.emplace_back(command::end{ending_->reason, ending_->text});
    else if (next_round_)
      commands_.push_back(*next_round_);
    return;
  }
  if (cancelled_) return close_open_calls();
  bool closes = false;
  // The servers that asked are gone, and so are their questions.
  for (auto& c : open_) c.asked_during.clear();
  running_ = 0;
  for (auto& c : open_) {
    if (c.state == call_state::closing) commands_.emplace_back(c.closing);
    if (c.state == call_state::questioned) commands_.emplace_back(command::ask{c.question});
    const bool repeats = c.repeatable && c.attempt < most_attempts && !ending_;
    if (c.state == call_state::asked || (c.state == call_state::intended && repeats)) c.state = call_state::waiting;
    // A run that is ending begins no more calls.
    if (c.state == call_state::waiting && ending_)
      close(c, result_cause::refused, std::string(loop::words::stopped_at_failure));
    if (c.state == call_state::intended)
      close(c, result_cause::interrupted,
            "No result: mcpbx was interrupted while this call was running; it may have taken effect.");
    closes = closes || c.state == call_state::closing;
  }
  // Results of closed calls may end the run, so other calls begin only after these results are recorded.
  if (!closes) go_on();
}

// Decides again about a round that has not begun, by the new limits. Leaves its commands to resume(), which follows.
void run_core::on(const stored::record::limits_lowered& r) {
  facts_.limits = r.limits;
  const auto* next = next_round_ ? std::get_if<command::begin_round>(&*next_round_) : nullptr;
  if (!next || !next->with_tools || next->shortened > 0) return;
  const auto depth = next->depth;
  next_round_.reset();
  respond(depth);
  commands_.clear();
}

// After a loss of power the last records may be missing, so calls that may have been sent are closed. Open questions
// and calls of the caller's own tools stay: they have no effect without a synced record.
void run_core::on(const stored::record::taken_over& r) {
  if (!r.power_lost || facts_.ended || ending_) return;
  for (auto& c : open_)
    if (c.state == call_state::waiting || c.state == call_state::asked || c.state == call_state::intended)
      close(c, result_cause::interrupted, std::string(loop::words::power_lost));
  const auto calls_tools = [](const run_command& next) {
    const auto* begin = std::get_if<command::begin_round>(&next);
    const auto* call = std::get_if<command::call_model>(&next);
    return (begin && begin->with_tools) || (call && call->with_tools);
  };
  if (undone_ == 0 && next_round_ && calls_tools(*next_round_))
    end(stored::stop_reason::interrupted, loop::words::unable(loop::words::round_lost));
  commands_.clear();
}

stored::record::cancel run_core::left_by_its_daemon() {
  return {stored::stop_reason::interrupted, "the run was active when the daemon stopped"};
}

std::vector<stored::run_record> run_core::recovery(const stored::record::cancel& why) const {
  std::vector<stored::run_record> records;
  if (facts_.ended || facts_.started.run.empty()) return records;
  run_core copy = *this;
  const auto take = [&](stored::run_record r) {
    records.push_back(r);
    copy.apply(records.back());
  };
  const auto decided = [](const run_command& c) { return std::holds_alternative<command::end>(c); };
  if (std::ranges::none_of(copy.commands_, decided)) {
    if (copy.cancelled_ && copy.undone_) {
      copy.commands_.clear();
      copy.close_open_calls();  // the cancel is recorded, but some results are missing
    } else {
      take(why);
    }
  }
  while (!copy.facts_.ended) {
    const auto commands = copy.commands_;
    for (const auto& c : commands) {
      if (const auto* close = std::get_if<command::close_call>(&c)) take(closing_record(*close));
      if (const auto* end = std::get_if<command::end>(&c)) take(stored::record::run_ended{end->reason, end->text});
    }
  }
  return records;
}

}  // namespace mcpbx::daemon::core
