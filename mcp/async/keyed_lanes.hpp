// Blocking work that may hang, with a thread for each thing that it is about: what hangs on one host, file or command
// holds up nobody who asks for another one.
#pragma once
#include "mcp/support/error.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

namespace mcpbx {

/// Used on the speaking thread only.
class keyed_lanes {
 public:
  struct options {
    std::size_t threads = 16;   ///< keys whose work runs at a time; further keys wait for one that is done
    std::size_t waiting = 256;  ///< pieces of work that wait, of one key and of all keys together four times as many
  };
  /// `executor` is the speaking thread's. Threads start when they are needed, with all signals blocked, and end when
  /// nothing is left for them, but for one.
  keyed_lanes(boost::asio::any_io_executor executor, std::string name, options o);
  keyed_lanes(boost::asio::any_io_executor executor, std::string name)
      : keyed_lanes(std::move(executor), std::move(name), options()) {}
  /// Waits for what runs; what waits is dropped.
  ~keyed_lanes();
  keyed_lanes(const keyed_lanes&) = delete;
  keyed_lanes& operator=(const keyed_lanes&) = delete;

  /// Runs `work` on a thread, behind all earlier work of `key`. errc::unavailable where no thread can be started,
  /// errc::limit where too much waits already; then `work` does not run.
  [[nodiscard]] result<void> post(const std::string& key, std::function<void()> work);
  /// Keys whose work runs.
  std::size_t busy() const noexcept;
  /// Waits for what runs.
  void join();

 private:
  class core;
  std::shared_ptr<core> core_;
};

}  // namespace mcpbx
