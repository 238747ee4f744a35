// Runs as callers see them: started, streamed, cancelled, attached to. The shell around run_core: one coroutine a run.
#pragma once
#include "daemon/loop/core/run_core.hpp"
#include "daemon/loop/run/run_feed.hpp"
#include "daemon/loop/tools/round_tools.hpp"
#include "daemon/loop/tools/tool_source.hpp"
#include "daemon/policy/past_names.hpp"
#include "daemon/store/journal.hpp"
#include "mcp/async/scope.hpp"
#include "mcp/support/time.hpp"
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

namespace mcpbx::daemon {

/// A request for a run, already checked field by field by its door.
struct run_request {
  std::string run;  ///< caller's name for it, or "": one is made
  std::string principal;
  std::string session;  ///< to go on with, or "": a new one where sessions are kept
  std::string model;    ///< configured name, or "": the default
  std::string system;   ///< system prompt, or ""
  /// Ends with a user message; may be empty with a session whose last question was not answered.
  std::vector<providers::message_ptr> messages;
  std::string profile;                         ///< whose values are in here, or ""
  tool_choice tools;                           ///< what the run may use of the catalog
  std::vector<std::string> approve;            ///< globs of tools that need an approval, beside those of their servers
  std::vector<raw_json> client_tools;          ///< the caller's own (L21): definitions in MCP's shape
  std::vector<record::caller_result> results;  ///< of such tools: the parked run of this name goes on, nothing starts
  raw_json answer_schema;                      ///< what the final answer must fit, a schema that compiles; or absent
  providers::call_settings settings;           ///< of every call of the run's model, but not of status lines
  /// For the calls of depth 0 only. Not recorded: when a run goes on after a restart nothing is required of its model.
  providers::tool_mode first_round = providers::tool_mode::automatic;
  /// With tool_mode::required the one to call, by the name that the request's globs and definitions know it by; "":
  /// any. Where it is not offered nothing is required.
  std::string first_round_tool;
  run_limits limits;
  raw_json asked_limits;  ///< what of `limits` the request itself asked for, as it wrote that; or absent
  /// Lays what the session's latest run was asked to keep to under what this request asks for itself. Unset: the
  /// request stands for itself.
  std::function<result<void>(run_request&, const run_terms&)> keep_terms;
  bool stream = true;   ///< false: its caller gets no text and reasoning events
  bool detach = false;  ///< goes on without a caller
  /// A hash of everything that was asked for but `run`, `stream` and `detach`; 0: it compares with nothing.
  std::uint64_t likeness = 0;
  bool name_only = false;  ///< nothing else was asked for: the run of this name is meant
};

/// Finds configured models; `NAME/ID` gives that entry with another model id. errc::not_found names the nearest;
/// errc::config when none is configured, with how to get one.
using model_source = std::function<result<std::shared_ptr<providers::model>>(std::string_view name)>;

struct loop_counters {
  std::uint64_t runs = 0, active = 0, rounds = 0, calls = 0, dropped_logs = 0;
  std::array<std::uint64_t, 8> depth{};  ///< runs that ended at depth 0, 1, 2, 3-4, 5-8, 9-16, 17-64, more (L22)
  std::vector<std::pair<std::string, std::uint64_t>> stops;  ///< by stop reason
};

class runner {
 public:
  struct options {
    std::size_t max_runs = 1024;
    tool_adapter adapt = schema_adapter();
    /// What the configuration says of the servers: which calls need an approval. It is kept with each run that may go
    /// on after a restart. Null: nothing.
    terms_ptr servers = {};
    /// Holds a run that an earlier process left to what a request like it gets now, where that is stricter: `limits`,
    /// `approve` and `tools.beside`. An error says why it gets nothing any more, and closes the run.
    std::function<result<void>(run_request&)> keep_to_present_terms = {};
    /// Called in a turn of its own when a run has ended and active() does not count it any more.
    std::function<void()> run_ended = {};
    std::size_t max_ended = 256, max_ended_bytes = 16u << 20;  ///< detached runs that have ended, kept for attach
    /// Detached ones among max_runs: nobody's leaving ends them, so they must leave places for callers that wait.
    std::size_t max_detached = 512;
    bool resume_detached = true;  ///< detached runs that go on at shut_down are left for the next process
    /// While no more runs than these go on, each waits awake (short_wait) for a model or for tools whose last answer
    /// came at once, as those of this machine may. 0: never.
    std::size_t awake_runs = 0;
  };
  /// Everything given by reference must outlive the runner.
  runner(boost::asio::any_io_executor executor, time_source& time, random_source& random, tool_source& tools,
         model_source models, journal& store, options o);
  ~runner();

