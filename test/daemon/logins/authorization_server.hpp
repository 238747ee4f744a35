// An authorization server on a port of loopback, in the test's own loop, with the documents of a protected server. The
// test plays the person: it follows the address of a login.
#pragma once
#include "mcp/http/server/server_connection.hpp"
#include "mcp/socket/tcp_socket.hpp"
#include "test/mcp/http/client/client_harness.hpp"

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace mcpbx::test {

class authorization_server {
 public:
  explicit authorization_server(http_loop& loop);
  ~authorization_server();

  /// Returns the address of the protected server, which is nothing but its metadata.
  std::string server_url() const { return base_ + "/mcp"; }
  const std::string& base() const { return base_; }

  struct reply {
    static constexpr int none = 0, hung_up = -1;  ///< no answer, or the end of the connection
    int status = 200;
    std::string body;
  };
  /// Answers of certain paths in place of the usual ones.
  std::map<std::string, std::function<reply(const std::string& body)>> instead;
  std::map<std::string, int> asked;  ///< number of requests for each path
  int registrations = 0, tokens = 0, renewals = 0;
  std::vector<std::string> bodies;  ///< of all POST requests
  bool silent = false;              ///< requests are not answered

  /// Acts as a browser with the address of a login: agrees, and returns the address to which it is redirected.
  static std::string redirect_of(const std::string& address, const std::string& code = "the-code");

 private:
  class visitor;
  reply answer(const std::string& path, const std::string& body);
  http_loop& loop_;
  std::unique_ptr<mcp::socket::loopback_listener> port_;
  std::string base_;
  std::list<std::unique_ptr<visitor>> visitors_;
};

}  // namespace mcpbx::test
