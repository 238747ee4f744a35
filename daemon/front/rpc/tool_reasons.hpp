// The reasons why a tool is offered, hidden or unknown, one after another in the order in which they take effect. No
// I/O.
#pragma once
#include "daemon/front/chat/chat_params.hpp"
#include "daemon/policy/policy.hpp"
#include "mcp/client/catalog/catalog.hpp"
#include "mcp/client/client.hpp"
#include "mcp/json/raw_json.hpp"
#include "mcp/protocol/features.hpp"

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::daemon::rpc_door {

/// All that an explanation depends on.
struct tool_question {
  std::string_view name;     ///< as callers see it, or the server's own
  std::string_view profile;  ///< "": none
  const mcp::catalogs::catalog& whole;
  const chat::chat_base* base = nullptr;  ///< of the profile; null: none was named
  std::string_view usual_profile;         ///< under which runs begin that name none, or ""
  std::span<const mcp::clients::server_status> servers;
  policy::approval_rules rules;  ///< with the profile's
  /// Returns the tools that a server lists, before any filter; null: unknown.
  std::function<mcp::protocol::feature_list(std::string_view server)> listed;
};

/// One step on the way of a tool to its callers.
struct tool_step {
  std::string_view check;  ///< server, list, filter, name, pins or profile
  bool ok = true;
  std::string text;
  std::string pattern = {};  ///< the glob that decided
  std::string mend = {};
};

struct tool_reasons {
  enum class outcome : std::uint8_t { offered, hidden, unknown };
  outcome is = outcome::unknown;
  std::string name, server, own;  ///< as far as they are known
  std::vector<tool_step> steps;
  bool needs_approval = false;
  std::string approval, approval_pattern;  ///< the rule, in words, and its glob
  std::vector<std::string> near;           ///< names that resemble the one that was asked for
};

tool_reasons explain(const tool_question& q);

/// Returns the result of mcpbx/why.
json::raw_json to_json(const tool_question& q, const tool_reasons& r);

}  // namespace mcpbx::daemon::rpc_door
