// Questions of a legacy server, which name no call: finds the call that each belongs to and passes it to that call's
// handler. While one is open, the call's limits stand still.
#include "mcp/client/supervise/managed_client.hpp"
#include "mcp/protocol/revisions.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace mcpbx::mcp::supervise {
namespace {

constexpr std::string_view related_task = "io.modelcontextprotocol/related-task";
constexpr int url_elicitation_required = -32042;
constexpr std::size_t most_elicitations = 16, most_task_owners = 256, longest_task_id = 512;
/// Time in which a server may still work on a call that has ended without its answer.
constexpr milliseconds longest_afterlife{60'000};
/// The same for a task that nobody has heard of since.
constexpr milliseconds longest_silent_task{3'600'000};

/// Returns true if both are of one principal or, if it is not known, of one asker.
bool same_principal(const auto& a, const clients::server_call& b) {
  return a.principal.empty() ? b.principal.empty() && a.asker != nullptr && a.asker == b.asker
                             : a.principal == b.principal;
}

}  // namespace

// An idle server has forgotten its earlier callers; a busy one may ask on behalf of any of them. It may go on with an
// unanswered call for a while, even if nobody waits for that any more.
void managed_client::note_principal(const clients::server_call& c) {
  if (running_ == 0 && context_.time.now() >= lingers_until_) {
    principal_ = c.principal;
    asker_ = c.asker;
    // So it is with a task that goes on after the call that made it.
    const auto works_for_another = [&](const task_owner& o) {
      return o.until > context_.time.now() && !same_principal(o, c);
    };
    principals_mixed_ =
        options_.sharing == server_sharing::shared && std::ranges::any_of(task_owners_, works_for_another);
    return;
  }
  // A process of one caller or run has no others.
  if (principals_mixed_ || options_.sharing != server_sharing::shared) return;
  const bool same =
      c.principal.empty() ? principal_.empty() && asker_ != nullptr && asker_ == c.asker : principal_ == c.principal;
  principals_mixed_ = !same;
}

result<managed_client::asked_by> managed_client::asked_call(const clients::server_question& q) const {
  std::string task;
  if (!task_runs_.empty() || !task_owners_.empty())
    task = json::member_text(json::find_member(json::find_member(q.params, "_meta"), related_task), "taskId");
  for (const ticket t : task_runs_)
    if (const auto r = calls_.find(t); !task.empty() && r != calls_.end() && r->second.course->task_id == task)
      return asked_by{t};
  // Over HTTP a request comes in the stream of the call that it is about (2025-11-25, "Sending Messages to the
  // Server").
  if (const auto* r = call_spoken_in()) return asked_by{r->first};
  // A task goes on after the call that made it, while others have calls here.
  if (const auto owner = std::ranges::find(task_owners_, task, &task_owner::task);
      !task.empty() && owner != task_owners_.end()) {
    if (const ticket t = latest_call_of(*owner)) return asked_by{t, true};
    return fail(errc::unavailable,
                "the caller whose task asks this has no call open at the server; `tasks/result` is one");
  }
  const ticket latest = latest_call(q);
  if (latest == 0)
    return fail(errc::unavailable, "mcpbx passes a question on while a call is open at the server, and none is");
  if (principals_mixed_)
    return fail(errc::unavailable,
                "several callers have calls at this server, and a question of MCP " + revision_ +
                    " does not say whose call it belongs to; with sharing: \"perCaller\" in the entry of \"" +
                    options_.name + "\" each caller gets a process of its own");
  return asked_by{latest, true};
}

// Returns the latest call that has been sent, or 0. Of several callers those come first that can answer the question.
// In a process of one caller the call may still wait: what the server asks while it starts, as many ask for roots, is
// asked of nobody else.
clients::client::ticket managed_client::latest_call(const clients::server_question& q) const {
  const bool one_caller = options_.sharing != server_sharing::shared;
  ticket latest = 0;
  const void* asker = nullptr;
  bool several = false;
  for (const auto& [t, r] : calls_) {
    if (!r.sent && !one_caller) continue;
    several = several || (latest != 0 && r.call.asker != asker);
    asker = r.call.asker;
    latest = std::max(latest, t);
  }
  if (!several) return latest;
  ticket able = 0;
  for (const auto& [t, r] : calls_)
    if ((r.sent || one_caller) && t > able && r.call.questions && r.call.questions->can_answer(q)) able = t;
  return able != 0 ? able : latest;
}

// Returns the latest call that has been sent for the principal whose task it is, or 0.
clients::client::ticket managed_client::latest_call_of(const task_owner& owner) const {
  ticket latest = 0;
  for (const auto& [t, r] : calls_)
    if (r.sent && same_principal(owner, r.call)) latest = std::max(latest, t);
  return latest;
}

// Returns the latest call of the same principal that was made before this one, or 0.
clients::client::ticket managed_client::call_before(ticket ended, const clients::server_call& of) const {
  const bool one_caller = options_.sharing != server_sharing::shared;
  ticket latest = 0;
  for (const auto& [t, r] : calls_)
    if (r.sent && t < ended && r.call.questions && (one_caller || same_principal(of, r.call)))
      latest = std::max(latest, t);
  return latest;
}

void managed_client::refuse_question(const rpc::rpc_id& id, std::string_view method, std::string why) {
  // The configured roots are the answer that needs no caller.
  if (method == "roots/list")
    return session_->core()->answer(id, {rpc::call_outcome::kind::result,
                                         options_.roots ? options_.roots : json::raw_json::literal(R"({"roots":[]})"),
                                         {}});
  session_->core()->answer(id, rpc::call_outcome::failed(errc::unavailable, std::move(why)));
}

// Asks the caller of a process that it has alone for its roots, which belong to no call: a server wants them as well
// when it starts, and when it hears that they have changed.
bool managed_client::ask_scope(const rpc::rpc_id& id, const clients::server_question& q) {
  const auto scope = scope_.lock();
  if (!scope || q.method != "roots/list") return false;
  return scope->caller()->ask(q, [weak = weak_from_this(), id, session = sessions_](rpc::call_outcome&& outcome) {
    const auto self = weak.lock();
    if (!self || !self->session_ || !self->session_->core() || self->sessions_ != session) return;
    if (outcome.type == rpc::call_outcome::kind::failed) return self->refuse_question(id, "roots/list", {});
    self->session_->core()->answer(id, std::move(outcome));
  });
}

void managed_client::session_asks(const rpc::rpc_id& id, std::string_view method, json::raw_json params) {
  clients::server_question q{
      options_.name, std::string(method), std::move(params), {}, session_->core()->extensions_of(method)};
  const auto by = asked_call(q);
  if (!by) {
    if (!ask_scope(id, q)) refuse_question(id, method, by.error().message);
    return;
  }
  if (json::find_member(json::find_member(q.params, "_meta"), protocol::meta_key::progress_token))
    q.progress = [weak = weak_from_this(), id](const json::raw_json& told) {
      const auto self = weak.lock();
      if (self && self->up() && self->questions_.contains(id.key())) self->session_->core()->answer_progress(id, told);
    };
  pose(*by, id, std::move(q));
}

// Passes a question of a legacy server to its call.
void managed_client::pose(asked_by by, const rpc::rpc_id& id, clients::server_question q) {
  const clients::server_call& c = calls_.find(by.call)->second.call;
  if (!c.questions)
    return refuse_question(id, q.method, "nobody can be asked for the call that this question is about");
  if (c.notified && q.method == "elicitation/create")
    notes_.add(json::member_text(q.params, "elicitationId"), c.notified);
  questions_[id.key()] = {desk_->next_number(), id, by.guessed ? q : clients::server_question(), by.guessed};
  ask(by.call, std::move(q), [this, id, t = by.call](rpc::call_outcome&& outcome) {
    questions_.erase(id.key());
    if (session_ && session_->core()) session_->core()->answer(id, std::move(outcome));
    if (!calls_.contains(t)) return;
    resume(t);
    settle_down();
  });
}

// A server that has answered a call does not ask about it any more: its open questions belong to calls before that one,
// if there are any.
void managed_client::move_questions(ticket ended, const clients::server_call& of) {
  std::vector<posed_question> to_move;
  for (const auto& [key, q] : questions_)
    if (q.guessed && desk_->call_of(q.number) == ended) to_move.push_back(q);
  for (posed_question& q : to_move) {
    const auto open = questions_.find(q.id.key());
    if (open == questions_.end() || open->second.number != q.number || call_before(ended, of) == 0) continue;
    questions_.erase(open);
    desk_->withdraw(q.number, "the tool server asks about another call");
    if (!up()) return;
    if (const ticket before = call_before(ended, of))
      pose({before, true}, q.id, std::move(q.what));
    else
      refuse_question(q.id, q.what.method, "the call that the question belongs to has ended");
  }
}

void managed_client::session_asks_no_more(const rpc::rpc_id& id) {
  const auto found = questions_.find(id.key());
  if (found == questions_.end()) return;
  const auto n = found->second.number;
  questions_.erase(found);
  const ticket t = desk_->call_of(n);
  desk_->withdraw(n, "the tool server does not wait for the answer any more");
  resume(t);
}

// Notes that a call has ended and the server may not know it yet.
void managed_client::note_unanswered() {
  lingers_until_ = context_.time.now() + longest_afterlife;
}

// Withdraws the questions of the session that has ended, because its ids mean other questions in the next one. Their
// calls are over, except for those that the server has not seen.
void managed_client::forget_questions(std::string_view why) {
  lingers_until_ = {};
  ++sessions_;
  left_creations_.clear();
  late_progress_.clear();
  task_owners_.clear();
  questions_.clear();
  if (desk_->empty()) return;
  desk_->clear(why);
  std::vector<ticket> left;
  for (const auto& [t, r] : calls_) left.push_back(t);
  for (const ticket t : left) resume(t);
}

// Passes a question to the handler of an open call that has one. `done` must call resume().
void managed_client::ask(ticket t, clients::server_question q, question_desk::done_handler done) {
  const auto handler = calls_.find(t)->second.call.questions;
  const time_point now = context_.time.now();
  pause(t);
  const auto limit = options_.question_timeout;
  const bool endless = limit >= std::chrono::duration_cast<milliseconds>(never - now);
  const time_point until = endless ? never : now + limit;
  desk_->ask(t, handler, std::move(q), until, std::move(done));
  arm_for(until);
}

void managed_client::pause(ticket t) {
  const auto found = calls_.find(t);
  if (found == calls_.end() || desk_->open(t) != 0) return;
  open_call& r = found->second;
  const time_point now = context_.time.now();
  if (r.number != 0 && session_ && session_->core()) session_->core()->pause(r.number, now);
  if (r.course) r.course->paused_since = now;
}

// Called after a question of the call has ended, however it did.
void managed_client::resume(ticket t) {
  const auto found = calls_.find(t);
  if (found == calls_.end() || desk_->open(t) != 0) return;
  open_call& r = found->second;
  const time_point now = context_.time.now();
  if (r.number != 0 && session_ && session_->core()) session_->core()->resume(r.number, now);
  if (!r.course || r.course->paused_since == never) return;
  if (r.course->hard_at != never) r.course->hard_at += now - r.course->paused_since;
  // A task that ended meanwhile has its whole time for its result.
  if (r.course->result_until != never) r.course->result_until = now + r.limits.idle;
  r.course->paused_since = never;
}

// Remembers elicitations and tasks that outlive the call, for the notifications about them.
void managed_client::remember_notes(const clients::server_call& c, const rpc::call_outcome& outcome, bool wants_task) {
  if (outcome.type == rpc::call_outcome::kind::error &&
      json::find_member(outcome.value, "code").as_integer() == url_elicitation_required) {
    std::size_t n = 0;
    json::for_each_element(json::find_member(json::find_member(outcome.value, "data"), "elicitations"),
                           [&](const json::raw_json& e) {
                             notes_.add(json::member_text(e, "elicitationId"), c.notified);
                             return ++n < most_elicitations;
                           });
  }
  if (outcome.type == rpc::call_outcome::kind::result && wants_task)
    notes_.add(json::member_text(json::find_member(outcome.value, "task"), "taskId"), c.notified);
}

// Remembers whose task it is that a call has made, for what the server asks about it later.
void managed_client::remember_owner(const clients::server_call& c, const rpc::call_outcome& outcome) {
  if (outcome.type != rpc::call_outcome::kind::result) return;
  std::string task = json::member_text(json::find_member(outcome.value, "task"), "taskId");
  if (task.empty() || task.size() > longest_task_id) return;
  std::erase_if(task_owners_, [&](const task_owner& o) { return o.task == task; });
  if (task_owners_.size() == most_task_owners) task_owners_.pop_front();
  task_owners_.push_back({std::move(task), c.principal, c.asker, {}});
  note_task_state(json::find_member(outcome.value, "task"));
}

// Notes whether a task is still at work, as its server says.
void managed_client::note_task_state(const json::raw_json& task) {
  if (task_owners_.empty()) return;
  const auto owner = std::ranges::find(task_owners_, json::member_text(task, "taskId"), &task_owner::task);
  if (owner == task_owners_.end()) return;
  const std::string state = json::member_text(task, "status");
  const bool over = state == "completed" || state == "failed" || state == "cancelled";
  const auto ttl = json::find_member(task, "ttl").as_integer();
  const milliseconds life =
      ttl && *ttl < longest_silent_task.count() ? milliseconds(std::max<std::int64_t>(*ttl, 0)) : longest_silent_task;
  owner->until = over ? time_point{} : context_.time.now() + life;
}

void managed_client::session_note(std::string_view method, const json::raw_json& params) {
  const bool of_task = method == "notifications/tasks/status";
  if (of_task) note_task_state(params);
  const auto handler = notes_.find(json::member_text(params, of_task ? "taskId" : "elicitationId"));
  if (!handler) return;
  const clients::deferred::call inside(context_.soon);
  handler(method, params);
}

}  // namespace mcpbx::mcp::supervise
