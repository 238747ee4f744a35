// One login, from the server's challenge to tokens: the shell around auth::flow::authorization. It sends the requests,
// keeps the port open for the browser, and ends at a time limit.
#pragma once
#include "daemon/logins/redirect_listener.hpp"
#include "mcp/auth/flow/authorization.hpp"
#include "mcp/http/client/http_client.hpp"
#include "mcp/support/error.hpp"
#include "mcp/support/time.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace mcpbx::daemon::logins {

/// The parts of the daemon that a login uses. The references must outlive it.
struct login_parts {
  boost::asio::any_io_executor executor;
  time_source& time;
  http::clients::client& client;
  auth::secret_source& secrets;
};

/// Returns what a request to `target` trusts and shows, for a login of the server at `server_url` whose entry says
/// `own`. The client certificate is for that server's origin alone.
http::clients::trust trust_towards(std::string_view target, std::string_view server_url,
                                   const http::clients::trust& own);

/// Sends one document_request, at most a minute long, and gives its answer or a clause why there is none. The rule
/// judges the addresses that the host's name has.
class document_exchange final : private http::clients::response_events {
 public:
  using done_handler = std::function<void(result<auth::flow::document_answer>)>;
  /// Calls `done` later, unless this object is destroyed before; it may be destroyed inside.
  document_exchange(http::clients::client& client, auth::flow::document_request r, http::clients::trust trust,
                    const auth::endpoint_rule& rule, done_handler done);

 private:
  void on_head(int status, const std::vector<http::header>& headers) override;
  void on_body(std::string_view bytes) override;
  void on_end() override;
  void on_failure(http::clients::failure f) override;

  done_handler done_;
  auth::flow::document_answer answer_;
  std::unique_ptr<http::clients::exchange> exchange_;
};

class login {
 public:
  struct handlers {
    /// The address for the person is known: login::address().
    std::function<void()> browse;
    /// The login is over. Called once; the login must not be destroyed inside.
    std::function<void(result<auth::grant>)> over;
  };
  /// Time in which the person has to answer.
  static constexpr milliseconds longest_wait{600'000};

  login(login_parts parts, http::clients::trust trust, auth::flow::authorization::options o, handlers h);
  login(const login&) = delete;
  login& operator=(const login&) = delete;

  /// Takes the first step. Handlers may be called inside.
  void begin() { go_on(); }
  /// Takes what the person pasted: the address that the browser ended at, or its query.
  result<void> pasted(std::string_view address);
  /// Ends the login as cancelled, unless it is over.
  void cancel(std::string_view why);

  bool over() const noexcept { return over_; }
  /// Returns the address for the browser, or "" before it is known or once it is answered.
  std::string_view address() const noexcept;
  /// Returns the same for the command line of a browser: an address on this machine that leads there once.
  std::string opened_address() const { return listener_ ? listener_->opened_uri() : std::string(); }
  const auth::flow::authorization& flow() const noexcept { return flow_; }
  /// Returns the redirect address of the open port, or "".
  std::string redirect_uri() const { return listener_ ? listener_->redirect_uri() : std::string(); }

 private:
  void go_on();
  void fetch();
  void listen();
  void end(result<auth::grant> outcome);
  redirect_listener::page answered(std::string_view query);

  login_parts parts_;
  http::clients::trust trust_;
  std::string server_, server_url_;
  auth::flow::authorization flow_;
  handlers handlers_;
  std::unique_ptr<document_exchange> exchange_;
  std::unique_ptr<redirect_listener> listener_;
  std::unique_ptr<timer> limit_;
  bool over_ = false;
};

}  // namespace mcpbx::daemon::logins
