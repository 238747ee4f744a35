// Names of runs that are about to begin: their requests still ask the journal whether the name was given before.
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

namespace mcpbx::daemon {

/// Whoever names such a run waits until its request has begun it, or not.
class begun_names {
 public:
  /// How many can wait, for whatever names.
  static constexpr std::size_t max_waiting = 256;

  explicit begun_names(boost::asio::any_io_executor executor) : executor_(std::move(executor)) {}

  bool has(const std::string& name) const { return all_->names.contains(name); }
  /// The name is about to begin for as long as what is returned lives; it must not be there already.
  std::shared_ptr<void> hold(const std::string& name);
  /// `then` comes in a later turn, when the name, which is there, is let go of. errc::limit: too many wait.
  result<void> wait(const std::string& name, std::function<void()> then);

 private:
  // Shared, since a journal may still hold a request when its door is gone.
  struct waiting {
    std::unordered_map<std::string, std::vector<std::function<void()>>> names;
    std::size_t count = 0;
  };
  boost::asio::any_io_executor executor_;
  std::shared_ptr<waiting> all_ = std::make_shared<waiting>();
};

}  // namespace mcpbx::daemon
