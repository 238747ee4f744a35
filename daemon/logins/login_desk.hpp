// Interface by which callers log in to tool servers and out again. Tests of the door implement it without files.
#pragma once
#include "mcp/support/error.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::daemon {

/// Standing of one server's login, as `mcpbx auth status` shows it. Holds no secret.
struct login_status {
  std::string server, url;
  std::string state;  ///< "none", "logged_in", "expired" or "under_way"
  std::string issuer, resource;
  std::vector<std::string> scopes;
  std::int64_t expires_at_ms = -1;  ///< end of the access token in milliseconds since 1970; -1: not told
  bool renews = false;              ///< there is a refresh token
  std::string problem;              ///< one sentence, or ""
  std::string address;              ///< of a login that waits for the person's browser, or ""
};

/// The address of a login that waits for a person, and the rights that it asks for.
struct login_invitation {
  std::string address;       ///< for the browser; "" if nobody needs to be asked
  std::string redirect_uri;  ///< address that the browser ends at
  std::string issuer, resource;
  std::vector<std::string> scopes;
  std::string opened = {};  ///< address for the command line of a browser: it leads to `address` once
};

struct login_report {
  std::vector<login_status> servers;  ///< one for each entry with a `url`, in their order
  std::string protection;             ///< source of the key that encrypts the tokens: a word of key_place
  std::string file;                   ///< path of that file, or ""
};

/// Functions with `then` call it once, from inside or later, on the speaking thread.
class login_desk {
 public:
  virtual ~login_desk() = default;
  /// Begins a login, or joins the one under way. `then` gets what the person has to see. errc::not_found: no such
  /// entry.
  virtual void begin(std::string_view server, std::function<void(result<login_invitation>)> then) = 0;
  /// Calls `then` when the login under way is over, or with the outcome of the last one; errc::invalid_argument: there
  /// was none.
  virtual void when_over(std::string_view server, std::function<void(result<void>)> then) = 0;
  /// Takes the address that the person's browser ended at.
  virtual result<void> complete(std::string_view server, std::string_view pasted) = 0;
  /// Forgets a server's tokens, here and on disk.
  virtual void log_out(std::string_view server, std::function<void(result<void>)> then) = 0;
  virtual void status(std::function<void(login_report)> then) = 0;
};

}  // namespace mcpbx::daemon
