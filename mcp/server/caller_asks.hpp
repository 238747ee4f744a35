// Requests of mcpbx to one caller: bounded, limited in time, and ended with the call that they belong to. Numbers and
// answers are those of pending_calls, as towards tool servers. Knows no I/O; the time comes through the host.
#pragma once
#include "mcp/rpc/pending_calls.hpp"
#include "mcp/server/base/caller_host.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::mcp::callers {

/// The open requests of one session, which owns them by a shared_ptr. Each function keeps them alive, since a `done`
/// may destroy the session.
class caller_asks final : public std::enable_shared_from_this<caller_asks> {
 public:
  struct options {
    std::size_t max_open = 64;         ///< requests that wait for their answer
    std::size_t max_bytes = 8u << 20;  ///< bytes of all their texts together
  };
  /// Requests that end together, after the caller was notified. finish() calls their `done`s.
  class ending {
   public:
    ending() = default;
    /// Returns false if there are none.
    explicit operator bool() const noexcept { return asks_ != nullptr; }
    void finish() const;

   private:
    friend class caller_asks;
    std::shared_ptr<caller_asks> asks_;  // null if there are none
    std::vector<rpc::call_number> numbers_;
  };

  /// Starts without requests. `host` and `o` must outlive this object or its close().
  caller_asks(server::caller_host& host, const options& o) : host_(&host), options_(o) {}

  /// Sends a request. Fails with errc::limit at the bounds; `done` is not called then. `about`: as in
  /// caller_host::send_ask.
  result<rpc::call_number> ask(std::string_view method, const json::raw_json& params, std::uint64_t about,
                               milliseconds limit, rpc::pending_calls::done_handler done);
  /// Takes a response, also a malformed one, as pending_calls does. Returns false if it matches no open request.
  bool answer(rpc::message&& response);
  bool answer_malformed(const rpc::rpc_id& id, const std::string& what);
  /// Ends one request as cancelled and tells the caller. Returns false if it had ended.
  bool withdraw(rpc::call_number number, std::string_view reason);
  /// Tells the caller that the requests about this request of its own are cancelled. The returned object ends them.
  [[nodiscard]] ending end_about(std::uint64_t about);
  /// Ends all requests as unavailable and tells the caller, which sends nothing any more.
  void end_input();
  /// Ends all requests as unavailable; nothing is sent any more.
  void close();

  bool closed() const noexcept { return host_ == nullptr; }
  std::size_t size() const noexcept { return pending_.size(); }

 private:
  struct open_ask {
    rpc::call_number number = 0;
    std::uint64_t about = 0;
    std::size_t bytes = 0;
  };
  open_ask take(rpc::call_number number);
  void tell(const open_ask& a, std::string_view reason);
  void arm();

  server::caller_host* host_;  // null once closed
  const options& options_;
  rpc::pending_calls pending_;
  std::vector<open_ask> open_;  // the open requests of pending_
  std::size_t bytes_ = 0;
  std::unique_ptr<timer> timer_;  // null until the first request
  time_point armed_ = never;
};

}  // namespace mcpbx::mcp::callers
