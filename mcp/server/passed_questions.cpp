// The questions of the tool server about a call: who answers them, and the way of a modern caller's answers.
#include "mcp/json/json_writer.hpp"
#include "mcp/protocol/extensions.hpp"
#include "mcp/protocol/questions/questions.hpp"
#include "mcp/protocol/revisions.hpp"
#include "mcp/server/base/rpc_errors.hpp"
#include "mcp/server/caller_session.hpp"
#include "mcp/server/passed_call.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::mcp::callers {

passed_call::question* passed_call::find(ticket t) {
  const auto found = std::ranges::find(questions_, t, &question::number);
  return found == questions_.end() ? nullptr : &*found;
}

clients::question_handler::ticket passed_call::ask(clients::server_question q, done_handler done) {
  const auto self = shared_from_this();
  const ticket t = next_++;
  const bool full = questions_.size() >= most_questions;
  question& added = questions_.emplace_back();
  added.number = t;
  added.what = std::move(q);
  added.what.trace = trace_;
  added.done = std::move(done);
  if (full)
    settle(t, rpc::call_outcome::failed(
                  errc::limit, "has " + std::to_string(most_questions) + " questions open about this call already"));
  else
    route(t);
  return t;
}

// Finds the answerer of a question: the caller if it can, else the part that answers in its place, else nobody. A
// question that comes while the caller is away waits for it.
void passed_call::route(ticket t) {
  question& q = *find(t);
  if (!attached()) {
    if (!held_) decline(q);  // the call ends
    return;
  }
  if (ask_caller(q)) return;
  question* asked = find(t);  // the caller may have left
  if (!asked || asked->where != question::place::waiting) return;
  auto other = attached() ? session_->host().own_answers(asked->what) : nullptr;
  if (!other && lacks_sampling(*asked)) return;
  if (!other) return decline(*asked);
  asked->where = question::place::other;
  asked->other = other;
  const ticket number = other->ask(asked->what, [weak = weak_from_this(), t](rpc::call_outcome&& outcome) {
    if (const auto self = weak.lock()) self->answered(t, std::move(outcome));
  });
  if ((asked = find(t))) asked->other_ticket = number;
}

bool passed_call::can_answer(const clients::server_question& q) {
  if (!attached()) return held_ != nullptr;
  return answers(q) || session_->host().lends(q);
}

// Returns true if the caller itself can answer. The rounds of a modern caller belong to methods of MCP, so that it is
// asked nothing about a method of an extension.
bool passed_call::answers(const clients::server_question& q) const {
  const server::modern_request* m = reply_.request().modern();
  if (!m) return session_->may_be_asked(q);
  if (shape_.to == call_shape::target::extension || !session_->host().held()) return false;
  return q.extensions.empty() ? protocol::check_answerable(m->able, q.method, q.params).has_value()
                              : protocol::lists_one_of(m->capabilities, q.extensions);
}

// Asks the caller, or lets the question wait for others if the caller is a modern one. Returns false if it cannot
// answer.
bool passed_call::ask_caller(question& q) {
  if (!answers(q.what)) return false;
  if (modern()) {
    gather();
    return true;
  }
  const ticket t = q.number;
  const std::string token = q.what.progress ? progress_token(t) : std::string();
  const auto params =
      questions::question_params(q.what.params, server_name_, false, "mcpbx-" + std::to_string(t), token);
  if (!params) {
    settle(t, rpc::call_outcome::failed(params.error().code, "cannot be passed on: params: " + params.error().message));
    return true;
  }
  q.where = question::place::caller;
  const auto asked = session_->ask(
      q.what.method, *params, &reply_.request(), session_->question_limit(),
      [weak = weak_from_this(), t](rpc::call_outcome&& outcome) {
        if (const auto self = weak.lock()) self->answered(t, std::move(outcome));
      },
      !q.what.extensions.empty());
  if (question* now = find(t); now && asked) {
    now->asked = *asked;
    if (!token.empty() && attached()) session_->take_progress(token, now->what.progress);
  } else if (now && now->where == question::place::caller)
    settle(t, rpc::call_outcome::failed(asked.error().code, asked.error().message));
  return true;
}

// Ends the request of a modern caller for which a legacy server wants sampling: "the server MUST return a
// MissingRequiredClientCapabilityError" (2026-07-28, basic). Roots and elicitation have an answer that declines.
bool passed_call::lacks_sampling(const question& q) {
  if (!modern() || modern_server_ || q.what.method != "sampling/createMessage" ||
      shape_.to == call_shape::target::extension)
    return false;
  const bool tools = json::find_member(q.what.params, "tools") || json::find_member(q.what.params, "toolChoice");
  detach();
  reply_.failed(rpc::rpc_error{
      protocol::mcp_code::missing_client_capability,
      "the tool server " + json::json_quoted(server_name_) + " needs its caller to answer " + q.what.method,
      json::raw_json::literal(tools ? R"({"requiredCapabilities":{"sampling":{"tools":{}}}})"
                                    : R"({"requiredCapabilities":{"sampling":{}}})")});
  cancel("its caller cannot answer its question");
  return true;
}

