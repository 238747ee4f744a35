// Calls at tool servers that wait for their modern callers' answers to questions: bounded in number, per principal and
// in bytes, each for a limited time. A caller asks for its call by a sealed text, the requestState, which says nothing
// to anybody else (2026-07-28, multi round-trip requests, "Server Requirements"). Knows no I/O.
#pragma once
#include "mcp/json/raw_json.hpp"
#include "mcp/seal/state_seal.hpp"
#include "mcp/server/tool_call_reply.hpp"
#include "mcp/support/error.hpp"
#include "mcp/support/time.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

namespace mcpbx::mcp::callers {

class caller_session;

/// The request with which a caller comes back for its call.
struct held_retry {
  caller_session* session = nullptr;  ///< through which it came
  tool_call_reply reply;
  json::raw_json arguments;  ///< its arguments, or absent
  json::raw_json token;      ///< its progress token, or absent
  json::raw_json responses;  ///< inputResponses: an object of objects, or absent
};

/// A call that can wait here.
class held_call {
 public:
  virtual ~held_call() = default;
  /// Goes on with a retry of its request. It has left the table.
  virtual void resume(held_retry retry) = 0;
  /// Ends the call at its tool server, since nobody will ask for it any more. It has left the table.
  virtual void give_up(std::string_view why) = 0;
};

/// The request that a held call belongs to. A requestState is good for this request only.
struct held_request {
  std::string_view principal;  ///< identity of the caller
  std::string_view method;     ///< "tools/call"
  std::string_view name;       ///< of the tool or prompt, or the URI, as the caller wrote it
  json::raw_json arguments;    ///< may be absent
};

/// One table for all callers of a daemon, since a retry may come on another connection.
class held_calls {
 public:
  /// The sentence about a requestState that is none of ours, or of an earlier daemon.
  static constexpr std::string_view foreign =
      "params.requestState: mcpbx did not give it, or it has been restarted since, or the text was changed; send the "
      "request again without it";
  struct options {
    std::size_t max_calls = 1024;
    std::size_t max_per_principal = 128;
    std::size_t max_bytes = 64u << 20;  ///< of requests, questions and results that came early
    std::size_t max_bytes_per_principal = 48u << 20;
    milliseconds expiry{600'000};  ///< time that a call waits for its retry
  };
  struct place {
    std::uint64_t id = 0;  ///< for keep() and release()
    std::string state;     ///< the requestState
  };

  /// Both arguments must outlive the table.
  held_calls(time_source& time, const options& o) : time_(time), options_(o) {}
  ~held_calls() { close("mcpbx is stopping"); }
  held_calls(const held_calls&) = delete;
  held_calls& operator=(const held_calls&) = delete;

  /// Holds a call that costs so many bytes. errc::limit: a bound is hit; the sentence names it.
  result<place> hold(std::shared_ptr<held_call> call, const held_request& request, std::size_t bytes);
  /// Gives a call back to its caller, once. errc::invalid_argument, with a sentence: the text was not made here, it was
  /// used, its time is over, or the request is another one; the call then stays.
  result<std::shared_ptr<held_call>> take(std::string_view state, const held_request& request);
  /// Counts more bytes for a held call. Returns false, and counts nothing, if there is no room.
  bool keep(std::uint64_t id, std::size_t more);
  /// Forgets a call that has ended. Ignores unknown ids.
  void release(std::uint64_t id);
  /// Gives up all calls.
  void close(std::string_view why);

  /// Returns true if this process made the text, so that it must reach no tool server.
  bool is_own(std::string_view state) const { return seal_.claims(state); }
  std::size_t size() const noexcept { return calls_.size(); }
  std::size_t bytes() const noexcept { return bytes_; }

 private:
  struct entry {
    std::shared_ptr<held_call> call;
    std::string digest, principal;
    std::size_t bytes = 0;
    time_point ends;
  };
  /// Calls of one principal.
  struct share {
    std::size_t calls = 0, bytes = 0;
  };
  bool has_room(const share& own, std::size_t more) const {
    return more <= options_.max_bytes - bytes_ && own.bytes + more <= options_.max_bytes_per_principal;
  }
  void forget(std::map<std::uint64_t, entry>::iterator found);
  void arm();
  void expire();

  time_source& time_;
  const options& options_;
  seal::state_seal seal_;
  std::map<std::uint64_t, entry> calls_;  // by id; also in the order of their ends
  std::unordered_map<std::string, share> by_principal_;
  std::size_t bytes_ = 0;
  std::uint64_t next_id_ = 1;
  std::unique_ptr<timer> timer_;  // null until the first call
  bool closed_ = false;
};

}  // namespace mcpbx::mcp::callers
