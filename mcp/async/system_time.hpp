// The real clock, timers and randomness behind the interfaces of mcp/support/time.hpp.
#pragma once
#include "mcp/support/time.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <memory>

namespace mcpbx::async {

class system_time final : public time_source {
 public:
  /// Timers fire on `executor`.
  explicit system_time(boost::asio::any_io_executor executor) : executor_(std::move(executor)) {}
  time_point now() const override;
  std::int64_t wall_ms() const override;
  std::unique_ptr<timer> make_timer() override;

 private:
  boost::asio::any_io_executor executor_;
};

/// A generator seeded from the system (getrandom); not for keys.
class system_random final : public random_source {
 public:
  system_random();
  std::uint64_t next() override;

 private:
  std::uint64_t state_;
};

}  // namespace mcpbx::async
