// The address on this machine that a browser is sent back to after a login (RFC 8252, section 7.3): a port of loopback
// that is open only while somebody waits, and takes one answer.
#pragma once
#include "mcp/http/server/server_connection.hpp"
#include "mcp/socket/tcp_socket.hpp"
#include "mcp/support/error.hpp"
#include "mcp/support/time.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <string_view>

namespace mcpbx::daemon::logins {

class redirect_listener {
 public:
  /// Page for the person whose browser has come.
  enum class page : std::uint8_t {
    done,     ///< the login goes on without the browser: the window can be closed
    failed,   ///< the login has failed: the terminal says why
    not_ours  ///< this is not the answer to the open login; the listener waits on
  };
  /// Largest number of connections at once. A further one replaces the oldest that was answered already, else the
  /// oldest.
  static constexpr std::size_t most_connections = 16;

  /// Opens a port: that of `wanted`, an earlier redirect_uri(), if it is free. errc::io: no port can be opened. `time`
  /// must outlive the listener.
  static result<std::unique_ptr<redirect_listener>> open(const boost::asio::any_io_executor& executor,
                                                         time_source& time, std::string_view wanted);
  ~redirect_listener();
  redirect_listener(const redirect_listener&) = delete;
  redirect_listener& operator=(const redirect_listener&) = delete;

  /// Calls `on_answer` with the query of each redirect and shows the page that it returns; after done or failed the
  /// port is closed and nothing more is taken. The listener must not be destroyed inside `on_answer`.
  void start(std::function<page(std::string_view query)> on_answer);
  /// Leads the first visitor of opened_uri(), whose path ends in `word`, to `address`. The command line of a browser
  /// can be read by everybody on this machine, so it gets that in place of an address from which a login can be
  /// answered.
  void lead(std::string_view word, std::string address);
  /// Closes the port; pages on their way are still shown.
  void close();
  /// Returns the redirect address: "http://127.0.0.1:PORT/callback".
  const std::string& redirect_uri() const noexcept { return uri_; }
  /// Returns the address for the command line of a browser, or "" before lead().
  std::string opened_uri() const { return opened_.empty() ? std::string() : "http://" + authority_ + opened_; }
  std::size_t connections() const noexcept { return visitors_.size(); }

 private:
  class visitor;
  redirect_listener(boost::asio::any_io_executor executor, time_source& time,
                    std::unique_ptr<mcp::socket::loopback_listener> port);
  void admit(int fd);
  void left(visitor& v);
  http::servers::server_answer answer_to(const http::servers::request_head& head);

  boost::asio::any_io_executor executor_;
  time_source& time_;
  std::unique_ptr<mcp::socket::loopback_listener> port_;
  std::string uri_, authority_;
  std::string opened_, leads_to_;  // path for the first visitor, and where it leads, or "" once it has
  std::function<page(std::string_view)> on_answer_;
  std::list<std::unique_ptr<visitor>> visitors_;  // oldest first
};

}  // namespace mcpbx::daemon::logins
