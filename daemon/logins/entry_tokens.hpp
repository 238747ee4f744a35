// The tokens of one tool server, or of one caller at it: they are sent with its requests, renewed before they end, and
// got anew by a login. One renewal or login at a time serves all that wait for it.
#pragma once
#include "daemon/logins/login.hpp"
#include "daemon/logins/login_desk.hpp"
#include "mcp/auth/flow/renewal.hpp"
#include "mcp/client/connect/authorizer.hpp"
#include "mcp/redact/secret.hpp"
#include "mcp/support/error.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::daemon::logins {

/// The settings of a protected server's entry for its logins, with every reference resolved.
struct login_settings {
  std::string url = {};
  std::string issuer = {};  ///< the only authorization server that is asked, or ""
  std::string client_id = {}, client_document = {};
  redact::secret client_secret = {}, assertion = {};
  auth::client_key key = {};
  auth::flow::identity_provider provider = {};
  std::vector<std::string> open = {};  ///< the command that opens a browser
  http::clients::trust trust = {};
};
/// Passes the settings, or an error, to `then`, from inside or later. Called before tokens are read and for each login.
using login_source = std::function<void(std::function<void(result<login_settings>)> then)>;

/// The entry of a protected server, as far as its logins go.
struct login_entry {
  std::string server;       ///< configured name
  std::string address;      ///< for people
  std::string fingerprint;  ///< text that differs if any setting does
  login_source settings;
  std::vector<std::string> scopes = {};
  bool opens = false;  ///< the daemon opens the browser; else a person runs `mcpbx auth login`
  bool private_addresses = false;
  bool own_authorization = false;  ///< its headers have an Authorization, which wins over tokens
  bool per_caller = false;         ///< it is not shared: each principal has a login of its own
  /// Identity whose login this is (daemon/store/records/principal.hpp); "": the person's, which all share unless the
  /// entry is `per_caller`.
  std::string principal = {};
  auth::flow::grant_kind grant = auth::flow::grant_kind::person;
};

/// A grant with its place in the order of all that the server's entry had: a later one has a higher number.
struct kept_grant {
  auth::grant grant = {};
  std::int64_t serial = 0;
};

/// The place of a grant: a server at an address, and the principal whose login it is (login_entry::principal).
struct grant_place {
  std::string server, url, principal;
};

/// Keeps the grants of all servers; `logins` implements it. Callbacks come later, on the speaking thread.
class grant_keeper {
 public:
  /// Returns the grant on disk, or nullopt if there is none. Fails if the file, the entry or its key cannot be read
  /// now.
  using found = result<std::optional<kept_grant>>;
  using held_lock = std::shared_ptr<void>;
  virtual ~grant_keeper() = default;
  /// Reads the grant of this place from the file.
  virtual void load(const grant_place& at, std::function<void(found)> then) = 0;
  /// Takes the lock between daemons and reads the grant as it is now. `then` gets a failure if the lock cannot be had.
  /// The lock is held until the returned object of `then` is dropped.
  virtual void lock(const grant_place& at, std::function<void(result<held_lock>, found)> then) = 0;
  /// Writes the grant unless a later one is there, or removes it; `held`: under that lock. `then` gets a failure if it
  /// is not on disk; errc::not_found: it `replaces` one that is not there any more.
  virtual void save(const grant_place& at, std::optional<kept_grant> g, bool replaces, held_lock held,
                    std::function<void(result<void>)> then) = 0;
  /// Looks among the logins of all callers at this server and address for one with this client of the entry, which
  /// binds it to an authorization server. Fails if one of them cannot be read.
  virtual void find_client(const grant_place& at, const std::string& client_id, std::function<void(found)> then) = 0;
  /// Opens the person's browser by the entry's command.
  virtual void open_browser(const std::vector<std::string>& command, std::string_view address) = 0;
  /// Reports that a login has brought tokens, or that they have been forgotten (`held` is false).
  virtual void tokens_changed(const login_entry& entry, bool held) = 0;
};

class entry_tokens final : public mcp::connect::authorizer, public std::enable_shared_from_this<entry_tokens> {
 public:
  /// Logins that refusals may cause without a person, each within a minute after the one before; then a person has to
  /// begin one (2026-07-28, "Step-Up Authorization Flow": retry limits).
  static constexpr int most_attempts = 3;
  /// Requests that wait for one renewal or login, at most.
  static constexpr std::size_t most_waiting = 4096;

  entry_tokens(login_parts parts, grant_keeper& keeper, login_entry entry);

  // mcp::connect::authorizer
  void prepare(std::function<void()> then) override;
  bool is_prepared() const override { return !dropped_ && !lost_ && loaded_ && !wants_renewal(); }
  std::string header() const override;
  void refused(int status, std::string_view challenge, std::string_view sent, std::function<void(bool)> again) override;
  void stream_refused(std::string_view sent, std::function<void(bool)> again) override;
  std::string sentence() const override { return sentence_; }

  /// Returns these tokens for the server at this address only. Forgets, in memory, tokens that are for another one.
  std::shared_ptr<mcp::connect::authorizer> at(const std::string& url);
  /// Returns the address that the tokens are for, or "" before it is known.
  const std::string& url() const noexcept { return settings_.url; }

  const login_entry& entry() const noexcept { return entry_; }
  const auth::grant& grant() const noexcept { return grant_; }
  bool loaded() const noexcept { return loaded_; }
  /// Returns the last problem with the tokens or their file, or "".
  const std::string& problem() const noexcept { return problem_; }
  /// Returns the login that is under way, or null.
  login* present_login() const noexcept { return login_ && !login_->over() ? login_.get() : nullptr; }

