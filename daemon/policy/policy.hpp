// Decides what callers may see and call, and which calls need the approval of a person. Pure: all that a decision
// depends on is passed in, and a decision names its rule.
#pragma once
#include "daemon/policy/decision.hpp"
#include "daemon/policy/tool_facts.hpp"
#include "daemon/store/records/record.hpp"
#include "daemon/store/records/tool_choice.hpp"
#include "mcp/json/raw_json.hpp"

#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace mcpbx::daemon::policy {

/// A process that wants to connect as a caller.
struct calling_process {
  bool known = false;     ///< the system says whose process it is
  bool of_ours = true;    ///< the keeper or a tool server that it has started
  bool may_call = false;  ///< `mayCall` of that server's entry
};
/// Allows or denies.
decision decide(const calling_process& who);

/// Decides whether a run or a list offers a tool of the catalog, by all but the request's own patterns: `deny` and
/// `allow` of the profile, and the terms that a resumed run began with. Allows or denies.
decision decide_offer(const stored::tool_choice& choice, const tool_facts& tool);
/// Decides by the request's own patterns, of a tool that the request sees as `shown`. Allows or denies.
decision decide_request(const stored::tool_choice& choice, std::string_view shown);

/// The rules that make calls need an approval.
struct approval_rules {
  terms_ptr entries = {};                     ///< `approve` of the servers' entries now; null: none
  std::span<const std::string> profile = {};  ///< `approve` of the profile: globs on the catalog's names
  const stored::kept_terms* then = nullptr;   ///< the terms that a resumed run began with; null: it was not resumed
  bool destructive = false;                   ///< approveDestructive
  bool after_output = false;  ///< approveAfterOutput, and the model has read what a tool or its server wrote
};

/// A run that is about to make a call of a tool that it offers.
struct calling_run {
  approval_rules rules;
  stored::approval_mode mode = stored::approval_mode::none;  ///< `approve` of the run
  bool reachable = false;  ///< somebody who follows the run can be asked, or may be in time
  bool ending = false;     ///< the run begins nothing that needs an approval any more
  /// Tells whether a person has approved this tool with these arguments; empty: nobody has. Called only if needed.
  std::function<bool(const json::raw_json& arguments)> approved = {};
};
/// Allows, denies, or asks; then `by` is the rule that wants the approval.
decision decide(const calling_run& who, const tool_facts& tool, const json::raw_json& arguments);

/// A caller that makes a call itself, by tools/call, of a tool that it is listed.
struct direct_caller {
  approval_rules rules;
  bool is_person = false;  ///< else a tool server, on whose behalf nobody can be asked
};
/// Allows or denies.
decision decide(const direct_caller& who, const tool_facts& tool);

/// A prompt or resource that a caller reads itself.
struct read_facts {
  std::string_view server;  ///< configured name
  std::string_view own;     ///< the server's own name or URI of it
  bool is_uri = false;
};
/// Allows or denies, by `approve` of the server's entry: reading destroys nothing.
decision decide(const direct_caller& who, const read_facts& what);

}  // namespace mcpbx::daemon::policy
