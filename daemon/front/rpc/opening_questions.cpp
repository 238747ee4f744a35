// Passes each question to who can answer it.
#include "daemon/front/rpc/opening_questions.hpp"

#include "daemon/front/base/door_context.hpp"
#include "daemon/loop/json/event_json.hpp"
#include "daemon/loop/run/server_questions.hpp"
#include "mcp/protocol/questions/elicitation.hpp"
#include "mcp/protocol/questions/questions.hpp"
#include "mcp/support/text.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::daemon::rpc_door {
namespace {

// Returns the kind of answer that a question is for, as an object of "asked its caller for".
std::string_view asked_for(std::string_view method) {
  if (method == "elicitation/create") return "input";
  return method == "sampling/createMessage" ? "the words of a model" : "an answer to a method of an extension";
}

}  // namespace

opening_questions::opening_questions(rpc_caller& caller, const mcp::server::reply_once& reply,
                                     std::shared_ptr<run::run_feed> feed, milliseconds limit,
                                     trace::trace_context trace)
    : executor_(caller.door().executor),
      caller_(caller),
      reply_(reply),
      feed_(std::move(feed)),
      limit_(limit),
      trace_(std::move(trace)) {}

// Sends the question as an event of the run. Returns false if nobody would answer that.
bool opening_questions::ask_by_event(ticket t, const mcp::clients::server_question& q) {
  if (q.method != answers::elicitation_method || !reaches_reader()) return false;
  if (const auto read = mcp::questions::read_input_request(q.params); !read) {
    answered(t, mcp::rpc::call_outcome::failed(read.error().code, read.error().message));
    return true;
  }
  auto& door = caller_.door();
  question& open = open_[t];
  open.event.id = "q_opening_" + std::to_string(t);
  open.event.kind = "input";
  open.event.body = event_json::input(q.server, "", q.params);
  open.event.expires_ms = door.time.wall_ms() + limit_.count();
  open.limit = door.time.make_timer();
  open.limit->arm(door.time.now() + limit_, [weak = weak_from_this(), t] {
    if (const auto self = weak.lock())
      self->end_event(t, {.id = {}, .body = mcp::questions::input_answer("cancel"), .expired = true});
  });
  feed_->push({run::run_event::kind::question, {}, open.event.id, event_json::question(open.event)});
  return true;
}

// Tells the readers that a question is over, and its server the answer.
void opening_questions::end_event(ticket t, stored::record::answer a) {
  const auto found = open_.find(t);
  if (found == open_.end() || found->second.event.id.empty()) return;
  const auto self = shared_from_this();
  a.id = std::exchange(found->second.event.id, {});
  found->second.limit.reset();
  json::raw_json body = a.body;
  if (!feed_->over()) feed_->push({run::run_event::kind::answer, {}, a.id, event_json::answer(a)});
  answered(t, {mcp::rpc::call_outcome::kind::result, std::move(body), {}});
}

result<void> opening_questions::answer(const std::string& id, const json::raw_json& body) {
  const auto found = std::ranges::find_if(open_, [&](const auto& one) { return one.second.event.id == id; });
  if (id.empty() || found == open_.end())
    return fail(errc::not_found,
                "no question " + json::json_quoted(id) + " is open in this run; it was answered or has expired");
  if (auto right = run::server_questions::check(found->second.event, body); !right) return right;
  end_event(found->first, {.id = {}, .body = body.detached()});
  return {};
}

void opening_questions::nobody_answers() {
  const auto self = shared_from_this();
  std::vector<ticket> asked;
  for (const auto& [t, q] : open_)
    if (!q.event.id.empty()) asked.push_back(t);
  for (const ticket t : asked)
    end_event(t, {.id = {}, .body = mcp::questions::input_answer("cancel"), .expired = true, .mute = true});
}

opening_questions::ticket opening_questions::ask(mcp::clients::server_question q, done_handler done) {
  const ticket t = ++last_;
  open_[t].done = std::move(done);
  const auto then = [weak = weak_from_this(), t](mcp::rpc::call_outcome&& outcome) {
    if (const auto self = weak.lock()) self->answered(t, std::move(outcome));
  };
  if (!reply_.open()) {
    answered(t, mcp::rpc::call_outcome::failed(errc::cancelled, "its caller is gone"));
    return t;
  }
  if (ask_by_event(t, q)) return t;
  auto& session = caller_.session();
  if (session.may_be_asked(q)) {
    const auto params =
        mcp::questions::question_params(q.params, q.server, false, "mcpbx-opening-" + std::to_string(t));
    const auto limit = std::min(session.question_limit(), limit_);
    auto asked = params ? session.ask(q.method, *params, &reply_, limit, then, !q.extensions.empty())
                        : std::unexpected(params.error());
    if (const auto found = open_.find(t); found != open_.end() && asked) found->second.asked = *asked;
    if (!asked) answered(t, mcp::rpc::call_outcome::failed(asked.error().code, asked.error().message));
    return t;
  }
  if (auto other = caller_.own_answers(q)) {
    open_[t].other = other;
    q.trace = trace_;
    const ticket theirs = other->ask(std::move(q), then);
    if (const auto found = open_.find(t); found != open_.end()) found->second.other_ticket = theirs;
    return t;
  }
  if (unanswered_.empty() && q.method != "roots/list")
    unanswered_ = "it asked its caller for " + std::string(asked_for(q.method)) + " (" +
                  std::string(cut_utf8(q.method, 80)) +
                  "), and nobody here answers: `mcpbx ask` at a terminal or with --input does, a caller that asks with "
                  "\"answers\": true, and one that has declared it in initialize";
  bool error = false;
  json::raw_json declined = mcp::questions::declined_answer(q.method, error);
  answered(
      t, {error ? mcp::rpc::call_outcome::kind::error : mcp::rpc::call_outcome::kind::result, std::move(declined), {}});
  return t;
}

// Gives a question its outcome in a later turn, since ask() may be on the stack.
void opening_questions::answered(ticket t, mcp::rpc::call_outcome&& outcome) {
  boost::asio::post(executor_, [weak = weak_from_this(), t, outcome = std::move(outcome)]() mutable {
    const auto self = weak.lock();
    auto taken = self ? self->open_.extract(t) : decltype(self->open_)::node_type();
    if (!taken.empty()) taken.mapped().done(std::move(outcome));
  });
}

void opening_questions::withdraw(ticket t, std::string_view reason) {
  auto taken = open_.extract(t);
  if (taken.empty()) return;
  const question& q = taken.mapped();
  if (!q.event.id.empty() && !feed_->over()) {
    const stored::record::answer gone{
        .id = q.event.id, .body = mcp::questions::input_answer("cancel"), .withdrawn = true};
    feed_->push({run::run_event::kind::answer, {}, gone.id, event_json::answer(gone)});
  }
  if (q.other)
    q.other->withdraw(q.other_ticket, reason);
  else if (q.asked != 0 && reply_.open())
    caller_.session().withdraw(q.asked, reason);
}

}  // namespace mcpbx::daemon::rpc_door
