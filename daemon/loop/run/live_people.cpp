// What a run does where people and the caller's own tools have a part: questions, answers, calls handed back, and the
// clock that stands meanwhile.
#include "daemon/loop/json/event_json.hpp"
#include "daemon/loop/run/live_run.hpp"
#include "daemon/loop/run_words.hpp"
#include "daemon/loop/tools/caller_tools.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace mcpbx::daemon {
namespace {

std::unexpected<error> no_question(const std::string& id) {
  return fail(errc::not_found,
              "no question " + json_quoted(id) + " is open in this run; it was answered, or its time was up");
}

}  // namespace

// Waiting for a person or for the caller's tools counts against question_timeout_ms only (L8).
void live_run::watch_clock() {
  const bool pause = core_.waits_for_people();
  if (pause == paused_since_.has_value()) return;
  const auto now = around_.time.now();
  if (pause) {
    paused_since_ = now;
    if (limit_) limit_->cancel();
    return;
  }
  paused_ += std::chrono::duration_cast<milliseconds>(now - *paused_since_);
  paused_since_.reset();
  arm_limit();
}

void live_run::arm_limit() {
  if (request_.limits.timeout_ms <= 0) return;
  if (!limit_) limit_ = around_.time.make_timer();
  limit_->arm(began_ + paused_ + milliseconds(request_.limits.timeout_ms), [weak = weak_from_this()] {
    if (auto self = weak.lock())
      self->stop(stop_reason::timeout,
                 "the time limit of " + words::span_of(self->request_.limits.timeout_ms) + " for the run was reached");
  });
}

// The names that a tool had when the run began, before a restart. Null: those of now, or nobody knows.
const past_names::names* live_run::known_then(const mcp::catalog_entry& tool) {
  const auto* kept = request_.tools.beside.get();
  if (kept == nullptr) return nullptr;
  if (past_of_ != catalog_) past_ = past_names(*catalog_, *kept);
  past_of_ = catalog_;
  return past_.find(tool.server, tool.tool);
}

// Why a call of this tool needs a yes, "" when it needs none.
std::string_view live_run::needs_approval(const mcp::catalog_entry& tool) {
  const auto* then = known_then(tool);
  const auto matches = [&](const std::string& glob) {
    const auto is = [&](std::string_view name) { return !name.empty() && glob_match(glob, name); };
    return is(tool.listed_name()) || is(tool.rules.prefixed) || is(tool.rules.plain) || is(tool.rules.other) ||
           (then != nullptr && then->may_be(glob));
  };
  const auto* kept = request_.tools.beside.get();
  const auto& configured = request_.configured->needs_approval;
  if (std::ranges::any_of(request_.approve, matches) || (configured && configured(tool)) ||
      (kept != nullptr && kept->wants_yes(tool.server, tool.tool)))
    return "the configuration wants a yes for this tool";
  if (!tool.annotations.may_destroy()) return {};
  if (request_.limits.approve_destructive)
    return "nothing says that this tool only reads or leaves intact what is there";
  if (request_.limits.approve_after_output && model_saw_output())
    return "the model has read what tools returned, and nothing says that this tool only reads or leaves intact what "
           "is "
           "there";
  return {};
}

// Whether results are in the conversation, also those that the session or the request brought. What was once read may
// have left its mark on all that follows, so it does not matter what is cut later. Each message is looked at once.
bool live_run::model_saw_output() {
  const auto& all = core_.messages();
  for (; !saw_output_ && looked_at_ < all.size(); ++looked_at_)
    saw_output_ = all[looked_at_]->role == providers::role::tool_results;
  return saw_output_;
}

record::question live_run::approval_question(const std::string& id, const mcp::catalog_entry& tool, approval_seal seal,
                                             std::string_view why) {
  record::question q;
  q.id = "q_" + hex(around_.random.next(), 16);
  q.kind = "approval";
  q.call_id = id;
  q.body = event_json::approval(tool, core_.find_call(id)->arguments, why);
  q.tool_sha256 = std::move(seal.tool);
  q.arguments_sha256 = std::move(seal.arguments);
  q.expires_ms = around_.time.wall_ms() + request_.limits.question_timeout_ms;
  return q;
}

// Only the wall clock goes on while there is no process.
milliseconds live_run::left_until(std::int64_t expires_ms) const {
  return milliseconds(
      std::clamp<std::int64_t>(expires_ms - around_.time.wall_ms(), 0, request_.limits.question_timeout_ms));
}

