// Call ids must be unique in a run: results, events and cancellation go by them. Codecs see to it; this makes sure.
#pragma once
#include "daemon/loop/run_core.hpp"
#include "mcp/support/time.hpp"
#include "providers/model/message.hpp"

#include <vector>

namespace mcpbx::daemon {

/// `m` itself, or a copy in which every call without an id, or with one that occurs in `earlier` or before it in the
/// message, got a new one (guarantees row 29: dup-tool-ids, no-tool-id).
providers::message_ptr with_unique_ids(providers::message_ptr m, const std::vector<call_report>& earlier,
                                       random_source& random);

}  // namespace mcpbx::daemon
