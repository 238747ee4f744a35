// Calls of one tool server: accepted or refused, queued, sent, ended. This is the hot path: a call that can be sent at
// once and needs one request costs one open call, one pending call and its bytes. managed_client_inputs.cpp and
// managed_client_task_runs.cpp have calls that need more.
#include "mcp/client/supervise/managed_client.hpp"
#include "mcp/client/supervise/tool_result.hpp"
#include "mcp/protocol/revisions.hpp"
#include "mcp/support/shared_bytes.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace mcpbx::mcp::supervise {
namespace {

/// Bound on the sessions that a call is sent in, if no server looks at it.
constexpr int most_comebacks = 3;

milliseconds less(milliseconds limit, duration waited) {
  if (waited <= duration::zero()) return limit;
  return std::max(milliseconds(0), limit - std::chrono::ceil<milliseconds>(waited));
}

time_point after(time_point since, milliseconds limit) {
  return limit >= std::chrono::duration_cast<milliseconds>(never - since) ? never : since + limit;
}

time_point deadline(time_point since, const rpc::call_limits& l) {
  return after(since, std::min(l.idle, l.hard));
}

}  // namespace

clients::client::ticket managed_client::call(clients::server_call&& c) {
  const time_point now = context_.time.now();
  const ticket t = ++last_ticket_;
  if (auto why = refusal(c, now)) {
    fail_later(c, std::move(*why));
    return t;
  }
  const rpc::call_limits limits = c.limits.value_or(options_.limits);
  const bool first = calls_.empty();
  open_call& r = calls_.try_emplace(t, std::move(c), limits, now, false).first->second;
  if (first) note_load(now);
  if (waiting_.empty() && has_room()) {
    dispatch(t, r, now);
    if (session_) arm_for(std::min(deadline(now, limits), session_->next_time()));
    return t;
  }
  waiting_.push_back({t, r.call.params.text().size(), r.call.asker});
  waiting_bytes_ += waiting_.back().bytes;
  arm_for(waits_until(r));
  if (!driving_ && core_.state() == clients::server_state::lazy) {
    core_.wake(now);
    drive();
  }
  return t;
}

std::optional<error> managed_client::refusal(const clients::server_call& c, time_point now) {
  if (stopping_ || options_.disabled || !core_.will_be_ready(now)) return error{errc::unavailable, down_text(now)};
  const std::size_t size = c.params.text().size();
  const std::size_t unsent = session_ ? session_->unsent() : 0;
  const std::size_t queued = waiting_.size() + (session_ && unsent != 0 ? session_->unsent_requests() : 0);
  const std::size_t bytes = waiting_bytes_ + unsent;
  const bool full =
      queued >= context_.options.max_queue_requests || (bytes != 0 && bytes + size > context_.options.max_queue_bytes);
  if (full && !has_share_left(c))
    return error{errc::limit, who() + " takes its requests too slowly: " + std::to_string(queued) + " requests (" +
                                  std::to_string(bytes) + " bytes) wait already; try again later"};
  if (!byte_account::admits(size))
    return error{errc::limit,
                 "mcpbx holds too many bytes to pass " + c.what() + " on to " + who() + "; try again later"};
  return std::nullopt;
}

// Returns true if the asker may still add to a full queue: it must hold less than its share, the bound divided by the
// number of askers in the queue (G18, see README.md).
bool managed_client::has_share_left(const clients::server_call& c) const {
  const auto& o = context_.options;
  std::size_t requests = 0, bytes = 0;
  std::vector<const void*> others;
  const auto count = [&](const void* asker, std::size_t size) {
    if (asker != c.asker) {
      if (others.empty() || others.back() != asker) others.push_back(asker);
      return;
    }
    ++requests;
    bytes += size;
  };
  for (const auto& w : waiting_) count(w.asker, w.bytes);
  if (session_ && session_->unsent() != 0)
    for (const auto& r : session_->unwritten()) count(r.asker, r.bytes);
  if (others.empty() || 2 * requests >= o.max_queue_requests) return false;
  std::ranges::sort(others);
  others.erase(std::ranges::unique(others).begin(), others.end());
  const std::size_t sharers = others.size() + 1;
  return requests < std::max<std::size_t>(o.max_queue_requests / sharers, 1) &&
         (bytes == 0 || bytes + c.params.text().size() <= o.max_queue_bytes / sharers);
}

