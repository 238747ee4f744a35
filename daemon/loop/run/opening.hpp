// The first record of a run: the system prompt, the messages, the tools and the settings of its conversation with the
// model; and back from that record to the request. No I/O.
#pragma once
#include "daemon/loop/run/runner.hpp"
#include "daemon/loop/tools/tool_offer.hpp"
#include "daemon/loop/tools/tool_source.hpp"
#include "daemon/store/journal.hpp"
#include "daemon/store/records/record.hpp"
#include "mcp/support/keyed_hash.hpp"
#include "mcp/support/time.hpp"
#include "providers/model/message.hpp"

#include <memory>
#include <string>
#include <vector>

namespace mcpbx::daemon::run {

/// Conversation and names that a run takes over from earlier runs.
struct session_before {
  store::journal::history history;                ///< of the session that it continues
  std::vector<stored::record::meant_tool> meant;  ///< tools behind the names in messages that another session gave
};

/// Services for opening_of(). `offer` has taken the tools of the first round.
struct opening_parts {
  const providers::model& model;
  const tools::tool_offer& offer;
  const tools::tool_source& tools;
  random_source& random;
};

struct run_opening {
  stored::record::run_started first;
  text_set call_ids;  ///< of all calls in the conversation
};

/// Builds run_started: the system prompt (the request's, else the model's) with the guidance and the servers'
/// instructions, then the conversation as the caller sent it, with the results in the order of their calls. Moves the
/// messages out of the request.
run_opening opening_of(run_request& request, session_before before, const opening_parts& of);

/// Returns the request that a run of an earlier process began with, to be gone on with under this configuration. Run
/// and session are left to the caller.
run_request request_of(const stored::record::run_started& started, std::shared_ptr<run_configuration> configured);

}  // namespace mcpbx::daemon::run
