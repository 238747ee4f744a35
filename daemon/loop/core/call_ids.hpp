// Call ids must be unique in a conversation: results, events and cancellation go by them, and some providers refuse a
// history in which one occurs twice. Codecs see to it; this makes sure.
#pragma once
#include "daemon/loop/core/run_core.hpp"
#include "mcp/support/time.hpp"
#include "providers/model/message.hpp"

#include <string>
#include <unordered_set>
#include <vector>

namespace mcpbx::daemon {

/// The ids of the calls in these messages.
std::unordered_set<std::string> ids_of(const std::vector<providers::message_ptr>& messages);

/// `m` itself, or a copy in which every call without an id, or with one that occurs in `before` (the run), in `earlier`
/// (of the run) or before it in the message, got a new one (G29).
providers::message_ptr with_unique_ids(providers::message_ptr m, const std::unordered_set<std::string>& before,
                                       const std::vector<call_report>& earlier, random_source& random);

/// The same for the messages that a caller brings, and for the results in them: an id that is in `taken`, or stood
/// before, becomes another, which is always the same one for the same messages, so that a conversation that comes again
/// with more at its end begins with the same bytes. `taken` has all ids then.
void separate_ids(std::vector<providers::message_ptr>& messages, std::unordered_set<std::string>& taken);

}  // namespace mcpbx::daemon
