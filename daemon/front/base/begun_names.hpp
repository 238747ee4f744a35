// Names of runs that are about to begin, while their requests still ask the journal if the name was given before.
#pragma once
#include "mcp/support/error.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace mcpbx::daemon::front {

/// The set of such names. Other requests for a name wait until its request has begun the run or has failed.
class begun_names {
 public:
  /// Most waiting requests for all names together.
  static constexpr std::size_t max_waiting = 256;

  explicit begun_names(boost::asio::any_io_executor executor) : executor_(std::move(executor)) {}

  bool has(const std::string& name) const { return all_->names.contains(name); }
  /// Holds the name for as long as the returned object lives. The name must not be held already.
  std::shared_ptr<void> hold(const std::string& name);
  /// Calls `then` in a later turn, when the held name is released. errc::limit: too many wait.
  result<void> wait(const std::string& name, std::function<void()> then);

 private:
  // Shared, because a journal may hold a request longer than the door lives.
  struct waiting {
    std::unordered_map<std::string, std::vector<std::function<void()>>> names;
    std::size_t count = 0;
  };
  boost::asio::any_io_executor executor_;
  std::shared_ptr<waiting> all_ = std::make_shared<waiting>();
};

}  // namespace mcpbx::daemon::front
