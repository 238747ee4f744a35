// Writes the records of one run to its journal. A record is applied at once, and written before any effect of it leaves
// the process. So records that follow directly from one another (a reply and the intents of its calls, the last result
// and the next round) are one commit.
#pragma once
#include "daemon/loop/run/runner.hpp"
#include "daemon/store/journal.hpp"
#include "daemon/store/records/record.hpp"
#include "mcp/support/error.hpp"
#include "mcp/support/time.hpp"

#include <boost/asio/awaitable.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mcpbx::daemon::run {

/// Belongs to one run. After a failed write the run adds no more records, and is brought to its end in memory.
class record_writer {
 public:
  struct options {
    runner::recorded_run run;
    bool detached = false;  ///< its start was confirmed, so it waits for the journal up to longest_outage
    bool resumes = false;   ///< the next process would continue the run
    std::function<milliseconds()> time_left;  ///< longest wait for the journal of a run that is not detached
    std::function<void()> on_outage;          ///< called when a write has waited 2 s for a shared journal
  };
  /// `store` and `time` must outlive this object. The functions in `o` are called only during write().
  record_writer(store::journal& store, time_source& time, options o)
      : store_(store), time_(time), options_(std::move(o)) {}

  /// Sets the journal of the run. To be called before the first write().
  void open(std::unique_ptr<store::run_journal> journal) { journal_ = std::move(journal); }
  /// Hands the journal over, for a run that is left for the next process. No write() may follow.
  std::unique_ptr<store::run_journal> take_journal() { return std::move(journal_); }

  /// Adds a record to the next write(). The reference is valid until the next add() or write().
  const stored::run_record& add(stored::run_record r) { return unwritten_.emplace_back(std::move(r)); }
  bool all_written() const noexcept { return unwritten_.empty(); }
  /// Writes the added records; `synced`: also syncs them to the disk. Returns false if they are not written: broken(),
  /// refusal() and taken_over() give the reason.
  boost::asio::awaitable<bool> write(bool synced);

  /// Returns true if a write has failed.
  bool broken() const noexcept { return broken_; }
  /// Returns the error message of the failed write, without secrets, or "".
  const std::string& fault() const noexcept { return fault_; }
  /// Returns true if a write has failed because another daemon continues the run.
  bool taken_over() const noexcept { return taken_over_; }

  /// Sets the reason why the run does not begin. Nothing of it is stored.
  void refuse(error why) { refusal_ = std::move(why); }
  /// Returns the reason why the run did not begin; nullopt: it did, or may still begin.
  const std::optional<error>& refusal() const noexcept { return refusal_; }

  /// Calls `told` when the run's start is recorded, or with the reason why it cannot be; at once if that is known.
  void when_recorded(runner::recorded told);
  /// Decides by the writes so far whether the start is recorded, and calls the functions that wait for that.
  void tell_recorded();
  /// Returns success if the start is recorded, or the error if it cannot be; nullopt: not decided yet.
  const std::optional<result<void>>& recorded() const noexcept { return recorded_; }
  bool was_recorded() const noexcept { return recorded_ && recorded_->has_value(); }

 private:
  void expect_outage();
  void on_failure(const error& why);

  store::journal& store_;
  time_source& time_;
  options options_;
  std::unique_ptr<store::run_journal> journal_;
  std::vector<stored::run_record> unwritten_;
  bool broken_ = false, taken_over_ = false;
  std::string fault_;
  std::optional<error> refusal_;
  std::optional<result<void>> recorded_;
  std::vector<runner::recorded> to_be_told_;
  std::unique_ptr<timer> outage_;
};

}  // namespace mcpbx::daemon::run
