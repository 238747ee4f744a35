// Audit log: appends records to a file on a lane of its own, with one write for all waiting records. A call's answer is
// held back until its record is written, so that no answered call is missing, however the daemon ends.
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

namespace mcpbx::daemon::audit {

class audit_log {
 public:
  struct options {
    result<std::string> path;                       ///< path of the file, or the reason why there is none
    bool make_folder = false;                       ///< create its folder with mode 0700
    milliseconds max_wait{2'000};                   ///< longest wait for the disk; answers go out after it
    std::size_t max_bytes = std::size_t{64} << 20;  ///< largest size of waiting records; others are lost and counted
  };
  struct counters {
    std::uint64_t records = 0;  ///< written records
    std::uint64_t lost = 0;     ///< records that could not be written
    std::string problem;        ///< sentence about the failure of the last write; "" if it succeeded
  };

  /// Touches no file and starts no thread before the first record. `time` must outlive the log.
  audit_log(boost::asio::any_io_executor executor, time_source& time, options o);
  /// Writes the waiting records. Calls no callback any more.
  ~audit_log();
  audit_log(const audit_log&) = delete;
  audit_log& operator=(const audit_log&) = delete;

  /// Appends a record and calls `then` later, on the speaking thread and in order: when the record is in the file, or
  /// cannot be. Creates the file with mode 0600; reopens it after a rotation.
  void append(audit_record r, std::function<void()> then);
  const counters& counts() const;
  /// Returns the path of the file, or "".
  const std::string& path() const;

 private:
  class impl;
  std::shared_ptr<impl> impl_;
};

}  // namespace mcpbx::daemon::audit
