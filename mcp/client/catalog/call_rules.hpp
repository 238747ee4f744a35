// How a server's tools are called, as configuration has it for the server and for single tools.
#pragma once
#include "mcp/protocol/features.hpp"
#include "mcp/rpc/pending_calls.hpp"
#include "mcp/support/time.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mcpbx::mcp {

/// How calls of one tool are made.
struct call_manner {
  /// Of one reply, calls of the serial tools of a server are made one after another, in order.
  bool serial = false;
  /// How often a call that got no answer may be made again. 0 unless somebody who is believed says that it does no
  /// harm.
  int max_retries = 0;
  std::optional<call_limits> limits;  ///< the tool's own; none: the server's
};

/// For one server. Globs match the server's own names of tools.
struct call_rules {
  bool serial = false;                    ///< all of its tools are
  std::vector<std::string> serial_tools;  ///< those that are
  std::vector<std::string> retry;         ///< tools that may be called again, whatever they say of themselves
  bool trust_annotations = false;         ///< tools that say that they only read, or are idempotent, may too
  int max_retries = 2;
  call_limits limits;                                            ///< of the server
  std::vector<std::pair<std::string, milliseconds>> idle, hard;  ///< of tools; the first glob that matches counts

  call_manner of(const feature_item& tool) const;
  bool operator==(const call_rules&) const = default;
};

}  // namespace mcpbx::mcp
