// Our side of JSON-RPC requests: numbers them, matches answers by exact id, keeps their two deadlines, and gives each
// exactly one outcome. Knows no I/O and no clock; the time is passed in.
#pragma once
#include "mcp/rpc/rpc_message.hpp"
#include "mcp/support/error.hpp"
#include "mcp/support/recycled.hpp"
#include "mcp/support/time.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace mcpbx::mcp::rpc {

/// Outcome of a request: the peer's answer, or the reason why there will be none.
struct call_outcome {
  enum class kind : std::uint8_t {
    result,  ///< `value` is the result object as the peer sent it
    error,   ///< `value` is the JSON-RPC error object as the peer sent it
    failed   ///< no answer; `failure` has the reason (timed_out, cancelled, unavailable, protocol, limit)
  };
  kind type = kind::failed;
  json::raw_json value;
  mcpbx::error failure;
  bool sent = false;    ///< for a failure: the request was sent, so it may have taken effect
  bool unseen = false;  ///< for a failure: the peer surely has not looked at it, and another session may send it again

  static call_outcome failed(errc code, std::string message) { return {kind::failed, {}, {code, std::move(message)}}; }
  static call_outcome lost(errc code, std::string message) {
    return {kind::failed, {}, {code, std::move(message)}, true};
  }
};

/// Time limits of one request. Progress moves the idle limit; nothing moves the hard one (docs/guarantees.md, G5, G6).
struct call_limits {
  milliseconds idle{60'000};
  milliseconds hard{600'000};
  bool operator==(const call_limits&) const = default;
};

using call_number = std::int64_t;

class pending_calls {
 public:
  using done_handler = std::move_only_function<void(call_outcome&&)>;
  using progress_handler = std::function<void(const json::raw_json& params)>;
  struct counters {
    std::uint64_t late = 0;       ///< answers to calls that had ended
    std::uint64_t unknown = 0;    ///< answers to ids that were never ours (wrong type included)
    std::uint64_t duplicate = 0;  ///< second answers
    std::uint64_t timed_out = 0;
  };

  /// Registers a call and returns its number, which is its JSON-RPC id and its progress token. Numbers rise from 1 and
  /// are never reused. Failures made here are clauses about the call ("gave no sign of life for 60 s"), to which the
  /// opener adds the subject.
  call_number open(call_limits limits, time_point now, done_handler done, progress_handler progress = {});

  /// Ends the call that a response matches, and takes the result or error out of it. Counts any other response, which
  /// stays whole. Returns true if there was a match.
  bool answer(message& response);
  bool answer(message&& response) { return answer(response); }
  /// Fails the call of a malformed response whose id is readable, with errc::protocol (G14).
  bool answer_malformed(const rpc_id& id, const std::string& what);
  /// Takes the peer's `notifications/progress`: extends the idle limit and calls the handler. Returns false for a
  /// foreign token.
  bool progress(const json::raw_json& params, time_point now);
  /// Ends a call locally (cancelled, refused). A later answer counts as late. Returns false if the call had ended.
  bool close(call_number number, call_outcome outcome);
  /// Stops both limits of a call while its peer waits for an answer of ours; one resume() for each pause(). Ignores
  /// calls that have ended.
  void pause(call_number number, time_point now);
  /// Continues the call: the pause does not count against the hard limit, and the idle limit starts again.
  void resume(call_number number, time_point now);
  /// Ends every open call with the same failure, in the order of their numbers.
  void close_all(errc code, const std::string& why);

  /// Returns the time for the next expire(): at the earliest deadline or before it, since an ended call may leave its
  /// deadline behind; `never` if no call is open.
  time_point next_deadline() const;
  /// Ends calls whose time is up; returns their numbers so that the peer can be told (notifications/cancelled).
  std::vector<call_number> expire(time_point now);

  std::size_t size() const noexcept { return calls_.size(); }
  /// Returns the number that open() will give next.
  call_number next_number() const noexcept { return next_; }
  bool contains(call_number n) const { return calls_.contains(n); }
  /// Returns true if a call with a smaller number than `n` is open that has a time limit, also if it is paused.
  bool has_older(call_number n) const;
  const counters& counts() const noexcept { return counters_; }

 private:
  struct call {
    call_limits limits;
    time_point idle_at, hard_at;
    done_handler done;
    progress_handler progress;
    int pauses = 0;
    time_point paused_since{};
  };
  /// A recently ended call, to distinguish a late answer from a second one.
  struct ended_call {
    call_number number = 0;
    bool answered = false;
  };
  using open_calls = recycling_map<call_number, call>;
  open_calls::node_type take(call_number number, bool answered);
  void count_stray(const rpc_id& id);

  open_calls calls_;
  call_number next_ = 1;
  time_point earliest_ = never;    // lower bound of all deadlines, updated lazily
  std::vector<ended_call> ended_;  // a ring
  std::size_t ended_at_ = 0;
  counters counters_;
};

}  // namespace mcpbx::mcp::rpc
