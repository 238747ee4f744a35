// The journal over a store. Appends of all runs queue here and go to the store on its own lane, all waiting ones in one
// transaction. Reads take turns with them.
#pragma once
#include "daemon/store/journal.hpp"
#include "daemon/store/run_store.hpp"
#include "daemon/store/store_worker.hpp"
#include "mcp/support/time.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

namespace mcpbx::daemon::store {

class store_lane;

class lane_journal final : public journal {
 public:
  struct options {
    record_rules rules;
    retention keep;
    /// Sync also appends with the intent of a call that is about to be sent to a server (`store.sync: "call"`).
    bool sync_calls = false;
    /// Largest size, as text, of all records that wait or are being written. Beyond it a run keeps its records and
    /// waits; an append always enters an empty lane.
    std::size_t max_bytes = std::size_t{16} << 20;
    /// Longest time for a write or read, waiting included; then it fails with errc::io, though the lane goes on with
    /// it. Appends of begun runs may wait longer for a shared store (run_journal::wait_at_most): they are repeated
    /// while it cannot be reached.
    milliseconds max_wait{10'000};
    std::size_t max_reads = 256;  ///< largest number of waiting reads; more are refused with errc::limit
    /// Number of open runs up to which both threads spin instead of sleeping, as long as commits are short: the
    /// speaking thread for each commit (short_wait), the lane for the next job. With more runs there is other work. 0:
    /// never.
    std::size_t awake_runs = 0;
  };

  /// Touches no store and starts no thread. The first write or read does that, and closes the runs that an earlier
  /// process left without an end. If the store cannot be opened that operation fails, and the next one tries again.
  /// `time` must outlive the journal, the context of `executor` all appends.
  lane_journal(boost::asio::any_io_executor executor, time_source& time, std::unique_ptr<run_store> file, options o);
  /// Waits for the present job of the lane and drops the queue.
  ~lane_journal() override;

  /// Returns the size in bytes of records that wait or are being written.
  std::size_t held_bytes() const;

  /// Opens a run. Written records survive this process, synced ones also a loss of power. If the returned journal is
  /// destroyed before the run's end, the next job closes the run.
  std::unique_ptr<run_journal> open_run(const std::string& run) override;

  bool keeps_sessions() const override { return true; }
  bool is_shared() const override;
  std::optional<journal_trouble> trouble() const override;
  void load_history(std::string session, answer<history> then) override;
  void list_sessions(stored::session_query q, answer<std::vector<stored::session_row>> then) override;
  void read_session(std::string session, answer<stored::session_contents> then) override;
  void erase_session(std::string session, answer<void> then) override;
  void take_unfinished(answer<std::vector<unfinished_run>> then) override;
  void find_ended(std::string run, answer<std::vector<stored::run_record>> then) override;
  void find_owner(std::string run, answer<std::optional<std::string>> then) override;
  void count_usage(stored::look_back where, answer<usage_page> then) override;
  void find_words(stored::look_back where, std::string words, std::size_t most, answer<found_page> then) override;

 private:
  std::shared_ptr<store_lane> lane_;
};

}  // namespace mcpbx::daemon::store
