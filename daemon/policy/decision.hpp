// The outcome of a decision: what may happen, and the rule that says so.
#pragma once
#include <cstdint>
#include <string_view>

namespace mcpbx::daemon::policy {

enum class verdict : std::uint8_t {
  deny,
  ask,  ///< a person has to approve it first
  allow,
};

/// The rule that decided.
enum class rule : std::uint8_t {
  none,                  ///< no rule stands against it
  unknown_process,       ///< of a caller: the system does not say which process it is
  may_not_call,          ///< of a caller: a tool server whose entry does not have `mayCall`
  denied,                ///< `deny` of the profile, now or when the run began
  not_allowed,           ///< `allow` of the profile, now or when the run began
  not_asked_for,         ///< `tools` of the request
  new_server,            ///< the run began when this server was not configured
  entry_then,            ///< `tools` of the server's entry when the run began
  withheld,              ///< the tool's definition, or its server, is not the pinned one
  not_of_a_server,       ///< a tool of the caller's own, or one that the run carries out itself
  by_a_person,           ///< a person makes the call, and so approves it
  profile_approve,       ///< `approve` of the profile
  entry_approve,         ///< `approve` of the server's entry
  entry_approve_then,    ///< the same when the run began
  approve_destructive,   ///< the setting of this name
  approve_after_output,  ///< the setting of this name
  changed,               ///< an approval is needed, and the tool is not any more what the model was offered
  approved,              ///< a person has approved this call, or all of this tool
  run_is_ending,         ///< an approval is needed, and the run ends at a failure
  may_not_ask,           ///< an approval is needed, and `approve` of the run is `none`
  nobody_to_ask,         ///< an approval is needed, and nobody who follows the run can give it
  approved_beforehand,   ///< `approve` of the run is `all`
};

struct decision {
  verdict says = verdict::deny;
  rule by = rule::none;
  /// The pattern that matched or the clause that says why, "" where there is none. A view of what was passed in.
  std::string_view text = {};

  bool allows() const noexcept { return says == verdict::allow; }
  bool denies() const noexcept { return says == verdict::deny; }
};

}  // namespace mcpbx::daemon::policy
