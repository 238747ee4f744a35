// The journal on disk: appends of all runs queue here and go to the SQLite file on its own lane, as many as are there
// in one transaction.
#pragma once
#include "daemon/store/journal.hpp"
#include "daemon/store/sqlite_file.hpp"
#include "mcp/support/time.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace mcpbx::daemon {

/// The records that close a run of which these are all; run_core::recovery() of their fold. Called on the lane.
using recovery_rule = std::function<std::vector<run_record>(const std::vector<run_record>& of_a_run)>;

class sqlite_journal final : public journal {
 public:
  struct options {
    sqlite_file::options file;
    recovery_rule recovery;
    std::size_t max_batch_bytes = std::size_t{16} << 20;  ///< of one transaction; what is more waits its turn
    milliseconds max_wait{10'000};                        ///< for the lane; then the append fails with errc::io
  };

  /// Touches no file and starts no thread: that is done by the first append, which also closes the runs that an earlier
  /// process left without an end. While the file cannot be opened appends fail, and each tries again.
  /// `time` must outlive the journal; so must `executor`'s context the appends that are going on.
  sqlite_journal(boost::asio::any_io_executor executor, time_source& time, options o);
  /// Waits for the transaction that is being written; what is queued is not.
  ~sqlite_journal() override;

  /// Records that are written survive this process, synced ones a loss of power too. A run of which the journal went
  /// away without an end is closed with the next append of another one.
  std::unique_ptr<run_journal> open_run(const std::string& run) override;

 private:
  class impl;
  class one_run;
  std::shared_ptr<impl> impl_;
};

}  // namespace mcpbx::daemon
