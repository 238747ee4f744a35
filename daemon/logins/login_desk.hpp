// Interface by which callers log in to tool servers and out again. Tests of the door implement it without files.
#pragma once
#include "mcp/support/error.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::daemon::logins {

/// Standing of one server's login, as `mcpbx auth status` shows it. Holds no secret.
struct login_status {
  std::string server, url;
  std::string principal = {};  ///< owner of the login, if the server's entry is not shared; else ""
  std::string state;           ///< "none", "logged_in", "expired" or "under_way"
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
  /// One for each entry with a `url`, in their order, and behind them one for each other caller's login at an entry
  /// that is not shared.
  std::vector<login_status> servers;
  std::string protection;  ///< source of the key that encrypts the tokens: a word of key_place
  std::string file;        ///< path of that file, or ""
};

/// A login: that of a server, or of one caller at a server whose entry is not shared.
struct login_target {
  std::string server;
  std::string principal = {};  ///< daemon/store/records/principal.hpp; "": the person
};
/// Held by a connection that began a login or waits for it, until the connection ends.
using login_presence = std::shared_ptr<void>;

/// Functions with `then` call it once, from inside or later, on the speaking thread.
class login_desk {
 public:
  virtual ~login_desk() = default;
  /// Begins a login, or joins the one under way. `then` gets what the person has to see. `waits` is not kept; a login
  /// that is begun with it does not start once it is dropped, null: it needs nobody. errc::not_found: no such entry;
  /// errc::invalid_argument: its callers have no logins of their own, or there is no such caller.
  virtual void begin(const login_target& whose, const login_presence& waits,
                     std::function<void(result<login_invitation>)> then) = 0;
  /// Calls `then` when the login under way is over, or with the outcome of the last one; errc::invalid_argument: there
  /// was none. `waits`: as for begin().
  virtual void when_over(const login_target& whose, const login_presence& waits,
                         std::function<void(result<void>)> then) = 0;
  /// Reports that somebody who waited has left and dropped its presence: the login ends unless others wait for it.
  virtual void left(const login_target& whose) = 0;
  /// Ends the login under way, whoever waits for it; errc::invalid_argument: there is none.
  virtual result<void> cancel(const login_target& whose) = 0;
  /// Takes the address that the person's browser ended at.
  virtual result<void> complete(const login_target& whose, std::string_view pasted) = 0;
  /// Forgets a login's tokens, here and on disk.
  virtual void log_out(const login_target& whose, std::function<void(result<void>)> then) = 0;
  virtual void status(std::function<void(login_report)> then) = 0;
};

}  // namespace mcpbx::daemon::logins
