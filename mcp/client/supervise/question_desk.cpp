// Keeps open questions by their number; takes each out before code of others runs, which may ask or end others.
#include "mcp/client/supervise/question_desk.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace mcpbx::mcp::supervise {

void question_desk::ask(clients::client::ticket call, std::shared_ptr<clients::question_handler> handler,
                        clients::server_question q, time_point until, done_handler done) {
  const auto self = shared_from_this();
  const number n = ++last_;
  open_.emplace(n, question{call, handler, 0, false, until, std::move(done)});
  clients::question_handler::ticket ticket = 0;
  {
    const clients::deferred::call inside(soon_);
    ticket = handler->ask(std::move(q), [weak = weak_from_this(), n](rpc::call_outcome&& o) {
      if (const auto desk = weak.lock()) desk->answered(n, std::move(o));
    });
  }
  const auto found = open_.find(n);
  if (found != open_.end()) {
    found->second.ticket = ticket;
    found->second.asked = true;
    return;
  }
  // It ended inside: the handler does not know that yet, unless it has answered.
  const clients::deferred::call inside(soon_);
  handler->withdraw(ticket, "the call has ended");
}

void question_desk::answered(number n, rpc::call_outcome&& outcome) {
  auto taken = open_.extract(n);
  if (!taken.empty() && taken.mapped().done) taken.mapped().done(std::move(outcome));
}

void question_desk::take_back(question& q, std::string_view reason) {
  if (!q.asked) return;
  const clients::deferred::call inside(soon_);
  q.handler->withdraw(q.ticket, reason);
}

void question_desk::withdraw(number n, std::string_view reason) {
  auto taken = open_.extract(n);
  if (!taken.empty()) take_back(taken.mapped(), reason);
}

void question_desk::end_call(clients::client::ticket call, std::string_view reason) {
  const auto self = shared_from_this();
  const std::string why(reason);
  std::vector<number> of_call;
  for (const auto& [n, q] : open_)
    if (q.call == call) of_call.push_back(n);
  for (const number n : of_call) {
    auto taken = open_.extract(n);
    if (taken.empty()) continue;
    take_back(taken.mapped(), why);
    if (taken.mapped().done) taken.mapped().done(rpc::call_outcome::failed(errc::cancelled, why));
  }
}

void question_desk::clear(std::string_view reason) {
  const auto self = shared_from_this();
  for (auto& [n, q] : std::exchange(open_, {})) take_back(q, reason);
}

std::size_t question_desk::open(clients::client::ticket call) const {
  return static_cast<std::size_t>(std::ranges::count(open_, call, [](const auto& one) { return one.second.call; }));
}

void question_desk::expire(time_point now) {
  const auto self = shared_from_this();
  std::vector<number> due;
  for (const auto& [n, q] : open_)
    if (q.until <= now) due.push_back(n);
  for (const number n : due) {
    auto taken = open_.extract(n);
    if (taken.empty()) continue;
    const std::string why = "nobody has answered the question in time";
    take_back(taken.mapped(), why);
    if (taken.mapped().done) taken.mapped().done(rpc::call_outcome::failed(errc::timed_out, why));
  }
}

time_point question_desk::next_deadline() const {
  time_point next = never;
  for (const auto& [n, q] : open_) next = std::min(next, q.until);
  return next;
}

}  // namespace mcpbx::mcp::supervise
