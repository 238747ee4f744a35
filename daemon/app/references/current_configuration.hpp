// The present configuration as an immutable snapshot that is replaced as a whole. Each request takes the snapshot once
// and keeps it, so a change never shows in the middle of a request.
#pragma once
#include "conf/model/model.hpp"
#include "daemon/app/references/start_values.hpp"

#include <memory>
#include <utility>

namespace mcpbx::daemon::references {

/// A checked configuration together with the values that files and programs gave for it.
struct configuration_snapshot {
  /// Reads the values. Blocks as start_values does.
  explicit configuration_snapshot(conf::model::configuration c) : config(std::move(c)), values(config) {}

  conf::model::configuration config;
  start_values values;
};
using configuration_ptr = std::shared_ptr<const configuration_snapshot>;

/// The one holder of the present configuration. Belongs to the main thread.
class current_configuration {
 public:
  explicit current_configuration(configuration_ptr first) : now_(std::move(first)) {}
  current_configuration(const current_configuration&) = delete;
  current_configuration& operator=(const current_configuration&) = delete;

  /// Returns the present snapshot; never null.
  const configuration_ptr& snapshot() const noexcept { return now_; }
  /// Replaces the snapshot for new requests; running ones keep the snapshot that they took.
  void replace(configuration_ptr next) { now_ = std::move(next); }

 private:
  configuration_ptr now_;
};

}  // namespace mcpbx::daemon::references
