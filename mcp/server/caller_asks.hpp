// Our requests to one caller: bounded, limited in time, and ended with the call that they belong to. Numbers and
// answers are those of pending_calls, as towards tool servers. Knows no I/O; the time comes through the host.
#pragma once
#include "mcp/rpc/pending_calls.hpp"
#include "mcp/server/caller_host.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::mcp {

/// Owned by one session through a shared_ptr: each function keeps it alive, since a `done` may destroy the session.
class caller_asks final : public std::enable_shared_from_this<caller_asks> {
 public:
  struct options {
    std::size_t max_open = 64;         ///< requests that wait for their answer
    std::size_t max_bytes = 8u << 20;  ///< of all their texts together
  };
  /// Requests that end together, of which the caller has been told already. finish() calls their `done`s.
  class ending {
   public:
    ending() = default;
    void finish() const;

   private:
    friend class caller_asks;
    std::shared_ptr<caller_asks> asks_;  // null when there are none
    std::vector<call_number> numbers_;
  };

  /// `host` and `o` must outlive this or its close().
  caller_asks(caller_host& host, const options& o) : host_(&host), options_(o) {}

  /// Sends a request. errc::limit at the bounds, and then `done` will not come. `about`: as caller_host::send_ask.
  result<call_number> ask(std::string_view method, const raw_json& params, std::uint64_t about, milliseconds limit,
                          pending_calls::done_handler done);
  /// Takes a response, or one that broke the rules, as pending_calls does. False when it matches no open request.
  bool answer(message&& response);
  bool answer_malformed(const rpc_id& id, const std::string& what);
  /// Ends one as cancelled and tells the caller. False if it had ended.
  bool withdraw(call_number number, std::string_view reason);
  /// Tells the caller that those about this request of its own are cancelled. They end with what is returned.
  [[nodiscard]] ending end_about(std::uint64_t about);
  /// The caller says no more: all end as unavailable, and it is told.
  void end_input();
  /// Ends all as unavailable; nothing is sent any more.
  void close();

  bool closed() const noexcept { return host_ == nullptr; }
  std::size_t size() const noexcept { return pending_.size(); }

 private:
  struct open_ask {
    call_number number = 0;
    std::uint64_t about = 0;
    std::size_t bytes = 0;
  };
  open_ask take(call_number number);
  void tell(const open_ask& a, std::string_view reason);
  void arm();

  caller_host* host_;  // null once closed
  const options& options_;
  pending_calls pending_;
  std::vector<open_ask> open_;  // those of pending_
  std::size_t bytes_ = 0;
  std::unique_ptr<timer> timer_;  // null until the first request
  time_point armed_ = never;
};

}  // namespace mcpbx::mcp
