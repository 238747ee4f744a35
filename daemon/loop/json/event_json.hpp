// Writes the bodies of events and the result of a run, with exactly the members that docs/protocol.md lists. JSON
// of servers and models is passed on byte for byte.
#pragma once
#include "daemon/loop/core/run_facts.hpp"
#include "mcp/client/catalog/catalog.hpp"
#include "mcp/json/raw_json.hpp"
#include "mcp/support/keyed_hash.hpp"
#include "providers/model/message.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::daemon::event_json {

/// Writes a status line. `tool`: name of the tool that it is about, or "".
json::segments status(std::string_view text, std::string_view tool);
/// Writes the beginning of a round. `number` counts from 1.
json::segments round(int number, std::string_view model);
/// Writes the start of a call. Absent `arguments` become null.
json::segments tool_call(std::string_view call, std::string_view name, std::string_view server,
                         const json::raw_json& arguments);
/// Writes an event from the parameters of notifications/progress. Leaves out members of the wrong JSON type.
json::segments tool_progress(std::string_view call, const json::raw_json& params);
/// Writes an event from the parameters of notifications/message. Turns data above 16 KiB into a text that is cut.
json::segments tool_log(std::string_view call, const json::raw_json& params);
/// Writes the result of a call: only its content, byte for byte.
json::segments tool_result(std::string_view call, bool is_error, const json::raw_json& result,
                           std::int64_t duration_ms);
/// Writes the event that asks the question of a record.
json::segments question(const stored::record::question& q);
/// Writes the event that tells all readers that a question is no longer open. `reason`: why nobody could answer it, or
/// "". The content of an input stays between its caller and the server.
json::segments answer(const stored::record::answer& a, std::string_view reason = {});
/// Writes the tokens used so far. `model` is the id of the model that answered, or "".
json::segments usage(const providers::usage& so_far, std::string_view model);
/// Returns the tokens as the `usage` object of results and sessions.
json::raw_json usage_members(const providers::usage& u);
/// Writes an error. `partial`: the text since the last round event is part of a broken answer. `retry_after_ms`: wait
/// that the endpoint asked for, in milliseconds; 0: none.
json::segments error(std::string_view message, bool retryable, bool partial, std::int64_t retry_after_ms = 0);
/// Writes the event that replaces dropped ones. `round`: body of the last round event, or empty; `text`: text since
/// then, or null for a reader without text; `calls`, `questions`: bodies of the events of open calls and questions.
json::segments snapshot(const json::segments& round, const std::string* text, const std::vector<json::segments>& calls,
                        const std::vector<json::segments>& questions);
/// Writes the event that ends all present readers, with the result of the ended or parked run.
json::segments done(const json::raw_json& result);
/// Returns the result in a body that done() made. Shares its bytes.
json::raw_json result_of_done(const json::segments& body);

/// Returns the body of an approval question: the tool, the arguments as the model wrote them, the reason for the
/// question, and the schema of the answer.
json::raw_json approval(const mcp::catalogs::catalog_entry& tool, const json::raw_json& arguments,
                        std::string_view why);

/// Returns the body of the approval of something that is named like a tool.
json::raw_json approval(std::string_view server, std::string_view tool, const json::raw_json& arguments,
                        std::string_view why);
/// Returns the body of an input question: the server, the tool of its call, and the message with the requested schema
/// or the address (params of elicitation/create).
json::raw_json input(std::string_view server, std::string_view tool, const json::raw_json& params);

/// The part of a run that its journal has, if the journal failed.
struct kept_part {
  bool session = false;                 ///< true: the session exists in the journal
  std::size_t messages = 0, calls = 0;  ///< numbers of recorded messages and calls, from the first
  int rounds = 0;
  text_set lost;  ///< ids of recorded calls whose results are not recorded
};

/// Returns the result of a run that has ended or hands calls to its caller (L16), without the session's earlier
/// messages. With `kept`, for a run whose journal failed, tells only of what the journal has.
json::raw_json run_result(const core::run_facts& run, const kept_part* kept = nullptr);

}  // namespace mcpbx::daemon::event_json
