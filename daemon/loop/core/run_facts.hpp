// Facts of a run that its records add up to, as the result, the events and the journal tell of them.
#pragma once
#include "daemon/loop/results/kept_results.hpp"
#include "daemon/store/records/record.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::daemon::core {

/// A call as the run's result reports it (L16).
struct call_report {
  std::string id, name, server;  ///< `server` is empty if the tool is unknown or the caller's own
  json::raw_json arguments;      ///< absent if the model wrote none that could be read
  bool is_error = false;
  bool pending = false;  ///< a call of the caller's own tools that has no result yet
  std::int64_t duration_ms = 0;
};

/// Returns the empty text, which needs no memory of its own.
std::shared_ptr<const std::string> no_text();

/// The answer of a run, and the reason for its end. Texts of model calls are here before the end, too.
struct run_answer {
  stored::stop_reason reason = stored::stop_reason::final;
  std::string reason_text;
  /// The run ends because its model cannot be called as configured, such as for a missing key.
  bool misconfigured = false;
  std::shared_ptr<const std::string> text = no_text();  ///< text of the last model call's reply, or ""; never null
  /// The streamed beginning of the last answer if it broke off and the run ends without another one, else "".
  std::string partial_text;
  /// The answer as JSON that fits the requested schema; absent if there is no schema or no such answer.
  json::raw_json data;
};

struct run_facts {
  stored::record::run_started started;  ///< the first record, without the messages and results that stand below
  stored::run_limits limits;            ///< those of the start, or the stricter ones of a later process
  /// The conversation that the next model call gets. It is valid for every provider at any moment, because the calls of
  /// a reply are added together with all their results.
  std::vector<providers::message_ptr> messages;
  std::size_t before = 0;          ///< messages before the run's own: the system prompt and the session's earlier ones
  std::vector<call_report> calls;  ///< in the order in which the model made them
  results::kept_results kept;      ///< complete results of which the model was shown only a part
  providers::usage usage;
  run_answer answer;
  int rounds = 0;       ///< model calls that were begun, repeated ones included
  int depth = 0;        ///< level of the last model call, from 0
  bool parked = false;  ///< the run is paused until the caller sends the results of its own tools
  bool ended = false;

  /// Returns the report of the latest call with this id, which must exist.
  const call_report& report(std::string_view id) const;
};

}  // namespace mcpbx::daemon::core