  /// Returns true while a login is under way, or has ended and its tokens are being written.
  bool is_logging_in() const noexcept { return present_login() != nullptr || writing_login_; }
  /// Calls `over` at the end of the login that is_logging_in() tells of, once its tokens are written and in use; at
  /// once with errc::limit if `most_waiting` wait already.
  void when_logged_in(const login_presence& waits, std::function<void(result<void>)> over);

  /// Ends the login under way if nobody waits for it any more: no holder of a presence, and no request of a connection
  /// that has caused it.
  void end_if_unwanted();
  /// Ends the login under way. Returns false if there is none.
  bool cancel_login(std::string_view why);

  /// Notes that a person has the address of the login under way, so that no browser is opened for it any more.
  void note_shown() noexcept { shown_ = true; }

  /// Returns the outcome of the last login that is over; nullopt before the first.
  const std::optional<result<void>>& last_outcome() const noexcept { return last_outcome_; }

  /// Returns the number of logins that are over and still held for their pages: a handful at most.
  std::size_t ended_logins() const noexcept { return ended_.size(); }

  /// Begins a login unless one is under way. `waits`: as in login_desk::begin(). `ready` is called once its address is
  /// known, or it has ended; `over` once it has ended. Both may be empty, and are called from inside or later.
  void log_in(const login_presence& waits, std::function<void()> ready, std::function<void(result<void>)> over);
  /// Calls `then`, from inside or later, once the tokens on disk are known.
  void prepare_status(std::function<void()> then) { when_loaded(std::move(then)); }
  /// Forgets the tokens, here and on disk.
  void log_out(std::function<void(result<void>)> then);
  /// Ends everything, because the entry is gone or has changed. All waiting requests fail.
  void leave(std::string_view why);
  /// Ends everything: nothing is called any more.
  void drop();

 private:
  grant_place place() const { return {entry_.server, settings_.url, entry_.principal}; }
  std::string login_command() const;
  bool is_wanted() const;
  bool is_crowded(const std::function<void(result<void>)>& over) const;
  void note_present(const login_presence& waits);
  void when_loaded(std::function<void()> then);
  void load();
  bool take_settings(login_settings s);
  void leave_address();
  void loaded_as(grant_keeper::found f);
  bool is_allowed(const auth::grant& g) const;
  void unreadable(std::string why);
  void take_new(auth::grant g);
  void keep(grant_keeper::held_lock held, std::function<void(const result<void>&)> then);
  void forgotten_elsewhere();
  bool just_renewed() const;
  bool wants_renewal() const;
  void renew(std::function<void(bool renewed)> then);
  void send_renewal(grant_keeper::held_lock held);
  void ask_renewal(grant_keeper::held_lock held);
  void not_renewed(const std::string& why);
  void renewal_over(grant_keeper::held_lock held, result<auth::grant> outcome);
  void end_renewal(bool renewed);
  void prepare_login();
  void bind_client();
  void start_login();
  error ended_by(std::string_view why) const;
  result<void> logged_out() const;
  void login_over(result<auth::grant> outcome);
  void take(auth::grant g);
  void outdate();
  void set_waiting(std::string why);
  bool may_log_in_alone();

  login_parts parts_;
  grant_keeper& keeper_;
  login_entry entry_;
  login_settings settings_;
  auth::grant grant_;
  std::optional<auth::grant> bound_;  // another caller's, which binds the client of the entry; without tokens
  std::int64_t serial_ = 0;           // of grant_
  bool kept_ = false;       // grant_, or one of the same login before it, is on disk, or was when it was looked at last
  std::string unreadable_;  // reason for not knowing the tokens on disk, or ""
  std::optional<time_point> last_load_, lost_;  // last try to read them; time of the last failure to write them
  std::uint64_t age_ =
      0;  // counts logins and logouts: a renewal that began before one must not touch the tokens after it
  std::uint64_t moves_ = 0;    // counts changes of the address that the entry's reference gives
  std::uint64_t logouts_ = 0;  // counts logouts: a login that was wished for before one does not begin after it
  struct hidden_value {
    redact::secret of;
    redact::passing_secret held;
    std::int64_t until_ms = -1;  // end of a token; -1: not told
  };
  std::array<hidden_value, 3> present_;  // the secrets of this grant
  std::vector<hidden_value> hidden_;     // those of earlier ones, which a server may still quote, oldest first
  std::vector<redact::passing_secret>
      assertions_;  // the last ones of the entry, which a server may still quote, oldest first
  bool loaded_ = false, loading_ = false, renewing_ = false, preparing_ = false, writing_login_ = false, shown_ = false,
       unanswered_ = false, dropped_ = false;
  bool unattended_ = false;                          // nobody needs to wait for the login under way
  std::vector<std::weak_ptr<void>> waiting_people_;  // those that do
  auth::bearer_challenge challenge_;                 // of the last refusal
  std::string sentence_, problem_;
  int attempts_ = 0;
  time_point last_attempt_{}, last_renewal_ = time_point::min();
  std::vector<std::function<void()>> when_loaded_;
  std::vector<std::function<void(bool)>> when_renewed_;
  std::vector<std::function<void()>> when_ready_;
  std::vector<std::function<void(result<void>)>> when_over_;
  std::unique_ptr<document_exchange> exchange_;
  std::unique_ptr<login> login_;
  std::optional<result<void>> last_outcome_;
  std::vector<std::unique_ptr<login>> ended_;  // logins that are over, until their pages have been shown
  std::unique_ptr<timer> tidy_;                // clears them
};

}  // namespace mcpbx::daemon::logins
