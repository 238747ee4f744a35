// The lane's side of a journal: all operations on one store, one at a time. All functions block.
#pragma once
#include "daemon/store/journal.hpp"
#include "daemon/store/run_store.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mcpbx::daemon::store {

/// Rules of the loop about records. Called on the lane.
struct record_rules {
  using records = std::vector<stored::run_record>;
  /// Returns the records that close a run with these records: one that an earlier process left without an end, or one
  /// of this process whose journal failed.
  std::function<records(const records&, bool same_process)> recovery;
  std::function<stored::folded_run(const records&)> fold;
  /// Returns true if a run that an earlier process left will be continued instead of closed. Unset: none is.
  std::function<bool(const records&)> goes_on;
  /// Called when a run of an earlier process has been closed, with its records and those that closed it. May be unset.
  std::function<void(const records& before, const records& closing)> closed;
};

/// Limits on stored sessions. 0: no limit.
struct retention {
  std::int64_t max_age_ms = 0;  ///< time since the last use of a session
  std::int64_t max_bytes = 0;   ///< size of the records of all sessions
};

class store_worker {
 public:
  struct append {
    run_batch batch;
    bool synced = false;
    result<void> outcome{};
  };
  /// An unfinished_run without its journal yet.
  struct unfinished {
    stored::run_row row;
    std::vector<stored::run_record> records;
    bool fenced = false;  ///< the last record is a taken_over of this process
  };

  store_worker(std::unique_ptr<run_store> store, record_rules rules, retention keep);

  // `now_ms` is the time stamp of records that these functions write by themselves, in milliseconds since 1970.

  /// Writes the group in one transaction or, if that fails, each append in its own.
  void write(std::span<append* const> group, std::int64_t now_ms);
  /// Removes expired sessions, a bounded piece at a time. Call it when the outcome of write() has been reported.
  void tidy(std::int64_t now_ms);
  /// Notes a run whose journal was destroyed before its end. The next operation closes it.
  void leave_open(std::shared_ptr<run_place> place) { left_open_.push_back(std::move(place)); }

  /// Returns the error of the last operation that had to open or write the store; null: it worked.
  const std::optional<error>& fault() const noexcept { return unopened_ ? unopened_ : unwritten_; }
  /// Changes fault() by the outcome of a write. Errors that are about one run or session only do not count. A write
  /// that was not synced proves nothing about one that was.
  void note_write(const result<void>& outcome, bool synced = true);

  result<journal::history> load_history(const std::string& session, std::int64_t now_ms);
  result<std::vector<stored::session_row>> list_sessions(const stored::session_query& q, std::int64_t now_ms);
  result<stored::session_contents> read_session(const std::string& session, std::int64_t now_ms);
  result<void> erase_session(const std::string& session, std::int64_t now_ms);
  result<std::vector<unfinished>> take_unfinished(std::int64_t now_ms);
  result<std::vector<stored::run_record>> find_ended(const std::string& run, std::int64_t now_ms);
  result<std::optional<std::string>> find_owner(const std::string& run, std::int64_t now_ms);
  result<journal::usage_page> count_usage(const stored::look_back& where, std::int64_t now_ms);
  result<journal::found_page> find_words(const stored::look_back& where, const std::string& words, std::size_t most,
                                         std::int64_t now_ms);

 private:
  std::unexpected<error> no_session(const std::string& id) const;
  result<void> get_ready(std::int64_t now_ms, bool look);
  result<bool> ready_to_read(std::int64_t now_ms);
  result<void> recover(std::int64_t now_ms);
  result<bool> sort_out(const stored::run_row& row, bool fenced, std::int64_t now_ms);
  result<void> close_run(std::int64_t id, const std::string& run, std::int64_t now_ms, bool same_process,
                         bool power_lost = false);
  void close_left(std::int64_t now_ms);
  result<void> take_abandoned(std::int64_t now_ms);
  result<void> fence(std::int64_t now_ms);
  bool lost_power(const stored::run_row& row) const { return !row.boot.empty() && row.boot != store_->boot(); }
  result<bool> find_left(run_place& place);
  result<stored::session_row> find_session(const std::string& session);
  result<stored::session_row> free_session(const std::string& session, std::int64_t now_ms);
  result<std::vector<stored::kept_run>> runs_of(const std::string& session, std::int64_t before_id);
  result<journal::history> history_before(const std::string& session, std::int64_t run_id);
  result<void> inherit(const stored::run_row& row, std::vector<stored::run_record>& records);
  template <class Each>
  result<std::int64_t> look_through(const stored::look_back& where, std::int64_t now_ms, Each each);
  result<std::vector<stored::session_row>> to_be_removed(std::int64_t now_ms);
  /// Closes the store if it has failed. Returns the outcome.
  template <class T>
  result<T> checked(result<T> outcome) {
    if (!outcome && outcome.error().code == errc::io) store_->close();
    return outcome;
  }

  std::unique_ptr<run_store> store_;
  record_rules rules_;
  retention keep_;
  std::vector<std::shared_ptr<run_place>> left_open_;
  std::deque<stored::run_row> taken_;  // runs of daemons that are gone, not sorted out yet
  std::vector<unfinished> going_on_;
  std::optional<error> unopened_, unwritten_;
  bool unwritten_synced_ = false;  // the write that failed with unwritten_ was to be synced
  bool recovered_ = false, to_tidy_ = false;
  std::int64_t tidy_at_ms_ = 0;
  std::int64_t written_ = 0;  // bytes written since the last search for expired sessions
};

}  // namespace mcpbx::daemon::store
