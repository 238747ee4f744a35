// Tools that a legacy server runs as tasks only (2025-11-25, tasks, taskSupport "required"), for callers that do not
// ask for a task: the task is created, looked at until it has ended, and its result is the result of the call.
#include "mcp/client/supervise/managed_client.hpp"
#include "mcp/redact/cut_text.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace mcpbx::mcp::supervise {
namespace {

constexpr rpc::call_limits cancel_limits{milliseconds(60'000), milliseconds(60'000)};
/// Most calls whose late tasks are ended; of further ones the oldest is forgotten, and its task ends with its ttl.
constexpr std::size_t most_left_creations = 64;
constexpr rpc::call_limits endless{milliseconds::max(), milliseconds::max()};

json::raw_json task_params(const std::string& id) {
  return json::raw_json::own("{\"taskId\":" + json::json_quoted(id) + "}");
}

time_point next_poll(const json::raw_json& task, time_point now) {
  const auto told = json::find_member(task, "pollInterval").as_integer();
  const milliseconds wait(std::clamp<std::int64_t>(told.value_or(call_course::usual_poll.count()),
                                                   call_course::least_poll.count(), call_course::most_poll.count()));
  return now + wait;
}

bool has_ended(std::string_view status) {
  return status == "completed" || status == "failed" || status == "cancelled";
}

}  // namespace

void managed_client::read_task_tools(const std::vector<protocol::feature_item>& tools) {
  task_tools_.clear();
  const json::raw_json calls =
      json::find_member(json::find_member(json::find_member(offers_.tasks, "requests"), "tools"), "call");
  if ((session_ && session_->core()->era() != clients::era::legacy) || !calls.is_object()) return;
  for (const protocol::feature_item& tool : tools)
    if (json::member_text(json::find_member(tool.definition, "execution"), "taskSupport") == "required")
      task_tools_.insert(tool.key);
}

bool managed_client::needs_task(const clients::server_call& c) const {
  return !task_tools_.empty() && c.method == "tools/call" && task_tools_.contains(json::member_text(c.params, "name"));
}

json::raw_json managed_client::with_task(const open_call& r) const {
  auto params = json::raw_object::open(r.call.params);
  if (!params) return r.call.params;
  // The server need not keep it for longer than anybody waits.
  const bool bounded = r.limits.hard < milliseconds(86'400'000);
  const std::string ttl = std::to_string((r.limits.hard + options_.question_timeout).count());
  params->set("task", bounded && options_.question_timeout < milliseconds(86'400'000)
                          ? json::raw_json::own("{\"ttl\":" + ttl + "}")
                          : json::raw_json::literal("{}"));
  return params->json();
}

void managed_client::task_created(ticket t, const json::raw_json& result) {
  open_call& r = calls_.find(t)->second;
  call_course& c = *r.course;
  c.made = true;
  const json::raw_json task = json::find_member(result, "task");
  c.task_id = json::member_text(task, "taskId");
  if (c.task_id.empty() || c.task_id.size() > note_book::longest_id) {
    c.task_id.clear();
    // A server may still finish at once, as a server without tasks does.
    if (!task) return conclude(t, {rpc::call_outcome::kind::result, result, {}});
    return conclude(t, rpc::call_outcome::lost(errc::protocol,
                                               who() + " made a task without a usable taskId (" + r.call.what() + ")"));
  }
  task_runs_.push_back(t);
  const time_point now = context_.time.now();
  if (has_ended(json::member_text(task, "status")))
    fetch_result(t, r, now);
  else
    c.poll_at = next_poll(task, now);
  arm_for(std::min(c.poll_at, c.hard_at));
}

void managed_client::poll_task(ticket t, open_call& r, time_point now) {
  call_course& c = *r.course;
  c.poll_at = never;
  // The number is known before the answer, which finds its poll by it.
  c.poll = session_->core()->own_request("tasks/get", task_params(c.task_id), {r.limits.idle, r.limits.idle}, now,
                                         [this, t](rpc::call_outcome&& o) {
                                           const auto found = calls_.find(t);
                                           if (found != calls_.end() && found->second.course)
                                             task_told(t, found->second.course->poll, std::move(o));
                                         });
}