bool managed_client::has_room() const {
  return up() && !core_.ending() && !session_->core()->headers_stale() &&
         (options_.max_concurrency <= 0 || running_ < static_cast<std::size_t>(options_.max_concurrency));
}

// Waiting for the server counts against a call's own limits. Waiting for other calls does not, or a call at a serial
// server would pay for those before it; the server's hard limit bounds that wait.
time_point managed_client::waits_until(const open_call& r) const {
  return up() ? after(std::max(r.since, up_since_), options_.limits.hard) : deadline(r.since, r.limits);
}

void managed_client::dispatch(ticket t, open_call& r, time_point now) {
  const duration waited = up_since_ - r.since;
  const rpc::call_limits limits{less(r.limits.idle, waited), less(r.limits.hard, waited)};
  r.limits = limits;
  begin_course(r, now);
  note_principal(r.call);
  auto number = send(t, r, limits, now);
  if (number) {
    r.sent = true;
    if (r.course && r.course->creation == 0) r.course->creation = *number;
    ++running_;
    return;
  }
  fail_later(r.call, {number.error().code, r.call.what() + ": " + number.error().message});
  calls_.erase(t);
  if (calls_.empty()) note_load(now);
}

// Sends a request of a call. Its bytes are not needed again, unless it can come back or its course keeps them, and it
// may last for minutes.
result<rpc::call_number> managed_client::send(ticket t, open_call& r, rpc::call_limits limits, time_point now) {
  rpc::pending_calls::progress_handler progress;
  if (r.call.progress) progress = [this, t](const json::raw_json& params) { call_progress(t, params); };
  auto number = session_->call(
      r.call, limits, now, [this, t](rpc::call_outcome&& o) { call_ended(t, std::move(o)); }, std::move(progress));
  if (!number) return number;
  r.number = *number;
  if (session_->gives_back()) return number;
  r.call.params = {};
  r.call.meta.reset();
  if (!r.course) r.call.caller = {};
  return number;
}

void managed_client::dispatch_waiting(time_point now) {
  while (!waiting_.empty() && has_room()) {
    const ticket t = waiting_.front().t;
    waiting_.pop_front();
    const auto found = calls_.find(t);
    if (found == calls_.end()) continue;
    waiting_bytes_ -= found->second.call.params.text().size();
    dispatch(t, found->second, now);
  }
  if (waiting_.empty()) return;
  // Calls wait for a server that sleeps, or that fell asleep just now.
  if (core_.state() == clients::server_state::lazy && !stopping_) {
    core_.wake(now);
    if (core_.next_time() <= now) dirty_ = true;
  }
}

void managed_client::call_progress(ticket t, const json::raw_json& params) {
  const auto found = calls_.find(t);
  if (found == calls_.end() || !found->second.call.progress) return;
  const auto handler = found->second.call.progress;  // the handler may end the call
  const clients::deferred::call inside(context_.soon);
  handler(params);
}

// Returns the call whose own stream brought the message that is being handled, or null.
const managed_client::ticketed_call* managed_client::call_spoken_in() const {
  const rpc::call_number about = session_ && session_->core() ? session_->core()->spoken_in() : 0;
  if (about == 0) return nullptr;
  const auto found = std::ranges::find_if(calls_, [&](const auto& c) { return c.second.number == about; });
  return found == calls_.end() ? nullptr : &*found;
}

// Returns the call that a log of the server belongs to, as far as it can be known, or null.
const managed_client::open_call* managed_client::logging_call() const {
  if (const auto* r = call_spoken_in()) return &r->second;
  // It may be about a call of another one that has ended here and goes on there.
  if (principals_mixed_) return nullptr;
  const open_call* latest = nullptr;
  ticket latest_ticket = 0;
  for (const auto& [t, r] : calls_) {
    if (!r.sent) continue;
    if (latest != nullptr && (r.call.asker == nullptr || r.call.asker != latest->call.asker)) return nullptr;
    if (latest == nullptr || t > latest_ticket) {
      latest = &r;
      latest_ticket = t;
    }
  }
  return latest;
}

