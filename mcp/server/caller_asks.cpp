// Sends requests of mcpbx to one caller and ends them: answers, time limits, cancellation.
#include "mcp/server/caller_asks.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace mcpbx::mcp::callers {

result<rpc::call_number> caller_asks::ask(std::string_view method, const json::raw_json& params, std::uint64_t about,
                                          milliseconds limit, rpc::pending_calls::done_handler done) {
  const auto self = shared_from_this();
  if (pending_.size() >= options_.max_open)
    return fail(errc::limit, "the caller has " + std::to_string(pending_.size()) +
                                 " requests of mcpbx to answer already; wait for some of them");
  const rpc::call_number number = pending_.next_number();
  const json::segments text = rpc::make_request(number, method, params);
  if (text.size() > options_.max_bytes - bytes_)
    return fail(errc::limit, "requests that wait for the caller may hold " + std::to_string(options_.max_bytes) +
                                 " bytes together; this one has " + std::to_string(text.size()) + " and others have " +
                                 std::to_string(bytes_));
  open_.push_back({number, about, text.size()});
  bytes_ += text.size();
  pending_.open({.idle = limit, .hard = limit}, host_->time().now(),
                [this, number, done = std::move(done)](rpc::call_outcome&& outcome) mutable {
                  const open_ask ended = take(number);
                  // Notify the caller before `done`, which may answer the call that this request belongs to.
                  if (outcome.type == rpc::call_outcome::kind::failed && outcome.failure.code == errc::timed_out)
                    tell(ended, "timed out");
                  done(std::move(outcome));
                });
  arm();
  host_->send_ask(about, text, rpc::outgoing::request(number));
  return number;
}

bool caller_asks::answer(rpc::message&& response) {
  const auto self = shared_from_this();
  return pending_.answer(std::move(response));
}

bool caller_asks::answer_malformed(const rpc::rpc_id& id, const std::string& what) {
  const auto self = shared_from_this();
  return pending_.answer_malformed(id, what);
}

bool caller_asks::withdraw(rpc::call_number number, std::string_view reason) {
  const auto self = shared_from_this();
  const auto found = std::ranges::find(open_, number, &open_ask::number);
  if (found == open_.end()) return false;
  auto outcome = rpc::call_outcome::lost(errc::cancelled, "was cancelled: " + std::string(reason));
  tell(open_ask(*found), reason);
  return pending_.close(number, std::move(outcome));
}

caller_asks::ending caller_asks::end_about(std::uint64_t about) {
  ending e;
  const auto self = shared_from_this();
  std::vector<open_ask> ends;
  std::ranges::copy_if(open_, std::back_inserter(ends), [&](const open_ask& a) { return a.about == about; });
  if (ends.empty()) return e;
  e.asks_ = self;
  for (const open_ask& a : ends) {
    e.numbers_.push_back(a.number);
    tell(a, "the request that it belongs to has ended");
  }
  return e;
}

void caller_asks::ending::finish() const {
  for (const rpc::call_number n : numbers_)
    asks_->pending_.close(
        n, rpc::call_outcome::lost(errc::cancelled, "was cancelled: the request that it belongs to has ended"));
}

void caller_asks::end_input() {
  const auto self = shared_from_this();
  for (const open_ask& a : std::vector(open_)) tell(a, "the caller can answer no more");
  pending_.close_all(errc::unavailable, "will not be answered: the caller has ended its side of the connection");
}

void caller_asks::close() {
  const auto self = shared_from_this();
  host_ = nullptr;
  if (timer_) timer_->cancel();
  pending_.close_all(errc::unavailable, "will not be answered: the caller is gone");
}

caller_asks::open_ask caller_asks::take(rpc::call_number number) {
  const auto found = std::ranges::find(open_, number, &open_ask::number);
  const open_ask taken = *found;
  open_.erase(found);
  bytes_ -= taken.bytes;
  arm();
  return taken;
}

void caller_asks::tell(const open_ask& a, std::string_view reason) {
  if (host_) host_->send_ask(a.about, rpc::make_cancelled(a.number, reason), rpc::outgoing::cancellation(a.number));
}

void caller_asks::arm() {
  if (!host_) return;
  const time_point next = pending_.next_deadline();
  if (std::exchange(armed_, next) == next) return;
  if (!timer_) timer_ = host_->time().make_timer();
  if (next == never) return timer_->cancel();
  timer_->arm(next, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self || !self->host_) return;
    self->armed_ = never;
    self->pending_.expire(self->host_->time().now());
    self->arm();
  });
}

}  // namespace mcpbx::mcp::callers
