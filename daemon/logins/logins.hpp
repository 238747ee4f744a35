// The logins of all protected tool servers: their tokens, the file that keeps them, and the requests of people to log
// in or out.
#pragma once
#include "daemon/guard/credentials/credential_file.hpp"
#include "daemon/logins/entry_tokens.hpp"
#include "mcp/async/lane.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
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

/// The address of a login that waits for its person, and what it asks for.
struct login_invitation {
  std::string address;       ///< for the browser; "" if nobody needs to be asked
  std::string redirect_uri;  ///< where the browser ends
  std::string issuer, resource;
  std::vector<std::string> scopes;
};

class logins final : private grant_keeper {
 public:
  struct options {
    result<std::string> path;  ///< path of the file, or the reason why there is none
    std::function<result<credential_key>()> find_key;
  };
  /// `tokens_changed` is called with the server's name when it should be connected anew; `run` starts a program without
  /// a shell, with its arguments, and does not wait for it.
  struct hooks {
    std::function<void(const std::string& server)> tokens_changed;
    std::function<void(std::vector<std::string> command)> run;
  };
  /// Touches no file. All references must outlive this object.
  logins(login_parts parts, options o, hooks h);
  ~logins() override;

  /// Replaces the entries. One that stays the same keeps its tokens and its login.
  void set_entries(std::vector<login_entry> entries);
  /// Returns the tokens for the connections of a server, or null if it is none of the entries.
  std::shared_ptr<mcp::authorizer> tokens_of(std::string_view server) const;

  /// Begins a login, or joins the one under way. `then` gets what the person has to see. errc::not_found: no such
  /// entry.
  void begin(std::string_view server, std::function<void(result<login_invitation>)> then);
  /// Calls `then` when the login under way is over; errc::invalid_argument: none is.
  void when_over(std::string_view server, std::function<void(result<void>)> then);
  /// Takes the address that the person's browser ended at.
  result<void> complete(std::string_view server, std::string_view pasted);
  /// Forgets a server's tokens, here and on disk.
  void log_out(std::string_view server, std::function<void(result<void>)> then);
  /// Gives the standing of every entry, in their order, and the word for the file's protection.
  void status(std::function<void(std::vector<login_status>, std::string protection)> then);

 private:
  void load(const std::string& server, std::function<void(std::optional<auth::grant>)> then) override;
  void lock(const std::string& server,
            std::function<void(result<held_lock>, std::optional<auth::grant>)> then) override;
  void save(const std::string& server, std::optional<auth::grant> g, held_lock held,
            std::function<void(result<void>)> then) override;
  void open_browser(const std::vector<std::string>& command, std::string_view address) override;
  void tokens_changed(const std::string& server) override;

  entry_tokens* find(std::string_view server) const;
  error unknown(std::string_view server) const;
  login_status status_of(const entry_tokens& t) const;
  template <class Work, class Then>
  void on_lane(Work work, Then then);

  login_parts parts_;
  result<std::string> path_;
  std::shared_ptr<credential_file> file_;  // used on the lane only; null without a path
  hooks hooks_;
  std::vector<std::shared_ptr<entry_tokens>> entries_;
  std::shared_ptr<void> alive_;  // answers of the lane that come after this object are dropped
  lane lane_;                    // last: its work ends before the rest goes
};

}  // namespace mcpbx::daemon
