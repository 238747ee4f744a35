// The outcome of reading the configuration again, and what is in force.
#pragma once
#include "mcp/json/raw_json.hpp"
#include "mcp/support/error.hpp"

#include <functional>
#include <string>
#include <vector>

namespace mcpbx::daemon::front {

/// The configuration that is in force now.
struct reload_report {
  std::vector<std::string> files;    ///< in force, in the order of merging; empty: the defaults hold
  std::vector<std::string> waiting;  ///< keys whose values differ from those of the daemon's start, which go on to hold
  std::vector<std::string> notices;  ///< findings that are no errors, a line each
};

/// Gets the report, or the reason why nothing has changed (errc::config lists the errors, a line each).
using reload_answer = std::function<void(result<reload_report>)>;

/// Gets the configuration in force: `{files, config, origins, fromNextStart}`.
using config_answer = std::function<void(result<json::raw_json>)>;

}  // namespace mcpbx::daemon::front