// A request of a call has ended, and with it the call, unless it goes on by its course.
void managed_client::call_ended(ticket t, rpc::call_outcome&& outcome) {
  const auto found = calls_.find(t);
  if (found == calls_.end()) return;
  open_call& r = found->second;
  const rpc::call_number number = std::exchange(r.number, 0);
  if (outcome.unseen && send_again(t)) return;
  if (outcome.type == rpc::call_outcome::kind::result) {
    if (r.course && r.course->runs_task) return task_created(t, outcome.value);
    if (asks_for_input(r, outcome.value)) return begin_inputs(t, std::move(outcome.value));
  }
  if (outcome.type == rpc::call_outcome::kind::error && wants_headers_renewed(r, outcome.value)) {
    r.headers_renewed = true;
    session_->core()->renew_headers(context_.time.now());
    if (send_again(t)) return;
  }
  if (outcome.type == rpc::call_outcome::kind::error && r.course && speaks_again(r, outcome.value))
    return next_round(t);
  // The progress of its task comes with the token of the request.
  if (outcome.type == rpc::call_outcome::kind::result && r.wants_task && r.call.progress)
    late_progress_.add(std::to_string(number), r.call.notified);
  conclude(t, std::move(outcome));
}

// Returns true if the server refuses the headers of a call, whose tool may have another schema now, for the first time.
bool managed_client::wants_headers_renewed(open_call& r, const json::raw_json& error) const {
  return era_ == clients::era::modern && !r.headers_renewed && !r.course && up() && session_->gives_back() &&
         r.call.method == "tools/call" &&
         json::find_member(error, "code").as_integer() == protocol::mcp_code::header_mismatch;
}

// Puts a call back that no server has looked at, for the next session. Returns false if it has come back too often.
bool managed_client::send_again(ticket t) {
  const auto found = calls_.find(t);
  if (found == calls_.end() || stopping_ || found->second.comebacks >= most_comebacks) return false;
  open_call& r = found->second;
  ++r.comebacks;
  r.sent = false;
  r.since = context_.time.now();
  --running_;
  waiting_.push_front({t, r.call.params.text().size(), r.call.asker});
  waiting_bytes_ += waiting_.front().bytes;
  dirty_ = true;
  return true;
}

void managed_client::conclude(ticket t, rpc::call_outcome&& outcome) {
  auto node = calls_.extract(t);
  if (node.empty()) return;
  --running_;
  if (node.mapped().course) {
    std::erase(task_runs_, t);
    if (outcome.type == rpc::call_outcome::kind::failed) leave_task(node.mapped(), "its call has ended");
  }
  if (!waiting_.empty() || stopping_) dirty_ = true;
  if (calls_.empty()) note_load(context_.time.now());
  clients::server_call& c = node.mapped().call;
  const bool answered = outcome.type != rpc::call_outcome::kind::failed;
  bool told_error = outcome.type == rpc::call_outcome::kind::error;
  if (answered) {
    suspect_ = false;
    recovered(recovery::answer);
    recovered(recovery::ready);
  }
  if (outcome.type == rpc::call_outcome::kind::failed) {
    std::string& text = outcome.failure.message;
    if (outcome.failure.code == errc::cancelled || outcome.failure.code == errc::timed_out) note_unanswered();
    if (outcome.failure.code == errc::cancelled)
      text = c.what() + " " + text;
    else if (!text.starts_with(who()))
      text = who() + ": " + c.what() + " " + text;
    if (outcome.failure.code == errc::timed_out) {
      suspect_ = true;
      failed(text, recovery::answer);
    }
  } else if (outcome.type == rpc::call_outcome::kind::result &&
             (c.method == "tools/call" || (may_ask(c) && wants_input(outcome.value)))) {
    if (auto fault = tool_result_fault(outcome.value, era_,
                                       {c.takes_input_required, node.mapped().wants_task, node.mapped().takes_others},
                                       &told_error))
      outcome = rpc::call_outcome::lost(fault->code, who() + " " + fault->message + " (" + c.what() + ")");
  }
  const bool lost = outcome.type == rpc::call_outcome::kind::failed && outcome.failure.code != errc::cancelled;
  const time_point now = context_.time.now();
  meter_->ended(now, now - node.mapped().since, told_error || lost);
  if (c.notified) remember_notes(c, outcome, node.mapped().wants_task);
  if (node.mapped().wants_task && era_ == clients::era::legacy) remember_owner(c, outcome);
  if (!task_owners_.empty() && answered && c.method.starts_with("tasks/")) note_task_state(outcome.value);
  if (!questions_.empty() && answered) move_questions(t, c);
  if (!desk_->empty()) desk_->end_call(t, "the call that the question belongs to has ended");
  told(c, std::move(outcome));
}

