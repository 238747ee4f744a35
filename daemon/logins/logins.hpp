// The logins of all protected tool servers: their tokens, the file that keeps them, and the requests of people to log
// in or out.
#pragma once
#include "daemon/guard/credentials/credential_file.hpp"
#include "daemon/logins/entry_tokens.hpp"
#include "daemon/logins/login_desk.hpp"
#include "mcp/async/keyed_lanes.hpp"
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

class logins final : public login_desk, private grant_keeper {
 public:
  struct options {
    result<std::string> path;  ///< path of the file, or the reason why there is none
    std::function<result<credential_key>()> find_key;
  };
  /// `tokens_changed` is called after a login (`held`) or a logout, so that the server is connected anew; `run` starts
  /// a program without a shell, with its arguments, and does not wait for it.
  struct hooks {
    std::function<void(const std::string& server, bool held)> tokens_changed;
    std::function<void(std::vector<std::string> command)> run;
  };
  /// Touches no file. All references must outlive this object.
  logins(login_parts parts, options o, hooks h);
  ~logins() override;

  /// Replaces the entries. One that stays the same keeps its tokens and its login.
  void set_entries(std::vector<login_entry> entries);
  /// Returns the tokens for the connections of a server, or null if it is none of the entries.
  std::shared_ptr<mcp::authorizer> tokens_of(std::string_view server) const;

  // login_desk
  void begin(std::string_view server, std::function<void(result<login_invitation>)> then) override;
  void when_over(std::string_view server, std::function<void(result<void>)> then) override;
  result<void> complete(std::string_view server, std::string_view pasted) override;
  void log_out(std::string_view server, std::function<void(result<void>)> then) override;
  void status(std::function<void(login_report)> then) override;

 private:
  void load(const std::string& server, const std::string& url, std::function<void(found)> then) override;
  void lock(const std::string& server, const std::string& url,
            std::function<void(result<held_lock>, found)> then) override;
  void save(const std::string& server, const std::string& url, std::optional<kept_grant> g, bool replaces,
            held_lock held, std::function<void(result<void>)> then) override;
  void open_browser(const std::vector<std::string>& command, std::string_view address) override;
  void tokens_changed(const std::string& server, bool held) override;

  entry_tokens* find(std::string_view server) const;
  error unknown(std::string_view server) const;
  login_status status_of(const entry_tokens& t) const;
  template <class Post, class Work, class Then>
  void elsewhere(Post post, Work work, Then then);
  template <class Work, class Then>
  void on_lane(Work work, Then then);

  login_parts parts_;
  result<std::string> path_;
  std::shared_ptr<credential_file> file_;  // used on the lane only; null without a path
  hooks hooks_;
  std::vector<std::shared_ptr<entry_tokens>> entries_;
  std::shared_ptr<void> alive_;  // answers of the lane that come after this object are dropped
  keyed_lanes renewals_;         // wait for the lock between daemons, each server's for itself
  lane lane_;                    // last: its work ends before the rest goes
};

}  // namespace mcpbx::daemon
