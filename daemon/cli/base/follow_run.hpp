// Follows a run from a shell: shows its events, asks its questions, and reports its end.
#pragma once
#include "daemon/cli/base/context.hpp"
#include "daemon/cli/link/daemon_connection.hpp"
#include "daemon/cli/terminal/input_prompt.hpp"
#include "mcp/json/raw_json.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace mcpbx::cli {

struct follow_options {
  bool stream = true;                            ///< show text as it comes, at a terminal
  std::optional<terminals::input_mode> input{};  ///< answers to servers' questions; unset: none are given
  bool data_only = false;                        ///< write nothing but the value of a structured answer to stdout
  bool markdown = false;                         ///< style the Markdown of text that is shown as it comes
};

struct followed {
  int status = terminals::done;
  bool left = false;          ///< the user interrupted, and the run was left before its end
  bool missed_a_yes = false;  ///< a call was refused because it needs approval and this run may ask nobody
  bool lost = false;          ///< there was no answer, so the connection cannot be used any more
  std::string session;        ///< the run's session, if it came to its end
  json::raw_json result;      ///< of the run, if it came to its end
  std::int64_t seq = 0;       ///< number of the last event; 0: none came
};

/// Sends `mcpbx/chat` or `mcpbx/attach` and shows the run to its end. stdout gets the answer, or the calls that the run
/// hands to its caller, one line of JSON for each; with --json the events. An interrupt leaves the run.
followed follow_run(context& c, link::daemon_connection& link, std::string_view method, const std::string& params,
                    const follow_options& o);

/// Returns true if a person can be asked: at a terminal and without --json.
bool asks_person(const context& c);
/// Returns the answers for a word of --input; "": those of the person if one can be asked. errc::invalid_argument:
/// `ask` without a terminal.
result<std::optional<terminals::input_mode>> chosen_input(const context& c, std::string_view word);
/// Adds the option --input to a page.
void add_input_option(CLI::App& page, std::string& word);

/// Returns the name of a run as the last word of a command that is shown to people.
std::string run_operand(std::string_view run);

}  // namespace mcpbx::cli