  struct recorded_run {
    std::string run, session;  ///< session: "" where none are kept
  };
  /// Told the run's name when its start is as safe as the journal makes it, or why it could not be recorded.
  using recorded = std::function<void(result<recorded_run>)>;
  /// Starts a run, finds the one of that name when the same is asked for (or nothing else), or goes on with one that
  /// waits for `results`. The feed has its events; attach to it in this turn. A run that is not detached is cancelled
  /// when its last reader leaves. `told` is for the start of a detached run. Errors: unknown model, the name is taken
  /// by a run that was asked for something else, too many (detached) runs, a session that is in use (errc::unavailable)
  /// or asked for where none are kept (errc::config); no run waits for these results. A session that cannot be gone on
  /// with refuses the run later: its feed ends with the error instead of `done`.
  result<std::shared_ptr<run_feed>> start(run_request r, recorded told = {});
  /// Goes on with a run that an earlier process left, from its records, under the stricter of the terms that it began
  /// with and those of now. Where that is not possible (its model or profile is not configured any more) the run is
  /// closed in its journal, and the log says why.
  void resume(unfinished_run left);
  /// The run of this name: one that goes on, or a detached one that has ended and is still kept. Else errc::not_found.
  result<std::shared_ptr<run_feed>> find(std::string_view run) const;
  /// A run that only the journal knows any more: its feed tells a snapshot and the result.
  struct recalled_run {
    std::shared_ptr<run_feed> feed;
    std::string session;  ///< or ""
  };
  /// Looks in the journal for the latest run of this name that has ended, before a restart or after it; with a
  /// `likeness` only for a detached one that was asked for the same. Errors: errc::not_found, also where find() has it
  /// by then; and those of the journal, errc::unavailable for a run that it knows without an end. `then` comes in a
  /// later turn where runs are kept, and not at all when the runner is gone by then.
  void recall(std::string_view run, std::uint64_t likeness, std::function<void(result<recalled_run>)> then);
  /// Asks the run to end with `cancelled`; its result still comes. False when no run of this name goes on, and then
  /// `done` is not called. Else it comes later, when a restart can not bring the run back any more: the cancel is in
  /// the journal, or the run is over. Errors: errc::io when it could not be kept (the run ends all the same), and
  /// errc::unavailable when the run was left for the next process meanwhile.
  bool cancel(std::string_view run, std::string text, std::function<void(result<void>)> done = {});
  /// Answers an open question of a run; `done` comes when the answer is kept (or was not), never from inside.
  /// Errors: errc::not_found when no such question is open.
  void answer(std::string_view run, std::string question, raw_json body, std::function<void(result<void>)> done);
  std::size_t active() const;
  const loop_counters& counts() const;
  /// Refuses new runs from the first step on and lets those that go on end for `grace`. Then, where runs are kept,
  /// those that wait for their caller's tools (at once) and detached ones are left as a crash would leave them, for the
  /// next process to go on with; who follows them is told so. The others are ended as `interrupted`, and their callers
  /// get their results. Joins. The journals of runs that were left are held until the runner goes: it must go before
  /// the journal is used again.
  boost::asio::awaitable<void> shut_down(milliseconds grace = milliseconds(0));

 private:
  class impl;
  std::shared_ptr<impl> impl_;
};

}  // namespace mcpbx::daemon
