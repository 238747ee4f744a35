// A caller that speaks HTTP: its access, and the handler of each request.
#pragma once
#include "daemon/front/base/caller.hpp"
#include "daemon/front/base/door_context.hpp"
#include "daemon/front/base/http_access.hpp"
#include "daemon/front/exchange/exchange.hpp"
#include "daemon/front/exchange/route.hpp"
#include "mcp/http/server/server_connection.hpp"

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::daemon::http_door {

/// Identifies a caller on the port. Calls `then` once, at once or in a later turn, with the name of a tool server, "",
/// or the sentence for a refused caller.
using identity_question = std::function<void(std::function<void(result<std::string>)> then)>;

class http_caller final : public std::enable_shared_from_this<http_caller>,
                          public front::caller,
                          private http::servers::server_events,
                          private routes::exchange::outlet {
 public:
  /// Takes ownership of the connected socket. `who` is for logs, `principal` for the records of its runs, `pid` (-1:
  /// not known) for the audit. `door` and `rules` must outlive it. `identify` is called before the first answer.
  http_caller(front::door_context& door, int fd, const front::http_rules& rules, std::string who, std::string principal,
              pid_t pid = -1, identity_question identify = {});
  ~http_caller() override;

  void start() override;
  void close(std::string_view why) override;
  std::size_t outbox_bytes() const override { return line_.unsent() + (going_ ? going_->waiting() : 0); }
  std::uint64_t taken_bytes() const override { return line_.taken(); }
  std::size_t open_requests() const override { return asked_ ? 1 : 0; }
  void count_into(front::door_counters& counters) const override;
  bool was_large() const override { return was_large_; }
  /// Returns true after a permitted request. Callers on the port without one are closed after 5 s.
  bool authorized() const noexcept { return authorized_; }
  /// Returns the time since which the caller waits between two requests, or `never`: it does not.
  time_point rests_since() const noexcept { return !asked_ && line_.resting() ? rests_since_ : never; }

 private:
  std::optional<http::servers::server_answer> on_head(const http::servers::request_head& head) override;
  void on_request(http::servers::request_head head, shared_bytes body) override;
  http::servers::server_answer on_fault(int status, std::string_view what) override;
  void on_drained() override;
  void on_left(const std::string& why) override;

  void answer(http::servers::server_answer a, bool fault) override;
  void begin(int status, std::vector<http::header> headers) override { line_.begin(status, std::move(headers)); }
  void send(std::string_view part) override { line_.send(part); }
  void send_alone(std::string_view part) override { line_.send_alone(part); }
  void finish(bool whole) override;
  std::size_t unsent() const override { return line_.unsent(); }

  void serve(http::servers::request_head head, shared_bytes body);
  void ended();

  front::door_context& door_;
  const front::http_rules& rules_;
  std::string who_, principal_;
  const pid_t pid_;
  identity_question identify_;  // unset: already identified
  std::unique_ptr<timer> patience_;
  http::servers::server_connection line_;
  std::shared_ptr<routes::exchange> going_;               // the request that a handler answers; null between requests
  routes::fault_form form_ = routes::fault_form::openai;  // of the path of the last request
  time_point rests_since_;
  std::uint64_t requests_ = 0, faults_ = 0;
  bool asked_ = false, closed_ = false, was_large_ = false, authorized_ = false;
};

}  // namespace mcpbx::daemon::http_door
