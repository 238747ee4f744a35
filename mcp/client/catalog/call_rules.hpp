// Rules for calling the tools of a server, as the configuration has them for the server and for single tools.
#pragma once
#include "mcp/protocol/features.hpp"
#include "mcp/rpc/pending_calls.hpp"
#include "mcp/support/time.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mcpbx::mcp::catalogs {

/// The manner in which calls of one tool are made.
struct call_manner {
  /// Calls of a server's serial tools that stand in one model reply are made one after another, in order.
  bool serial = false;
  /// Number of times that a call without an answer may be made again. 0 unless the configuration, or a trusted
  /// annotation, says that repeating is harmless.
  int max_retries = 0;
  std::optional<rpc::call_limits> limits;  ///< the tool's own; absent: the server's
};

/// Rules of one server. Globs match the server's own names of tools.
struct call_rules {
  bool serial = false;                    ///< all tools of the server are serial
  std::vector<std::string> serial_tools;  ///< globs of tools that are serial
  std::vector<std::string> retry;         ///< globs of tools that may be called again, whatever their annotations say
  bool trust_annotations = false;         ///< tools annotated as read-only or idempotent may be called again, too
  int max_retries = 2;
  rpc::call_limits limits;                                       ///< limits of the server
  std::vector<std::pair<std::string, milliseconds>> idle, hard;  ///< of tools; first match counts

  call_manner of(const protocol::feature_item& tool) const;
  bool operator==(const call_rules&) const = default;
};

}  // namespace mcpbx::mcp::catalogs
