// Where records go before they take effect, and where sessions come from. One interface; `none` keeps the records of a
// run for its life at most.
#pragma once
#include "daemon/store/records/record.hpp"
#include "daemon/store/records/sessions.hpp"
#include "mcp/support/error.hpp"
#include "mcp/support/time.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mcpbx::daemon {

/// The journal of one run.
class run_journal {
 public:
  virtual ~run_journal() = default;
  /// Appends in order, all or nothing; returns when the records are as safe as `synced` asks. After an error
  /// nothing more is taken. errc::unavailable: the run cannot begin now, because another one goes on in its session, or
  /// went on with it. errc::not_found: another daemon has taken the run over. Any other: the records are not there,
  /// unless the store only took too long: a late success may leave them, as a crash might, and the run is closed behind
  /// them.
  virtual boost::asio::awaitable<result<void>> append(std::vector<run_record> records, bool synced) = 0;
  /// For how long appends may wait for a store that cannot be reached and may be there again in a moment: at most
  /// longest_outage, which is also what holds before the first call. Never less than a store takes that is only busy.
  virtual void wait_at_most(milliseconds /*patience*/) {}
  static constexpr milliseconds longest_outage{30'000};
};

/// A run that an earlier process left without an end and that is to go on.
struct unfinished_run {
  std::string run, session;
  std::vector<run_record> records;       ///< all of them, `inherited` filled in
  std::unique_ptr<run_journal> journal;  ///< goes on behind the last of them; without an end the run is closed
};

/// Every run of a journal that keeps sessions belongs to one, which run_started names. What reads tells `then` once on
/// the speaking thread: in a later turn where sessions are kept, at once where they are not, and not at all when the
/// journal has gone by then.
class journal {
 public:
  template <class T>
  using answer = std::function<void(result<T>)>;
  struct history : std::vector<providers::message_ptr> {
    using vector::vector;
    std::int64_t last_run = 0;                  ///< the run_row::id of its latest run, or 0
    std::string principal;                      ///< whose session it is
    run_terms terms;                            ///< of that run
    std::vector<record::whole_result> results;  ///< folded_run::results of it
    std::vector<record::meant_tool> tools;      ///< what the names in the calls mean; of one name the first holds
  };

  virtual ~journal() = default;
  virtual std::unique_ptr<run_journal> open_run(const std::string& run) = 0;

  // What a journal has that keeps nothing: no sessions (errc::config, with the mend) and no runs.

  virtual bool keeps_sessions() const { return false; }
  /// Tells that several daemons share it, so that runs of another one may have to be taken over at any time.
  virtual bool is_shared() const { return false; }
  /// The conversation of a session, which is to be gone on with: what all its runs added, in order, without system
  /// prompts. errc::not_found; errc::unavailable while a run is going on in it; errc::io when it cannot be read whole.
  virtual void load_history(std::string session, answer<history> then);
  virtual void list_sessions(session_query q, answer<std::vector<session_row>> then);
  /// errc::not_found.
  virtual void read_session(std::string session, answer<session_contents> then);
  /// errc::not_found; errc::unavailable while a run is going on in it.
  virtual void erase_session(std::string session, answer<void> then);
  /// The runs that an earlier process left and that are to go on, each once. Where daemons share the journal later
  /// calls give those of others that have gone since, and each call says that this one is alive. While the journal
  /// cannot be written they stay, and the answer is the error.
  virtual void take_unfinished(answer<std::vector<unfinished_run>> then);
  /// The records of the latest run of this name that has ended, `inherited` filled in. errc::not_found;
  /// errc::unavailable while one of this name has no end yet.
  virtual void find_ended(std::string run, answer<std::vector<run_record>> then);
  /// Which other daemon a run belongs to that goes on there, as people call it; nullopt: none shares the journal, or
  /// none has a run of this name.
  virtual void find_owner(std::string run, answer<std::optional<std::string>> then);
};

/// journal::load_history for a coroutine; only for a journal that keeps sessions.
boost::asio::awaitable<result<journal::history>> history_of(journal& from, std::string session);

/// `store.url: none`: nothing outlives the daemon; the records of a run are kept only while `keep` says so (tests).
class memory_journal final : public journal {
 public:
  explicit memory_journal(bool keep = false) : keep_(keep) {}
  std::unique_ptr<run_journal> open_run(const std::string& run) override;
  /// With keep: the records of every run so far, by run name in order of opening.
  const std::vector<std::pair<std::string, std::shared_ptr<std::vector<run_record>>>>& kept() const { return kept_; }

 private:
  bool keep_;
  std::vector<std::pair<std::string, std::shared_ptr<std::vector<run_record>>>> kept_;
};

}  // namespace mcpbx::daemon
