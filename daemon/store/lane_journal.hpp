// The journal over a store: appends of all runs queue here and go to the store on its own lane, as many as are there in
// one transaction; what is read takes turns with them.
#pragma once
#include "daemon/store/journal.hpp"
#include "daemon/store/run_store.hpp"
#include "daemon/store/store_worker.hpp"
#include "mcp/support/time.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <cstddef>
#include <memory>
#include <string>

namespace mcpbx::daemon {

class store_lane;

class lane_journal final : public journal {
 public:
  struct options {
    record_rules rules;
    retention keep;
    /// Also an append with the intent of a call that is to leave for a server is synced (`store.sync: "call"`).
    bool sync_calls = false;
    /// Of all records that wait or are being written, as text; an append always enters an empty lane. What is more
    /// stays with its run, which waits.
    std::size_t max_bytes = std::size_t{16} << 20;
    /// For the lane to write or read, waiting for room and a turn included; then it fails with errc::io. The lane goes
    /// on with what it is at. What a run appends that has begun may wait longer for a store that daemons share
    /// (run_journal::wait_at_most): attempts that fail because it cannot be reached are made again.
    milliseconds max_wait{10'000};
    std::size_t max_reads = 256;  ///< that wait; more are refused with errc::limit
    /// While no more runs than these are open, and commits are short, nobody sleeps over them: the speaking thread
    /// waits awake for each (short_wait), and the lane for the next. With more runs there is other work meanwhile. 0:
    /// never.
    std::size_t awake_runs = 0;
  };

  /// Touches no store and starts no thread: that is done by what is written or read first, which also closes the runs
  /// that an earlier process left without an end. While the store cannot be opened everything fails, and each tries
  /// again. `time` must outlive the journal; so must `executor`'s context the appends that are going on.
  lane_journal(boost::asio::any_io_executor executor, time_source& time, std::unique_ptr<run_store> file, options o);
  /// Waits for what the lane is doing; what is queued is not done.
  ~lane_journal() override;

  /// Bytes of records that wait or are being written.
  std::size_t held_bytes() const;

  /// Records that are written survive this process, synced ones a loss of power too. A run of which the journal went
  /// away without an end is closed with what is done next.
  std::unique_ptr<run_journal> open_run(const std::string& run) override;

  bool keeps_sessions() const override { return true; }
  bool is_shared() const override;
  void load_history(std::string session, answer<history> then) override;
  void list_sessions(session_query q, answer<std::vector<session_row>> then) override;
  void read_session(std::string session, answer<session_contents> then) override;
  void erase_session(std::string session, answer<void> then) override;
  void take_unfinished(answer<std::vector<unfinished_run>> then) override;
  void find_ended(std::string run, answer<std::vector<run_record>> then) override;
  void find_owner(std::string run, answer<std::optional<std::string>> then) override;

 private:
  std::shared_ptr<store_lane> lane_;
};

}  // namespace mcpbx::daemon
