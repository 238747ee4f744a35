// Where references of the configuration get their values: this process's environment, files, and programs. Blocking, so
// it is used on threads of its own and before the daemon listens (start_values), but for variables.
#pragma once
#include "conf/model/references.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::daemon {

class system_references final : public conf::reference_source {
 public:
  std::optional<std::string> env(std::string_view name) override;
  /// errc::not_found, errc::io, or errc::limit above 1 MiB.
  result<std::string> file(const std::string& path) override;
  /// Runs `words[0]` from PATH with the daemon's environment, without a shell; standard input is empty, standard error
  /// goes nowhere. errc::timed_out after 5 s, errc::limit above 1 MiB, errc::config for a status other than 0.
  result<std::string> command(const std::vector<std::string>& words) override;
};

}  // namespace mcpbx::daemon