// Takes the state of a task. Each one that says that it goes on is a sign of life.
void managed_client::task_told(ticket t, rpc::call_number poll, rpc::call_outcome&& outcome) {
  open_call& r = calls_.find(t)->second;
  call_course& c = *r.course;
  if (poll == 0) return;
  c.poll = 0;
  if (outcome.type == rpc::call_outcome::kind::error) c.task_id.clear();  // the server does not know it any more
  if (outcome.type != rpc::call_outcome::kind::result) return conclude(t, std::move(outcome));
  const time_point now = context_.time.now();
  const std::string status = json::member_text(outcome.value, "status");
  if (has_ended(status)) {
    if (c.fetch == 0) fetch_result(t, r, now);
    const bool bounded = r.limits.idle < std::chrono::duration_cast<milliseconds>(never - now);
    c.result_until = bounded ? now + r.limits.idle : never;
  } else if (status == "working" || status == "input_required") {
    c.poll_at = next_poll(outcome.value, now);
    // "When the requestor encounters the input_required status, it SHOULD preemptively call tasks/result."
    if (status == "input_required" && c.fetch == 0) fetch_result(t, r, now);
  } else {
    return conclude(t, rpc::call_outcome::lost(errc::protocol, who() + " told an unknown state of a task: \"" +
                                                                   redact::cut_for_people(status, 64) + "\" (" +
                                                                   r.call.what() + ")"));
  }
  arm_for(std::min({c.poll_at, c.hard_at, c.result_until}));
}

void managed_client::fetch_result(ticket t, open_call& r, time_point now) {
  r.course->fetch = session_->core()->own_request("tasks/result", task_params(r.course->task_id), endless, now,
                                                  [this, t](rpc::call_outcome&& o) {
                                                    const auto found = calls_.find(t);
                                                    if (found == calls_.end() || !found->second.course) return;
                                                    found->second.course->fetch = 0;
                                                    found->second.course->task_id.clear();  // it has ended
                                                    conclude(t, std::move(o));
                                                  });
}

// Leaves a task alone that may still run: the server is told to end it. If its id has not come yet, this is done when
// it comes, for the cancellation of the call may have come too late.
void managed_client::leave_task(open_call& r, std::string_view why) {
  if (!r.course || !r.course->runs_task || !up()) return;
  call_course& c = *r.course;
  if (c.task_id.empty()) {
    if (c.made || c.creation == 0) return;
    if (left_creations_.size() >= most_left_creations) left_creations_.erase(left_creations_.begin());
    left_creations_.push_back(c.creation);
    return;
  }
  cancel_task(std::exchange(c.task_id, {}));
  auto* core = session_->core();
  for (const rpc::call_number open : {std::exchange(c.poll, 0), std::exchange(c.fetch, 0)})
    if (open != 0) core->cancel(open, why);
}

void managed_client::cancel_task(const std::string& id) {
  session_->core()->own_request("tasks/cancel", task_params(id), cancel_limits, context_.time.now(), {});
}

void managed_client::session_late_result(rpc::call_number request, const json::raw_json& result) {
  if (std::erase(left_creations_, request) == 0 || !up()) return;
  const json::raw_json task = json::find_member(result, "task");
  const std::string id = json::member_text(task, "taskId");
  if (!id.empty() && id.size() <= note_book::longest_id && !has_ended(json::member_text(task, "status")))
    cancel_task(id);
}

void managed_client::tick_tasks(time_point now) {
  for (const ticket t : std::vector(task_runs_)) {
    const auto found = calls_.find(t);
    if (found == calls_.end()) continue;
    open_call& r = found->second;
    call_course& c = *r.course;
    const bool paused = c.paused_since != never;
    if (!paused && std::min(c.hard_at, c.result_until) <= now) {
      conclude(t, rpc::call_outcome::lost(errc::timed_out, c.hard_at <= now
                                                               ? "has not ended within its time: its task still runs"
                                                               : "has ended its task and gives no result"));
      continue;
    }
    if (c.poll_at > now) continue;
    if (up())
      poll_task(t, r, now);
    else
      c.poll_at = never;  // the end of the session ends the call
  }
}

time_point managed_client::next_task_time() const {
  time_point next = never;
  for (const ticket t : task_runs_) {
    const auto found = calls_.find(t);
    if (found == calls_.end()) continue;
    const call_course& c = *found->second.course;
    next = std::min(next, c.poll_at);
    if (c.paused_since == never) next = std::min({next, c.hard_at, c.result_until});
  }
  return next;
}

// "The progressToken provided in the initial request remains valid throughout the task lifetime."
void managed_client::session_late_progress(rpc::call_number request, const json::raw_json& params) {
  for (const ticket t : task_runs_) {
    const auto found = calls_.find(t);
    if (found != calls_.end() && found->second.course->creation == request) return call_progress(t, params);
  }
  const auto handler = late_progress_.find(std::to_string(request));
  if (!handler) return;
  const clients::deferred::call inside(context_.soon);
  handler("notifications/progress", params);
}

}  // namespace mcpbx::mcp::supervise
