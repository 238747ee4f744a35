// Interface through which a connection to a protected server gets its tokens. The daemon implements it for entries with
// a `url`; a connection without one sends what the entry's headers say.
#pragma once
#include <functional>
#include <string>
#include <string_view>

namespace mcpbx::mcp::connect {

class authorizer {
 public:
  virtual ~authorizer() = default;
  /// Calls `then`, maybe from inside, once the token is fresh enough to be used, or cannot be renewed. Many requests
  /// may wait for one renewal.
  virtual void prepare(std::function<void()> then) = 0;
  /// Returns true if prepare() would call `then` from inside and do nothing else.
  virtual bool is_prepared() const { return false; }
  /// Returns the value of the Authorization header, or "" without a token.
  virtual std::string header() const = 0;
  /// Reports that the server refused a request (401 or 403) that was sent with this header value, and its
  /// WWW-Authenticate header. Calls `again`, maybe from inside: with true if the same request should be sent once more,
  /// with the new header(). With false the server is one that waits for a login; sentence() says so.
  virtual void refused(int status, std::string_view challenge, std::string_view sent,
                       std::function<void(bool)> again) = 0;
  /// Reports that the server refused (401) to open the event stream of a session whose requests it takes. Some servers
  /// refuse the stream alone, so that this may renew the token, and neither drops it nor begins a login. Calls `again`
  /// as refused() does.
  virtual void stream_refused(std::string_view sent, std::function<void(bool)> again) = 0;
  /// Returns a clause that says what a person has to do ("needs a login: run `mcpbx auth login NAME`"), or "".
  virtual std::string sentence() const = 0;
};

}  // namespace mcpbx::mcp::connect
