// Makes the ids of tool calls unique in a conversation. Results, events and cancellation refer to calls by id, and some
// providers refuse a history in which an id occurs twice. Codecs already take care of this; here it is enforced.
#pragma once
#include "daemon/loop/core/run_core.hpp"
#include "mcp/support/keyed_hash.hpp"
#include "mcp/support/time.hpp"
#include "providers/model/message.hpp"

#include <string>
#include <vector>

namespace mcpbx::daemon::core {

/// Returns the ids of all calls in these messages.
text_set ids_of(const std::vector<providers::message_ptr>& messages);

/// Returns `m`, or a copy in which each call with an empty or repeated id got a new random id (G29). An id is repeated
/// if it is in `before` (history before the run) or `earlier` (calls of the run), or occurs earlier in `m`.
providers::message_ptr with_unique_ids(providers::message_ptr m, const text_set& before,
                                       const std::vector<call_report>& earlier, random_source& random);

/// Renames repeated call ids, and the ids in their results, in the messages that a caller sends; adds all ids to
/// `taken`. New ids are hashes, so a conversation that is sent again with more messages begins with the same bytes.
void separate_ids(std::vector<providers::message_ptr>& messages, text_set& taken);

}  // namespace mcpbx::daemon::core
