// One session with a tool server: its connection and the conversation over it. The shell around session_core;
// managed_client owns one at a time and destroys it in a later turn when it is over.
#pragma once
#include "mcp/client/connect/connector.hpp"
#include "mcp/client/deferred.hpp"
#include "mcp/client/session/session_core.hpp"
#include "mcp/client/session/write_window.hpp"
#include "mcp/support/time.hpp"
#include "mcp/transport/transport.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace mcpbx::mcp::supervise {

/// Events of a session, beside those of the conversation. They come from inside its functions; the session must not be
/// destroyed there, only detached.
class server_session_events : public session::session_events {
 public:
  virtual void session_not_opened(const connect::link_failure& failure) = 0;
  virtual void session_ended(const std::string& how) = 0;
  /// Reports that the server has ended this session and wants a new one. `how` is a predicate about the server.
  virtual void session_expired(const std::string& how) = 0;
  /// Reports that the server does not read, or closed a stream and lives on. `why` is a clause about the server.
  virtual void session_lost(const std::string& why) = 0;
  /// Reports that an event has been handled.
  virtual void session_settled() = 0;
};

class server_session final : private connect::link_events,
                             private transports::transport_events,
                             private session::session_output {
 public:
  /// Time that a server may live on after it closed a stream, before it counts as lost: its exit explains more.
  static constexpr milliseconds end_grace{250};

  server_session(server_session_events& owner, time_source& time, std::shared_ptr<clients::deferred> soon,
                 session::session_core::options options);
  ~server_session() override = default;
  server_session(const server_session&) = delete;
  server_session& operator=(const server_session&) = delete;

  void open(connect::connector& way);
  /// Returns null before the session is open.
  session::session_core* core() noexcept { return core_.get(); }
  bool ready() const noexcept { return core_ && core_->ready(); }

  /// Sends a request; see session_core::call.
  result<rpc::call_number> call(const clients::server_call& c, rpc::call_limits limits, time_point now,
                                rpc::pending_calls::done_handler done, rpc::pending_calls::progress_handler progress);
  /// Replaces session_core::options::extensions, also before the session is open.
  void set_extensions(const protocol::extension_rules& rules);
  std::size_t unsent() const noexcept { return transport_ ? transport_->unsent() : 0; }
  /// Returns true if a request may come back unseen (call_outcome::unseen), so that its params are kept.
  bool gives_back() const noexcept { return transport_ && transport_->mirrors(); }
  std::size_t unsent_requests() { return window_.requests(unsent()); }
  /// Returns the requests that unsent_requests() counted last.
  const std::deque<session::write_window::request>& unwritten() const noexcept { return window_.unwritten(); }
  /// Takes a step towards the end. Returns false if there is no end to wait for.
  bool end(connect::ending step);
  /// Ends the conversation: open calls fail with this error, nothing is sent any more.
  void close_session(errc code, const std::string& why);
  /// Stops all events and closes the connection. Destroying the session ends the rest.
  void detach();

  void tick(time_point now);
  time_point next_time() const;

 private:
  void on_open(std::unique_ptr<transports::transport> connection) override;
  void on_not_opened(const connect::link_failure& failure) override;
  void on_ended(const std::string& how) override;
  void on_expired(connect::link_expiry&& expiry) override;
  void on_message(rpc::message&& m) override;
  void on_fault(rpc::message_fault fault) override;
  void on_lost(rpc::lost_request&& lost) override;
  void on_drained() override;
  void on_closed(const error& why) override;
  void session_send(const json::segments& text, rpc::outgoing what) override;
  std::size_t session_unsent() const override { return unsent(); }

  server_session_events* owner_;  // null once detached
  time_source& time_;
  std::shared_ptr<clients::deferred> soon_;
  session::session_core::options options_;
  std::unique_ptr<connect::server_link> link_;
  std::unique_ptr<transports::transport> transport_;
  std::unique_ptr<session::session_core> core_;
  session::write_window window_;
  const clients::server_call* sending_ = nullptr;  // the request that is being handed to the connection
  bool closing_ = false, connected_ = false;
  time_point lost_at_ = never;  // time at which a closed stream counts as a loss
  std::string closed_why_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace mcpbx::mcp::supervise
