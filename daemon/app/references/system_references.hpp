// Sources of referenced values: this process's environment, files, and programs. Files and programs block, so they are
// read on worker threads or before the daemon listens (start_values).
#pragma once
#include "conf/model/references.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::daemon::references {

class system_references final : public conf::model::reference_source {
 public:
  std::optional<std::string> env(std::string_view name) override;
  /// Returns the content of a file. errc::not_found, errc::io, or errc::limit above 1 MiB.
  result<std::string> file(const std::string& path) override;
  /// Runs `words[0]` from PATH, without a shell, in the daemon's environment, with empty stdin and discarded stderr.
  /// errc::timed_out after 5 s, errc::limit above 1 MiB, errc::config for a status other than 0.
  result<std::string> command(const std::vector<std::string>& words) override;
};

}  // namespace mcpbx::daemon::references