// Gives a question its outcome in the next turn, since ask() may be on the stack.
void passed_call::settle(ticket t, rpc::call_outcome outcome) {
  question* q = find(t);
  if (!q) return;
  q->where = question::place::settled;
  q->outcome = std::move(outcome);
  if (!flush_timer_) flush_timer_ = time_.make_timer();
  flush_timer_->arm_next([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->flush();
  });
}

void passed_call::decline(question& q) {
  bool error = false;
  json::raw_json answer = questions::declined_answer(q.what.method, error);
  settle(q.number, {error ? rpc::call_outcome::kind::error : rpc::call_outcome::kind::result, std::move(answer), {}});
}

// Returns the token for the progress of the caller's answer, which no other question of the session has.
std::string passed_call::progress_token(ticket t) const {
  return "mcpbx-" + std::to_string(reply_.request().serial()) + "-" + std::to_string(t);
}

void passed_call::answered(ticket t, rpc::call_outcome&& outcome) {
  if (attached()) session_->no_progress(progress_token(t));
  if (find(t)) settle(t, std::move(outcome));
}

void passed_call::flush() {
  const auto self = shared_from_this();
  while (true) {
    const auto found = std::ranges::find(questions_, question::place::settled, &question::where);
    if (found == questions_.end()) return;
    question q = std::move(*found);
    questions_.erase(found);
    q.done(std::move(q.outcome));
  }
}

void passed_call::withdraw(ticket t, std::string_view reason) {
  const auto self = shared_from_this();
  const auto found = std::ranges::find(questions_, t, &question::number);
  if (found == questions_.end()) return;
  const question q = std::move(*found);
  questions_.erase(found);
  if (q.where == question::place::caller && attached()) {
    session_->no_progress(progress_token(t));
    session_->withdraw(q.asked, reason);
  }
  if (q.where == question::place::other) q.other->withdraw(q.other_ticket, reason);
}

void passed_call::end_questions(std::string_view why) {
  while (!questions_.empty()) withdraw(questions_.back().number, why);
  if (gather_timer_) gather_timer_->cancel();
  gather_until_ = never;
}

// Waits a little for further questions, since each round costs the person a turn.
void passed_call::gather() {
  const auto now = time_.now();
  const auto& wait = session_->gathering();
  if (gather_until_ == never) gather_until_ = now + 4 * wait;
  if (!gather_timer_) gather_timer_ = time_.make_timer();
  gather_timer_->arm(std::min(now + wait, gather_until_), [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->park();
  });
}

// Ends the caller's request with all questions that wait, and holds the call until it comes back.
void passed_call::park() {
  const auto self = shared_from_this();
  gather_until_ = never;
  if (!attached()) return;
  std::string requests;
  json::json_writer w(requests);
  w.begin_object();
  std::size_t bytes = sizeof(*this) + name_.size() + arguments_.text().size();
  for (question& q : questions_) {
    if (q.where != question::place::waiting) continue;
    const auto params = questions::question_params(q.what.params, server_name_, true, {});
    if (!params) {
      settle(q.number,
             rpc::call_outcome::failed(params.error().code, "cannot be passed on: params: " + params.error().message));
      continue;
    }
    q.where = question::place::parked;
    bytes += q.what.params.text().size() + sizeof(question);
    w.key("q" + std::to_string(q.number)).begin_object();
    w.member("method", q.what.method).member("params", *params).end_object();
  }
  w.end_object();
  if (requests == "{}") return;
  held_calls* const table = session_->host().held();
  const auto place = table ? table->hold(self, {session_->host().principal(), shape_.method, name_, arguments_}, bytes)
                           : fail(errc::unavailable, "mcpbx cannot keep the call until its caller answers");
  if (!place) {
    detach();
    reply_.failed(server::to_rpc_error(place.error(), server_name_));
    return cancel("its caller cannot be asked");
  }
  held_ = table;
  held_id_ = place->id;
  std::string json;
  json::json_writer(json)
      .begin_object()
      .member("resultType", "input_required")
      .key("inputRequests")
      .token(requests)
      .member("requestState", place->state)
      .end_object();
  detach();
  reply_.result(json::raw_json::own(json));
}

void passed_call::resume(held_retry retry) {
  const auto self = shared_from_this();
  held_ = nullptr;
  session_ = retry.session;
  reply_ = std::move(retry.reply);
  arguments_ = std::move(retry.arguments);
  token_ = std::move(retry.token);
  reply_.called(server_name_);
  attach();
  if (over_) return answer(std::exchange(outcome_, {}));
  take_answers(retry.responses);
}

// Gives the server the answers that are there, and asks again for the others.
void passed_call::take_answers(const json::raw_json& responses) {
  std::vector<ticket> unanswered;
  for (question& q : questions_) {
    if (q.where != question::place::parked && q.where != question::place::waiting) continue;
    json::raw_json value;
    if (q.where == question::place::parked) value = json::find_member(responses, "q" + std::to_string(q.number));
    q.where = question::place::waiting;
    if (value)
      settle(q.number, {rpc::call_outcome::kind::result, value.detached(), {}});
    else
      unanswered.push_back(q.number);
  }
  for (const ticket t : unanswered)
    if (const question* q = find(t); q && q->where == question::place::waiting) route(t);
}

}  // namespace mcpbx::mcp::callers