void live_run::ask(const record::question& q) {
  if (!core_.find_question(q.id)) return;  // it was answered before it could be asked again
  const auto left =
      asked_before_.contains(q.id) ? left_until(q.expires_ms) : milliseconds(request_.limits.question_timeout_ms);
  auto limit = around_.time.make_timer();
  limit->arm(around_.time.now() + left, [weak = weak_from_this(), id = q.id] {
    if (auto self = weak.lock()) self->answer({id, {}, true, {}});
  });
  questions_.push_back({q.id, std::move(limit)});
}

live_run::reaction live_run::on_answer(answer_given& a) {
  reaction r;
  const auto* question = core_.find_question(a.question);
  if (!question) {
    if (a.done) r.then = [done = std::move(a.done), id = a.question](const result<void>&) { done(no_question(id)); };
    return r;
  }
  std::vector<std::string> answered{a.question};
  if (find_member(a.body, "approve").is_true() && find_member(a.body, "always").is_true())
    for (auto& id : core_.covered_by(*question)) answered.push_back(std::move(id));
  for (auto& id : answered) {
    std::erase_if(questions_, [&](const auto& q) { return q.id == id; });
    r.batch.emplace_back(record::answer{std::move(id), a.body, a.expired, a.expired && !feed_->answers(), false});
  }
  r.synced = true;
  r.then = std::move(a.done);
  r.what = "the answer";
  return r;
}

// To wait for an answer that cannot come would keep whoever still reads waiting for nothing.
live_run::reaction live_run::on_mute() {
  reaction r;
  if (may_be_answered()) return r;  // somebody has come meanwhile
  for (const auto* q : core_.questions()) r.batch.emplace_back(record::answer{q->id, {}, true, false, true});
  questions_.clear();
  r.synced = !r.batch.empty();
  return r;
}

void live_run::tell_the_late() {
  for (auto& i : inbox_.take_rest()) {
    if (auto* late = std::get_if<answer_given>(&i); late && late->done) late->done(no_question(late->question));
    if (auto* stop = std::get_if<stop_asked>(&i); stop && stop->done) stop->done(what_became_of_a_stop());
  }
}

// To whoever wanted the end of a run that was over by then. An error where it may go on, or never was.
result<void> live_run::what_became_of_a_stop() const {
  if (left_) return fail(errc::unavailable, words::goes_on_later(name()));
  if (taken_over_) return fail(errc::unavailable, words::goes_on_elsewhere(name()));
  if (!was_recorded())
    return fail(recorded_ ? recorded_->error().code : errc::internal,
                "the run " + json_quoted(name()) + " was not started, so there is nothing to cancel" +
                    (recorded_ ? ": " + recorded_->error().message : std::string()));
  if (store_broken_) return fail(errc::io, "that the run was cancelled could not be kept: " + store_fault_);
  return {};
}

// The callers are told like at the end.
void live_run::hand_over(std::int64_t expires_ms) {
  const auto left = expires_ms > 0 ? left_until(expires_ms) : milliseconds(request_.limits.question_timeout_ms);
  parked_limit_ = around_.time.make_timer();
  parked_limit_->arm(around_.time.now() + left, [weak = weak_from_this()] {
    if (auto self = weak.lock())
      self->stop(stop_reason::caller_tools, "the results of the caller's own tools did not come in " +
                                                words::span_of(self->request_.limits.question_timeout_ms));
  });
  feed_->done(event_json::run_result(core_));
  if (stopping_) feed_->reopen();  // as stop() does
}

result<void> live_run::take_results(std::vector<record::caller_result> results) {
  const auto waiting = core_.handed();
  if (!core_.parked() || waiting.empty() || results_taken_)
    return fail(errc::invalid_argument,
                "run " + json_quoted(name()) + " does not wait for results of its caller's tools");
  for (const auto& id : waiting)
    if (std::ranges::count(results, id, &record::caller_result::call_id) != 1)
      return fail(
          errc::invalid_argument,
          "run " + json_quoted(name()) + " waits for one result of the call " + json_quoted(id) + "; send " +
              (waiting.size() == 1 ? "it" : "those of all its " + std::to_string(waiting.size()) + " calls together"));
  if (results.size() != waiting.size())
    return fail(errc::invalid_argument, "run " + json_quoted(name()) + " waits for " +
                                            counted(waiting.size(), "result") + ", and " +
                                            std::to_string(results.size()) + " were sent");
  results_taken_ = true;
  feed_->reopen();
  inbox_.push(results_given{std::move(results)});
  return {};
}

}  // namespace mcpbx::daemon
