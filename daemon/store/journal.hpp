// Interface of the journal: it takes the records of runs before they take effect, and gives stored sessions back.
#pragma once
#include "daemon/store/records/found_words.hpp"
#include "daemon/store/records/record.hpp"
#include "daemon/store/records/sessions.hpp"
#include "daemon/store/records/usage_report.hpp"
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

namespace mcpbx::daemon::store {

/// The journal of one run.
class run_journal {
 public:
  virtual ~run_journal() = default;
  /// Appends in order, all or nothing; returns when the records are as safe as `synced` asks. After an error the
  /// journal takes nothing more. Errors are those of run_store::append(); README.md says what a slow store may leave.
  virtual boost::asio::awaitable<result<void>> append(std::vector<stored::run_record> records, bool synced) = 0;
  /// Sets the time for which appends wait for a store that cannot be reached at the moment, at most longest_outage,
  /// which is also the default. They always wait as long as for a store that is only busy.
  virtual void wait_at_most(milliseconds /*patience*/) {}
  static constexpr milliseconds longest_outage{30'000};
};

/// A run that an earlier process left without an end and that will be continued.
struct unfinished_run {
  std::string run, session;
  std::vector<stored::run_record> records;  ///< all records, with `inherited` filled in
  std::unique_ptr<run_journal> journal;     ///< continues behind the last record; destroying it closes the run
};

/// A reason for which a journal cannot be written at the moment.
struct journal_trouble {
  std::string problem;        ///< one sentence, which may quote foreign text and secrets
  std::int64_t since_ms = 0;  ///< time of the first failure, in milliseconds since 1970
};

/// Journal of all runs. If it keeps sessions, every run belongs to the one that run_started names. Reading functions
/// call `then` once on the speaking thread: in a later turn if sessions are kept, else at once; never after the
/// journal's end.
class journal {
 public:
  template <class T>
  using answer = std::function<void(result<T>)>;
  struct history : std::vector<providers::message_ptr> {
    using vector::vector;
    std::int64_t last_run = 0;                          ///< run_row::id of its latest run, or 0
    std::string principal;                              ///< owner of the session
    stored::run_terms terms;                            ///< terms of the latest run
    std::vector<stored::record::whole_result> results;  ///< folded_run::results of the latest run
    std::vector<stored::record::meant_tool> tools;  ///< tools behind the names in the calls; the first of a name counts
  };

  /// Part of a look back through the runs.
  struct usage_page {
    stored::usage_report report;
    std::int64_t next = 0;  ///< look_back::before of the next page; 0: this was the last one
  };
  struct found_page {
    std::vector<stored::word_hit> runs;  ///< the latest first
    std::int64_t next = 0;               ///< as above
    std::int64_t reached_ms = 0;         ///< start of the earliest run that was looked through; 0: none
  };

  virtual ~journal() = default;
  virtual std::unique_ptr<run_journal> open_run(const std::string& run) = 0;

  // The defaults suit a journal that stores nothing: no sessions (errc::config, with the fix) and no runs.

  virtual bool keeps_sessions() const { return false; }
  /// Returns true if several daemons share the journal, so that runs of another one may be taken over at any time.
  virtual bool is_shared() const { return false; }
  /// Returns why the journal cannot be written, from the first failed write on until one works again; nullopt: nothing
  /// is wrong.
  virtual std::optional<journal_trouble> trouble() const { return std::nullopt; }
  /// Reads the conversation of a session to continue: the messages of all its runs in order, without system prompts.
  /// errc::not_found; errc::unavailable: a run is active in it; errc::io: a part cannot be read.
  virtual void load_history(std::string session, answer<history> then);
  virtual void list_sessions(stored::session_query q, answer<std::vector<stored::session_row>> then);
  /// Reads a session for display. errc::not_found.
  virtual void read_session(std::string session, answer<stored::session_contents> then);
  /// Deletes a session. errc::not_found; errc::unavailable: a run is active in it.
  virtual void erase_session(std::string session, answer<void> then);
  /// Hands out each run once that an earlier process left and that will be continued. If daemons share the journal,
  /// later calls give runs of other daemons that are gone, and each call is a sign of life of this one. While the
  /// journal cannot be written the runs stay, and the answer is the error.
  virtual void take_unfinished(answer<std::vector<unfinished_run>> then);
  /// Reads the records of the latest ended run of this name, with `inherited` filled in. errc::not_found;
  /// errc::unavailable: a run of this name has not ended yet.
  virtual void find_ended(std::string run, answer<std::vector<stored::run_record>> then);
  /// Finds the other daemon in which a run of this name is active, by its name for people. nullopt: none, or the
  /// journal is not shared.
  virtual void find_owner(std::string run, answer<std::optional<std::string>> then);
  /// Counts the runs of one page. Looking through all of them takes several pages, between which runs are written.
  virtual void count_usage(stored::look_back where, answer<usage_page> then);
  /// Finds runs of one page that have all words in one message, at most `most`.
  virtual void find_words(stored::look_back where, std::string words, std::size_t most, answer<found_page> then);
};

/// Awaits journal::load_history(). Only for a journal that keeps sessions.
boost::asio::awaitable<result<journal::history>> history_of(journal& from, std::string session);

/// The journal of `store.url: none`: nothing outlives the daemon. Tests let it `keep` the records.
class memory_journal final : public journal {
 public:
  explicit memory_journal(bool keep = false) : keep_(keep) {}
  std::unique_ptr<run_journal> open_run(const std::string& run) override;
  /// Returns the kept records of all runs, by run name in order of opening.
  const std::vector<std::pair<std::string, std::shared_ptr<std::vector<stored::run_record>>>>& kept() const {
    return kept_;
  }

 private:
  bool keep_;
  std::vector<std::pair<std::string, std::shared_ptr<std::vector<stored::run_record>>>> kept_;
};

}  // namespace mcpbx::daemon::store
