// Passes each question to who can answer it.
#include "daemon/front/rpc/opening_questions.hpp"

#include "daemon/front/base/door_context.hpp"
#include "mcp/protocol/questions/questions.hpp"
#include "mcp/support/text.hpp"

#include <boost/asio/post.hpp>

#include <string>
#include <string_view>
#include <utility>

namespace mcpbx::daemon {
namespace {

// Returns the kind of answer that a question is for, as an object of "asked its caller for".
std::string_view asked_for(std::string_view method) {
  if (method == "elicitation/create") return "input";
  return method == "sampling/createMessage" ? "the words of a model" : "an answer to a method of an extension";
}

}  // namespace

opening_questions::opening_questions(rpc_caller& caller, const mcp::reply_once& reply)
    : executor_(caller.door().executor), caller_(caller), reply_(reply) {}

opening_questions::ticket opening_questions::ask(mcp::server_question q, done_handler done) {
  const ticket t = ++last_;
  open_[t].done = std::move(done);
  const auto then = [weak = weak_from_this(), t](mcp::call_outcome&& outcome) {
    if (const auto self = weak.lock()) self->answered(t, std::move(outcome));
  };
  if (!reply_.open()) {
    answered(t, mcp::call_outcome::failed(errc::cancelled, "its caller is gone"));
    return t;
  }
  auto& session = caller_.session();
  if (session.may_be_asked(q)) {
    const auto params = mcp::question_params(q.params, q.server, false, "mcpbx-opening-" + std::to_string(t));
    auto asked = params ? session.ask(q.method, *params, &reply_, session.question_limit(), then, !q.extensions.empty())
                        : std::unexpected(params.error());
    if (const auto found = open_.find(t); found != open_.end() && asked) found->second.asked = *asked;
    if (!asked) answered(t, mcp::call_outcome::failed(asked.error().code, asked.error().message));
    return t;
  }
  if (auto other = caller_.own_answers(q)) {
    open_[t].other = other;
    const ticket theirs = other->ask(std::move(q), then);
    if (const auto found = open_.find(t); found != open_.end()) found->second.other_ticket = theirs;
    return t;
  }
  if (unanswered_.empty() && q.method != "roots/list")
    unanswered_ =
        "it asked its caller for " + std::string(asked_for(q.method)) + " (" + std::string(cut_utf8(q.method, 80)) +
        "), which a run cannot give before it has begun: `mcpbx ask` at a terminal or with --input can, and a "
        "caller that has declared it in initialize";
  bool error = false;
  raw_json declined = mcp::declined_answer(q.method, error);
  answered(t, {error ? mcp::call_outcome::kind::error : mcp::call_outcome::kind::result, std::move(declined), {}});
  return t;
}

// Gives a question its outcome in a later turn, since ask() may be on the stack.
void opening_questions::answered(ticket t, mcp::call_outcome&& outcome) {
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
  if (q.other)
    q.other->withdraw(q.other_ticket, reason);
  else if (q.asked != 0 && reply_.open())
    caller_.session().withdraw(q.asked, reason);
}

}  // namespace mcpbx::daemon
