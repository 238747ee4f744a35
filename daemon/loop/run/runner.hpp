// Interface to all runs of the daemon: start, find, resume, cancel, answer, count, shut down. Each active run is one
// coroutine around a run_core.
#pragma once
#include "daemon/answers/own_answers.hpp"
#include "daemon/loop/core/run_core.hpp"
#include "daemon/loop/run/run_feed.hpp"
#include "daemon/loop/tools/round_tools.hpp"
#include "daemon/loop/tools/tool_source.hpp"
#include "daemon/policy/past_names.hpp"
#include "daemon/store/journal.hpp"
#include "mcp/async/scope.hpp"
#include "mcp/client/call_scope.hpp"
#include "mcp/support/time.hpp"
#include "mcp/trace/trace_context.hpp"
#include "providers/model/message.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::daemon::run {

struct run_configuration;

/// A request for a run. The front door has checked each field.
struct run_request {
  std::string run;        ///< caller's name for the run, or "": start() makes one
  std::string principal;  ///< the caller that asks
  /// Scope of the caller's connection, for servers with a process for each caller; null: the run counts as a caller.
  mcp::clients::call_scope_ptr caller_scope;
  std::string session;  ///< session to continue, or "": a new one if sessions are kept
  /// Set: continues in a new session, which begins with so many messages of `session`; that one stays as it is.
  std::optional<std::size_t> keep;
  std::string model;   ///< configured name, or "": the default
  std::string system;  ///< system prompt, or ""
  /// Ends with a user message. May be empty to continue a session whose last question was not answered.
  std::vector<providers::message_ptr> messages;
  std::string profile;                       ///< profile whose values were filled in here, or ""
  stored::tool_choice tools;                 ///< tools of the catalog that the run may use
  std::vector<std::string> approve;          ///< globs of tools that need an approval, besides those of the servers
  stored::record::link_rules links;          ///< of the profile; a resumed run also keeps to those of its start
  std::vector<json::raw_json> client_tools;  ///< definitions of the caller's own tools, as in MCP
  std::vector<stored::record::caller_result> results;  ///< results of those: continues the parked run `run`
  json::raw_json answer_schema;                        ///< valid JSON Schema of the final answer; or absent
  providers::call_settings settings;                   ///< for all calls of the run's model, not for status lines
  /// Tool mode of the model calls at depth 0. Not recorded, so a run that continues after a restart requires nothing.
  providers::tool_mode first_round = providers::tool_mode::automatic;
  /// With tool_mode::required: the tool to call, by the name that the request's globs and definitions use; "": any. If
  /// it is not offered, no call is required.
  std::string first_round_tool;
  stored::run_limits limits;
  json::raw_json asked_limits;  ///< limits that the request itself named, as it wrote them; or absent
  trace::trace_context trace;   ///< trace that the caller's request belongs to; or none
  /// Fills in the terms of the session's latest run (profile, tools, limits) that the request leaves open. Unset: the
  /// request is used as it is.
  std::function<result<void>(run_request&, const stored::run_terms&)> keep_terms;
  bool stream = true;    ///< false: its caller gets no text and reasoning events
  bool answers = false;  ///< true: its caller answers questions
  bool detach = false;   ///< the run continues without a caller
  /// Hash of the request without `run`, `stream` and `detach`, to recognise a repeated request; 0: equal to none.
  std::uint64_t likeness = 0;
  bool name_only = false;  ///< the request has only a name: attach to that run, start none
  /// Feed that has readers already, since something was asked before the run could begin; null: start() makes one.
  std::shared_ptr<run_feed> feed = nullptr;
  /// Configuration that the request was read with, which the run keeps; null: the present one when the run starts.
  std::shared_ptr<run_configuration> configured;
};

/// Finds a configured model; `NAME/ID` gives that entry with another model id. errc::not_found suggests similar names;
/// errc::config if none is configured, with the fix.
using model_source = std::function<result<std::shared_ptr<providers::model>>(std::string_view name)>;

/// Part of the configuration that runs need. A run keeps the one that it began with, also after a reload.
struct run_configuration {
  model_source models;
  /// Terms of the servers, which say which calls need an approval. Recorded with each run that may be resumed.
  policy::present_terms servers{nullptr};
};
/// Returns the configuration for runs that begin now; never null.
using run_configurations = std::function<std::shared_ptr<run_configuration>()>;

/// The beginning of a run that a request would get, without the run (runner::preview()).
struct run_preview {
  std::string model, id, api;                     ///< configured name, the provider's id, name of the API
  std::string profile;                            ///< or ""
  std::vector<std::string> tools;                 ///< offered in the first round, by the model's names
  std::vector<std::string> left_out;              ///< tools for which the model has no room
  std::size_t messages = 0;                       ///< system prompt and conversation
  std::size_t message_bytes = 0, tool_bytes = 0;  ///< sizes of their contents as JSON
};

