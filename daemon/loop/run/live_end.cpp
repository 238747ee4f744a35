// Exchange of a run with its callers: answers to questions, stop requests, calls of the caller's own tools, the result.
#include "daemon/loop/json/event_json.hpp"
#include "daemon/loop/run/live_run.hpp"
#include "daemon/loop/run_words.hpp"
#include "mcp/support/log.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::daemon::run {
namespace {

std::unexpected<error> no_question(const std::string& id) {
  return fail(errc::not_found,
              "no question " + json::json_quoted(id) + " is open in this run; it was answered or has expired");
}

}  // namespace

live_run::reaction live_run::on_answer(answer_given& a) {
  reaction r;
  if (const auto* open = core_.find_question(a.question); open && !a.expired)
    if (auto right = server_questions::check(*open, a.body); !right) {
      if (a.done) r.then = [done = std::move(a.done), right](const result<void>&) { done(right); };
      return r;
    }
  const auto* asked = core_.find_question(a.question);
  auto batch = approvals_.answer(a.question, asked ? questions_.kept(*asked, a.body) : a.body, a.expired);
  if (!batch) {
    if (a.done) r.then = [done = std::move(a.done), id = a.question](const result<void>&) { done(no_question(id)); };
    return r;
  }
  r.batch = std::move(*batch);
  r.synced = true;
  r.then = std::move(a.done);
  r.what = "the answer";
  return r;
}

void live_run::answer_late_requests() {
  for (auto& i : inbox_.take_rest()) {
    if (auto* late = std::get_if<answer_given>(&i); late && late->done) late->done(no_question(late->question));
    if (auto* stop = std::get_if<stop_asked>(&i); stop && stop->done) stop->done(what_became_of_a_stop());
  }
}

// Returns the answer to a stop request that came when the run was over: an error if another process may continue the
// run, if the run never started, or if its end could not be written.
result<void> live_run::what_became_of_a_stop() const {
  if (left_) return fail(errc::unavailable, loop::words::goes_on_later(name()));
  if (records_.taken_over()) return fail(errc::unavailable, loop::words::goes_on_elsewhere(name()));
  const auto& start = records_.recorded();
  if (!was_recorded())
    return fail(start ? start->error().code : errc::internal,
                "the run " + json::json_quoted(name()) + " was not started, so there is nothing to cancel" +
                    (start ? ": " + start->error().message : std::string()));
  if (records_.broken()) return fail(errc::io, "the cancellation of the run could not be stored: " + records_.fault());
  return {};
}

// Ends the feed like at the end of the run, and limits the time for the caller's results.
void live_run::hand_over(std::int64_t expires_ms) {
  const auto left =
      expires_ms > 0 ? approvals_.left_until(expires_ms) : milliseconds(request_.limits.question_timeout_ms);
  parked_limit_ = around_.time.make_timer();
  parked_limit_->arm(around_.time.now() + left, [weak = weak_from_this()] {
    if (auto self = weak.lock())
      self->stop(stored::stop_reason::caller_tools,
                 "the caller did not send the results of its own tools within " +
                     loop::words::span_of(self->request_.limits.question_timeout_ms));
  });
  feed_->done(event_json::run_result(core_.facts()));
  if (stopping_) feed_->reopen();  // as in stop()
}

result<void> live_run::take_results(std::vector<stored::record::caller_result> results) {
  const auto waiting = core_.handed();
  if (!core_.facts().parked || waiting.empty() || results_taken_)
    return fail(errc::invalid_argument,
                "run " + json::json_quoted(name()) + " does not wait for results of its caller's tools");
  for (const auto& id : waiting)
    if (std::ranges::count(results, id, &stored::record::caller_result::call_id) != 1)
      return fail(
          errc::invalid_argument,
          "run " + json::json_quoted(name()) + " needs exactly one result for call " + json::json_quoted(id) +
              "; send " +
              (waiting.size() == 1 ? "it"
                                   : "the results of all " + std::to_string(waiting.size()) + " calls together"));
  if (results.size() != waiting.size())
    return fail(errc::invalid_argument, "run " + json::json_quoted(name()) + " waits for " +
                                            counted(waiting.size(), "result") + ", and " +
                                            std::to_string(results.size()) + " were sent");
  results_taken_ = true;
  feed_->reopen();
  inbox_.push(results_given{std::move(results)});
  return {};
}

void live_run::deliver() {
  if (const auto& why = records_.refusal())
    feed_->refuse(*why);
  else if (left_ && !feed_->over())
    feed_->refuse({errc::unavailable, loop::words::goes_on_later(name())});
  else if (left_)
    return;
  else if (records_.taken_over() && !feed_->over())
    feed_->refuse({errc::unavailable, loop::words::goes_on_elsewhere(name())});
  else if (records_.taken_over())
    return;
  else if (feed_->wanted())
    feed_->done(event_json::run_result(core_.facts(), records_.broken() ? &kept_ : nullptr));
}

void live_run::deliver_failure(std::string_view what) {
  if (core_.facts().started.run.empty()) {
    stored::record::run_started bare;
    bare.run = name();
    core_.apply(bare);
  }
  for (const auto& r : core_.recovery()) core_.apply(r);
  log::error("run " + name() + " ended because of a bug in mcpbx: " + std::string(what));
  deliver();
}

}  // namespace mcpbx::daemon::run
