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

namespace mcpbx::daemon::logins {

class logins final : public login_desk, private grant_keeper {
 public:
  struct options {
    result<std::string> path;  ///< path of the file, or the reason why there is none
    std::function<result<credentials::credential_key>()> find_key;
    std::string person = {};  ///< principal of the person, for the status
  };
  /// `tokens_changed` is called after a login (`held`) or a logout, so that the server is connected anew; `run` starts
  /// a program without a shell, with its arguments, and does not wait for it.
  struct hooks {
    std::function<void(const login_entry& entry, bool held)> tokens_changed;
    std::function<void(std::vector<std::string> command)> run;
  };
  /// Touches no file. All references must outlive this object.
  logins(login_parts parts, options o, hooks h);
  ~logins() override;

  /// Replaces the entries. One that stays the same keeps its tokens and its login. `callers`: the principals beside the
  /// person that may have a login of their own at entries that are not shared.
  void set_entries(std::vector<login_entry> entries, std::vector<std::string> callers = {});
  /// Returns the tokens of a server, or null if it is none of the entries.
  std::shared_ptr<mcp::connect::authorizer> tokens_of(std::string_view server) const;
  /// Returns them for connections to this address, which a reference of the entry has just given. Tokens of another
  /// address are not sent there. `principal`: the caller; shared entries have one login for all.
  std::shared_ptr<mcp::connect::authorizer> tokens_at(std::string_view server, const std::string& url,
                                                      const std::string& principal = {});
  /// Returns true if this caller has the account at the server that the person has: its login is for all, or neither
  /// has one of its own.
  bool is_same_account(std::string_view server, std::string_view principal) const;

  // login_desk
  void begin(const login_target& whose, const login_presence& waits,
             std::function<void(result<login_invitation>)> then) override;
  void when_over(const login_target& whose, const login_presence& waits,
                 std::function<void(result<void>)> then) override;
  void left(const login_target& whose) override;
  result<void> cancel(const login_target& whose) override;
  result<void> complete(const login_target& whose, std::string_view pasted) override;
  void log_out(const login_target& whose, std::function<void(result<void>)> then) override;
  void status(std::function<void(login_report)> then) override;

 private:
  void load(const grant_place& at, std::function<void(found)> then) override;
  void lock(const grant_place& at, std::function<void(result<held_lock>, found)> then) override;
  void save(const grant_place& at, std::optional<kept_grant> g, bool replaces, held_lock held,
            std::function<void(result<void>)> then) override;
  void find_client(const grant_place& at, const std::string& client_id, std::function<void(found)> then) override;
  void open_browser(const std::vector<std::string>& command, std::string_view address) override;
  void tokens_changed(const login_entry& entry, bool held) override { hooks_.tokens_changed(entry, held); }

  using tokens_ptr = std::shared_ptr<entry_tokens>;
  tokens_ptr find(std::string_view server) const;
  tokens_ptr tokens_for(const tokens_ptr& shared, const std::string& principal);
  result<tokens_ptr> look_up(const login_target& whose);
  error unknown(std::string_view server) const;
  login_status status_of(const entry_tokens& t) const;
  void find_kept(std::function<void()> then);
  void forget_former(const login_target& whose, std::function<void(result<void>)> then);
  void report_all(const std::function<void(login_report)>& then);
  template <class Post, class Work, class Then>
  void elsewhere(Post post, Work work, Then then);
  template <class Work, class Then>
  void on_lane(Work work, Then then);

  login_parts parts_;
  result<std::string> path_;
  std::shared_ptr<credentials::credential_file> file_;  // used on the lane only; null without a path
  std::string person_;
  hooks hooks_;
  std::vector<tokens_ptr> entries_;     // the person's logins, which those that are shared have for all
  std::vector<tokens_ptr> of_callers_;  // those of other principals at entries that are not shared
  std::vector<std::string> callers_;
  std::shared_ptr<void> alive_;  // answers of the lane that come after this object are dropped
  async::keyed_lanes renewals_;  // wait for the lock between daemons, each server's for itself
  async::lane lane_;             // last: its work ends before the rest goes
};

}  // namespace mcpbx::daemon::logins
