// The audit's file: append-only, one write for all records that have gathered, on a lane of its own. Whoever records a
// call keeps its answer back until the record is written, so that no answered call is missing, however the daemon ends.
#pragma once
#include "daemon/guard/audit/audit_record.hpp"
#include "mcp/support/error.hpp"
#include "mcp/support/time.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace mcpbx::daemon {

class audit_log {
 public:
  struct options {
    result<std::string> path;                       ///< or why there is no place for it
    bool make_folder = false;                       ///< whether its folder is created, mode 0700
    milliseconds max_wait{2'000};                   ///< for the disk; then answers go out all the same
    std::size_t max_bytes = std::size_t{64} << 20;  ///< of records that wait; what is more is lost, and counted
  };
  struct counters {
    std::uint64_t records = 0;  ///< written
    std::uint64_t lost = 0;     ///< that could not be written
    std::string problem;        ///< why the last write failed, one sentence; "" when it did not
  };

  /// Touches no file and starts no thread until the first record. `time` must outlive it.
  audit_log(boost::asio::any_io_executor executor, time_source& time, options o);
  /// Writes what waits. Nobody is told any more.
  ~audit_log();
  audit_log(const audit_log&) = delete;
  audit_log& operator=(const audit_log&) = delete;

  /// Calls `then` on the speaking thread, later and in the order of appending: once the record is in the file (it then
  /// survives this process), or cannot be. The file is created with mode 0600 and opened anew when it was moved away.
  void append(audit_record r, std::function<void()> then);
  const counters& counts() const;
  /// Its path, or "".
  const std::string& path() const;

 private:
  class impl;
  std::shared_ptr<impl> impl_;
};

}  // namespace mcpbx::daemon