/// Counters since the start of the process; `active` is the present number.
struct loop_counters {
  std::uint64_t runs = 0, active = 0, rounds = 0, calls = 0, dropped_logs = 0;
  std::array<std::uint64_t, 8> depth{};  ///< runs that ended at depth 0, 1, 2, 3-4, 5-8, 9-16, 17-64, more
  std::vector<std::pair<std::string, std::uint64_t>> stops;  ///< number of ended runs by stop reason
};

/// Register and owner of all runs. Use it on the executor's thread.
class runner {
 public:
  struct options {
    std::size_t max_runs = 1024;                          ///< largest number of active runs
    tools::tool_adapter adapt = tools::schema_adapter();  ///< fits tool definitions to the model's API
    /// Lowers the terms of a resumed run to those that the same request would get now, if they are stricter: `limits`,
    /// `approve` and `tools.beside`. An error closes the run, with this reason.
    std::function<result<void>(run_request&)> keep_to_present_terms = {};
    /// Called in a later turn after a run has ended, when active() does not count it any more.
    std::function<void()> run_ended = {};
    std::size_t max_ended = 256, max_ended_bytes = 16u << 20;  ///< bounds of the register of ended detached runs
    /// Largest number of detached runs among max_runs. They do not end when callers leave, so places must stay free.
    std::size_t max_detached = 512;
    answers::own_answers* answers =
        nullptr;                  ///< answers servers where no person is asked; null: nobody does. Outlives the runner
    bool resume_detached = true;  ///< shut_down() leaves active detached runs for the next process
    /// While at most this many runs are active, each polls (short_wait) for models and tools whose last answer came
    /// within 300 µs, such as local ones. 0: never.
    std::size_t awake_runs = 0;
  };
  /// All objects given by reference must outlive the runner.
  runner(boost::asio::any_io_executor executor, time_source& time, random_source& random, tools::tool_source& tools,
         run_configurations configured, store::journal& store, options o);
  ~runner();

  struct recorded_run {
    std::string run, session;  ///< session: "" if sessions are not kept
    bool ended = false;        ///< the request repeats that of a run which has ended already; nothing was started
  };
  /// Called when the run's start is stored, as safely as the journal can, or with the reason why it is not.
  using recorded = std::function<void(result<recorded_run>)>;
  /// Starts a run, finds the one of this name, or continues a parked one with `results`. Attach to the feed in the same
  /// turn. `told` hears of the start of a detached run. README.md ("Starting a run") lists the errors.
  result<std::shared_ptr<run_feed>> start(run_request r, recorded told = {});
  /// Finds out how a run would begin with this request, without starting one: calls no model and stores nothing. Calls
  /// `then` in a later turn, or at once for errors, which are those of start() and of reading the session.
  void preview(run_request r, std::function<void(result<run_preview>)> then);
  /// Continues a run that an earlier process left, under the stricter of the terms of its start and those of now. If
  /// that is not possible (its model or profile was removed), closes the run in its journal and logs the reason.
  void resume(store::unfinished_run left);
  /// Returns the feed of the run of this name: an active one, or a detached one in the register of ended runs.
  /// errc::not_found; errc::unavailable: the run was left for the next process.
  result<std::shared_ptr<run_feed>> find(std::string_view run) const;
  /// Returns the names of the runs in this process, going on or ended, that this caller may have.
  std::vector<std::string> names(std::string_view principal) const;
  /// An ended run read from the journal. Its feed gives a snapshot and the result.
  struct recalled_run {
    std::shared_ptr<run_feed> feed;
    std::string session;  ///< or ""
  };
  /// Reads the latest ended run of this name from the journal; with a `likeness` only a detached one of the same
  /// request. Calls `then` in a later turn if runs are kept, else at once. Errors as find() and journal::find_ended().
  void recall(std::string_view run, std::uint64_t likeness, std::function<void(result<recalled_run>)> then);
  /// Asks the run to end as `cancelled`; its feed still gives the result. Returns false if no run of this name is
  /// active. Else calls `done` later, when no restart can continue the run. README.md ("Cancelling a run") has errors.
  bool cancel(std::string_view run, std::string text, std::function<void(result<void>)> done = {});
  /// Answers an open question of a run. Calls `done` when the answer is stored or could not be, never from inside.
  /// errc::not_found: no such run or question is open; errc::io: the answer could not be stored.
  void answer(std::string_view run, std::string question, json::raw_json body, std::function<void(result<void>)> done);
  /// Returns the number of active runs.
  std::size_t active() const;
  /// Returns the counters. Valid until the next call.
  const loop_counters& counts() const;
  /// Refuses new runs, gives active ones the time `grace`, leaves parked and detached ones to the next process, and
  /// ends others as `interrupted`. It holds the journals of runs that it left: destroy it before using the journal.
  boost::asio::awaitable<void> shut_down(milliseconds grace = milliseconds(0));

 private:
  class impl;
  std::shared_ptr<impl> impl_;
};

}  // namespace mcpbx::daemon::run
