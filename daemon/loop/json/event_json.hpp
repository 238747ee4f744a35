// The bodies of events and the result of a run, with exactly the members that docs/protocol.md lists. What servers
// and models sent is passed on as its own bytes.
#pragma once
#include "daemon/loop/core/run_core.hpp"
#include "mcp/client/catalog/catalog.hpp"
#include "mcp/json/raw_json.hpp"
#include "providers/model/message.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace mcpbx::daemon::event_json {

segments status(std::string_view text, std::string_view tool);
segments round(int number, std::string_view model);
segments tool_call(std::string_view call, std::string_view name, std::string_view server, const raw_json& arguments);
/// From the parameters of notifications/progress; members of other kinds are left out.
segments tool_progress(std::string_view call, const raw_json& params);
/// From the parameters of notifications/message; data beyond 16 KiB is cut to a text that says so.
segments tool_log(std::string_view call, const raw_json& params);
segments tool_result(std::string_view call, bool is_error, const raw_json& result, std::int64_t duration_ms);
/// The question of a record.
segments question(const record::question& q);
/// That a question is open no more: for everybody who was asked.
segments answer(const record::answer& a);
/// `model` is the id of the model that answered, or "".
segments usage(const providers::usage& so_far, std::string_view model);
/// Tokens as the object that results and sessions have.
raw_json usage_members(const providers::usage& u);
/// `partial`: the text since the last round event is a part of an answer that broke. `retry_after_ms`: what the
/// endpoint asked for, told where it is above 0.
segments error(std::string_view message, bool retryable, bool partial, std::int64_t retry_after_ms = 0);
/// What has been dropped, folded: `round` is the body of the last round event or empty, `text` the text since then or
/// null for whoever gets no text, `calls` and `questions` are the bodies of the events of those that are open.
segments snapshot(const segments& round, const std::string* text, const std::vector<segments>& calls,
                  const std::vector<segments>& questions);
segments done(const raw_json& result);
/// The result inside of a body made by done(), sharing its bytes.
raw_json result_of_done(const segments& body);

/// What an approval question shows: the tool, the arguments as the model wrote them, why there is a question, and the
/// schema of its answer.
raw_json approval(const mcp::catalog_entry& tool, const raw_json& arguments, std::string_view why);

/// How much of a run its journal has.
struct kept_part {
  bool session = false;  ///< whether its session is there
  std::size_t messages = 0, calls = 0;
  int rounds = 0;
  std::unordered_set<std::string> lost;  ///< ids of the calls among them whose results are not kept
};

/// The result of a run that has ended, or that hands calls back to its caller (L16); of its messages those
/// that its session held before are left out. `kept` when its journal failed: nothing is told as kept that is not.
raw_json run_result(const run_core& core, const kept_part* kept = nullptr);

}  // namespace mcpbx::daemon::event_json
