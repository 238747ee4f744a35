// The verbs of `mcpbx`, one function each; they return the exit status.
#pragma once
#include "daemon/cli/link/daemon_start.hpp"
#include "daemon/cli/terminal/terminal.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::cli {

/// What every verb is given.
struct context {
  cli::place place;
  bool json = false;
  terminal* screen = nullptr;
};

struct ask_options {
  std::string text, model, profile, system, status, approve;
  std::string session;   ///< to go on with
  bool latest = false;   ///< go on with the session that was used last
  bool resumed = false;  ///< without a text: let the model answer what waits for an answer in the session
  std::vector<std::string> tools, files;
  int max_rounds = -1;
  bool no_stream = false;
  std::string run;           ///< the run's name, "": the daemon gives one
  bool detach = false;       ///< begin the run and leave it to itself
  std::string schema;        ///< the form of the answer: JSON, or a file that has it
  std::string client_tools;  ///< a file with definitions of the caller's own tools
  std::string results;       ///< a file with the results of such tools, "-": standard input; `run` goes on with them
};
int ask(context& c, const ask_options& o);

/// Follows a run that exists, from behind its event number `after`; and ends one, for all who follow it.
int attach(context& c, const std::string& run, std::int64_t after);
int cancel(context& c, const std::string& run);

struct tools_options {
  std::string pattern, format, profile;
};
int tools(context& c, const tools_options& o);

struct call_options {
  std::string name;
  std::vector<std::string> arguments;  ///< key=value
  std::string json_arguments;          ///< --args, or "-" for standard input
};
int call(context& c, const call_options& o);

struct sessions_options {
  std::string action, id;
  ask_options question;           ///< of resume; its text may be empty
  bool question_options = false;  ///< whether there are any for it
  std::string format;             ///< of show: markdown or jsonl
  int limit = 50;                 ///< of list
  bool all = false;               ///< of list: those of other doors too
};
int sessions(context& c, const sessions_options& o);

struct models_options {
  std::string name;     ///< one entry only
  bool remote = false;  ///< ask the endpoints what they offer
};
int models(context& c, const models_options& o);

int servers(context& c);
int status(context& c);
int wait(context& c, int timeout_s);
int restart(context& c, const std::string& server);
int stop(context& c);

/// The table of pinned definitions; what differs of a server or a tool; and approving that. With `sha256` only a single
/// tool, and only if that is its hash now.
int pins(context& c);
int show_pins(context& c, const std::string& name);
int accept_pins(context& c, const std::string& name, const std::string& sha256);

/// The aggregated MCP server on stdio (`mcpbx mcp`): passes lines between stdin/stdout and the socket.
/// `profile` ("": none) narrows the tools.
int shim(context& c, const std::string& profile);

/// Whether a version such as "0.2.0" is newer than another, number by number.
bool is_newer(std::string_view version, std::string_view than);
/// What a connection says of itself first. A profile and `mcp_only` bind it: without them it is not used.
struct introduction {
  std::string name = "mcpbx", profile = {}, cwd = {};
  bool mcp_only = false;
  bool of_age = true;  ///< whether it matters that the daemon is an old one; false for a verb that ends it
};
/// Connects or says why not (then `status` is set); says so on stderr when the daemon is older than this program, or
/// was started before the configuration or a key was changed. One that this program may start, and that nobody uses, is
/// replaced instead.
result<connected> connect_or_explain(context& c, bool may_start, int& status, const introduction& who = {});
/// The exit status that fits a failed call (connection lost, interrupted, wrong arguments), and an error answer.
exit_status status_of(const error& e);
exit_status status_of(const answer& a);
/// Prints a JSON-RPC error of the daemon and gives the exit status that fits its code.
int explain(context& c, const answer& a);
/// Prints a failed call (connection lost, interrupted) and gives its exit status.
int explain(context& c, const error& e);
/// One request of an own method and its result; what went wrong is printed, and `status` says how the verb ends.
result<raw_json> call_or_explain(context& c, connection& link, std::string_view method, std::string_view params,
                                 int& status);
/// Standard input to its end, at most 16 MiB.
result<std::string> read_stdin();

}  // namespace mcpbx::cli
