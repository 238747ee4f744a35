// A run as it is followed from a shell: its events as they come, its questions, and how it ended.
#pragma once
#include "daemon/cli/base/context.hpp"
#include "daemon/cli/link/daemon_connection.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace mcpbx::cli {

struct follow_options {
  bool stream = true;      ///< at a terminal, text appears as it comes
  bool data_only = false;  ///< stdout is for the value of a structured answer, and nothing else
};

struct followed {
  int status = done;
  bool left = false;          ///< the user interrupted, and the run was left before its end
  bool missed_a_yes = false;  ///< a call was not made because this run may ask nobody
  std::int64_t seq = 0;       ///< of the last event; 0: none came
};

/// Sends `mcpbx/chat` or `mcpbx/attach` and shows the run to its end. stdout gets the answer: the value where the
/// answer has a schema, else the text; of a run that hands calls to its caller those calls, one line of JSON for each.
/// With
/// --json it gets the events. An interrupt leaves the run, which ends it unless it goes on for others or was detached.
followed follow_run(context& c, connection& link, std::string_view method, const std::string& params,
                    const follow_options& o);

/// Whether a person is asked the questions of runs: with --json, or without a terminal, nobody is.
bool asks_person(const context& c);

/// The name of a run as the last word of a command that people are told.
std::string run_operand(std::string_view run);

}  // namespace mcpbx::cli
