// Lanes for blocking work that may hang, with a thread for each key (a host, a file, a command), so that a job that
// hangs delays only jobs with the same key.
#pragma once
#include "mcp/support/error.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

namespace mcpbx::async {

/// Used on the speaking thread only.
class keyed_lanes {
 public:
  struct options {
    std::size_t threads = 16;   ///< largest number of keys whose work runs at a time; others wait
    std::size_t waiting = 256;  ///< largest number of waiting jobs of one key; of all keys four times as many
  };
  /// `executor` is the speaking thread's. Threads start on demand with all signals blocked; all but one end when no
  /// work is left.
  keyed_lanes(boost::asio::any_io_executor executor, std::string name, options o);
  keyed_lanes(boost::asio::any_io_executor executor, std::string name)
      : keyed_lanes(std::move(executor), std::move(name), options()) {}
  /// Waits for running jobs and drops waiting ones.
  ~keyed_lanes();
  keyed_lanes(const keyed_lanes&) = delete;
  keyed_lanes& operator=(const keyed_lanes&) = delete;

  /// Runs `work` on a thread, behind all earlier work of `key`. errc::unavailable: no thread can be started;
  /// errc::limit: too much waits already. After an error `work` does not run.
  [[nodiscard]] result<void> post(const std::string& key, std::function<void()> work);
  /// Returns the number of keys whose work runs.
  std::size_t busy() const noexcept;
  /// Waits for running jobs.
  void join();

 private:
  class core;
  std::shared_ptr<core> core_;
};

}  // namespace mcpbx::async
