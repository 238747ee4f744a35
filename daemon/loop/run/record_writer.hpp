// Records of one run on their way into its journal. A record is folded at once and written before anything that it
// starts leaves the process: so records that follow from one another without anybody else's doing (a reply and the
// intents of its calls, the last result and the next round) are one commit.
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

namespace mcpbx::daemon {

/// Belongs to one run. Once a write has failed nothing more is taken, and the run is led to its end in memory.
class record_writer {
 public:
  struct options {
    runner::recorded_run run;
    bool detached = false;  ///< the run has been acknowledged, so that it waits for its journal as long as any may
    bool resumes = false;   ///< the next process would go on with it
    std::function<milliseconds()> time_left;  ///< longest wait of a run that is not detached
    std::function<void()> on_outage;          ///< the journal is out of reach; the run waits for it
  };
  /// `store` and `time` must outlive this; `o` is called while write() waits.
  record_writer(journal& store, time_source& time, options o) : store_(store), time_(time), options_(std::move(o)) {}

  /// Before the first write().
  void open(std::unique_ptr<run_journal> journal) { journal_ = std::move(journal); }
  std::unique_ptr<run_journal> take_journal() { return std::move(journal_); }

  /// Keeps a record for the next write(). The reference holds until then, and until the next record.
  const run_record& add(run_record r) { return unwritten_.emplace_back(std::move(r)); }
  bool all_written() const noexcept { return unwritten_.empty(); }
  /// Writes what was added. False: it is not written, and broken(), refusal() and taken_over() say why.
  boost::asio::awaitable<bool> write(bool synced);

  /// A write has failed; fault() is the sentence about that.
  bool broken() const noexcept { return broken_; }
  const std::string& fault() const noexcept { return fault_; }
  /// Another daemon goes on with the run.
  bool taken_over() const noexcept { return taken_over_; }

  /// The run does not begin, and nothing of it is kept.
  void refuse(error why) { refusal_ = std::move(why); }
  /// Reason why the run did not begin; nullopt: it did, or may yet.
  const std::optional<error>& refusal() const noexcept { return refusal_; }

  /// `told` hears that the run's start is recorded, or why it cannot be; at once where that is known already.
  void when_recorded(runner::recorded told);
  /// Settles whether the start was recorded, by what has been written so far, and tells those who wait for it.
  void tell_recorded();
  /// nullopt: it is not settled.
  const std::optional<result<void>>& recorded() const noexcept { return recorded_; }
  bool was_recorded() const noexcept { return recorded_ && recorded_->has_value(); }

 private:
  void expect_outage();
  void on_failure(const error& why);

  journal& store_;
  time_source& time_;
  options options_;
  std::unique_ptr<run_journal> journal_;
  std::vector<run_record> unwritten_;
  bool broken_ = false, taken_over_ = false;
  std::string fault_;
  std::optional<error> refusal_;
  std::optional<result<void>> recorded_;
  std::vector<runner::recorded> to_be_told_;
  std::unique_ptr<timer> outage_;
};

}  // namespace mcpbx::daemon