// Ends a call in the next turn, since code of others may be running.
void managed_client::fail_soon(ticket t, rpc::call_outcome&& outcome) {
  const auto found = calls_.find(t);
  if (found == calls_.end()) return;
  tell_later(found->second.call);
  conclude(t, std::move(outcome));
  settle_down();
}

// Takes the steps that an event outside of the session's has made due.
void managed_client::settle_down() {
  if (dropped_) return;
  if (dirty_ && !driving_) return drive();
  if (!driving_) rearm();
}

// Makes the outcome of a call be reported in a later turn.
void managed_client::tell_later(clients::server_call& c) {
  if (!c.done) return;
  c.done = [soon = context_.soon, done = std::move(c.done)](rpc::call_outcome&& o) mutable {
    soon->post([done = std::move(done), o = std::move(o)] mutable { done(std::move(o)); });
  };
}

// Ends the calls that have been sent and have no request open at the session that has ended.
void managed_client::end_unsent_rounds(const std::string& why) {
  std::vector<ticket> between;
  for (const auto& [t, r] : calls_)
    if (r.sent && r.number == 0) between.push_back(t);
  std::ranges::sort(between);
  for (const ticket t : between) {
    if (const auto r = calls_.find(t); r != calls_.end() && r->second.course) r->second.course->task_id.clear();
    conclude(t, rpc::call_outcome::lost(errc::unavailable, why));
  }
}

void managed_client::told(clients::server_call& c, rpc::call_outcome&& outcome) {
  const clients::deferred::call inside(context_.soon);
  if (auto done = std::exchange(c.done, {})) done(std::move(outcome));
}

void managed_client::cancel(ticket t, std::string_view reason) {
  const auto found = calls_.find(t);
  if (found == calls_.end()) return;
  open_call& r = found->second;
  if (!r.sent) {
    std::erase(waiting_, t);
    waiting_bytes_ -= r.call.params.text().size();
    fail_later(r.call, {errc::cancelled, r.call.what() + " was cancelled: " + std::string(reason)});
    calls_.erase(found);
    if (calls_.empty()) note_load(context_.time.now());
    return;
  }
  // The outcome is reported in the next turn: the caller may be walking through its own list of calls.
  tell_later(r.call);
  const bool open = r.number != 0 && session_ && session_->core();
  if (!open || !session_->core()->cancel(r.number, reason))
    conclude(t, rpc::call_outcome::lost(errc::cancelled, "was cancelled: " + std::string(reason)));
  if (dirty_ && !driving_) drive();
}

void managed_client::expire_waiting(time_point now) {
  std::vector<ticket> due;
  for (const auto& w : waiting_)
    if (const auto r = calls_.find(w.t); r != calls_.end() && waits_until(r->second) <= now) due.push_back(w.t);
  for (const ticket t : due) {
    std::erase(waiting_, t);
    auto node = calls_.extract(t);
    clients::server_call& c = node.mapped().call;
    waiting_bytes_ -= c.params.text().size();
    fail_later(c, {errc::timed_out, who() + ": " + c.what() +
                                        (up() ? " waited too long for other calls to end"
                                              : " waited too long for the server to be ready")});
  }
  if (!due.empty() && calls_.empty()) note_load(now);
}

void managed_client::fail_waiting(const error& why) {
  for (const auto& w : std::exchange(waiting_, {})) {
    auto node = calls_.extract(w.t);
    if (!node.empty()) fail_later(node.mapped().call, why);
  }
  waiting_bytes_ = 0;
  if (calls_.empty()) note_load(context_.time.now());
}

// Ends a call that was never sent.
void managed_client::fail_later(clients::server_call& c, error why) {
  if (why.code != errc::cancelled) meter_->refused();
  if (!c.done) return;
  context_.soon->post([done = std::move(c.done), why = std::move(why)] mutable {
    done({rpc::call_outcome::kind::failed, {}, std::move(why)});
  });
}

void managed_client::note_load(time_point now) {
  core_.busy(!calls_.empty(), now);
  if (calls_.empty() && options_.idle_stop.count() > 0) arm_for(core_.next_time());
}

}  // namespace mcpbx::mcp::supervise
