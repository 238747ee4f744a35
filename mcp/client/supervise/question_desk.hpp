// The open questions of one tool server: whom they were passed to, and until when they may be answered. Sees to it that
// each is answered or withdrawn exactly once, whatever its handler does.
#pragma once
#include "mcp/client/client.hpp"
#include "mcp/client/deferred.hpp"
#include "mcp/support/time.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string_view>

namespace mcpbx::mcp::supervise {

class question_desk : public std::enable_shared_from_this<question_desk> {
 public:
  using number = std::uint64_t;  ///< names a question; never reused, never 0
  using done_handler = std::move_only_function<void(rpc::call_outcome&&)>;

  explicit question_desk(std::shared_ptr<clients::deferred> soon) : soon_(std::move(soon)) {}

  /// Returns the number that the next question will have.
  number next_number() const noexcept { return last_ + 1; }
  /// Passes a question on. `done` gets its outcome once, unless it is withdrawn; inside the call only if the handler
  /// ends `call` there.
  void ask(clients::client::ticket call, std::shared_ptr<clients::question_handler> handler, clients::server_question q,
           time_point until, done_handler done);
  /// Takes a question back, without an outcome.
  void withdraw(number n, std::string_view reason);
  /// Takes all questions of a call back. Each gets the outcome that the call has ended.
  void end_call(clients::client::ticket call, std::string_view reason);
  /// Takes all questions back, without an outcome.
  void clear(std::string_view reason);
  /// Returns the number of open questions of a call.
  std::size_t open(clients::client::ticket call) const;
  /// Returns the call that an open question belongs to, or 0.
  clients::client::ticket call_of(number n) const {
    const auto found = open_.find(n);
    return found == open_.end() ? 0 : found->second.call;
  }
  bool empty() const noexcept { return open_.empty(); }

  /// Ends questions whose time is up, with errc::timed_out.
  void expire(time_point now);
  /// Returns the time for the next expire(), or `never`.
  time_point next_deadline() const;

 private:
  struct question {
    clients::client::ticket call = 0;
    std::shared_ptr<clients::question_handler> handler;
    clients::question_handler::ticket ticket = 0;
    bool asked = false;  // `ticket` is known
    time_point until = never;
    done_handler done;
  };
  void answered(number n, rpc::call_outcome&& outcome);
  void take_back(question& q, std::string_view reason);

  std::shared_ptr<clients::deferred> soon_;
  std::map<number, question> open_;
  number last_ = 0;
};

}  // namespace mcpbx::mcp::supervise
