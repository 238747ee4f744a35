// Runs as callers see them: started, streamed, cancelled, attached to. The shell around run_core: one coroutine a run.
#pragma once
#include "daemon/loop/round_tools.hpp"
#include "daemon/loop/run_core.hpp"
#include "daemon/loop/tool_source.hpp"
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
  std::string model;                             ///< configured name, or "": the default
  std::string system;                            ///< system prompt, or ""
  std::vector<providers::message_ptr> messages;  ///< ends with a user message
  std::string profile;                           ///< whose values are in here, or ""
  tool_choice tools;                             ///< what the run may use of the catalog
  std::vector<std::string> approve;              ///< globs of tools that need a yes, beside those of their servers
  std::vector<raw_json> client_tools;            ///< the caller's own (L21): definitions in MCP's shape
  std::vector<record::caller_result> results;    ///< of such tools: the parked run of this name goes on, nothing starts
  raw_json answer_schema;                        ///< what the final answer must fit, a schema that compiles; or absent
  run_limits limits;
  bool stream = true;  ///< false: no text and reasoning events
};

/// One event of a run (design section 4): `type` and its members as a JSON object without request, run and seq, which
/// the door adds. `body` starts with {"type":… .
struct run_event {
  enum class kind : std::uint8_t {
    status,
    text,
    reasoning,
    round,
    tool_call,
    tool_progress,
    tool_log,
    tool_result,
    question,
    usage,
    error,
    done
  };
  kind type;
  std::string call;  ///< of tool events: what progress is merged by
  std::string text;  ///< of text and reasoning: the delta, unescaped; such events have no body until they are sent
  segments body;
};

/// Receives a run's events in order; `done` comes exactly once, last. Never from inside start(). A run that hands calls
/// back to its caller tells `done` with caller_tools, and nobody anything until it goes on.
class run_events {
 public:
  virtual ~run_events() = default;
  virtual void on_event(const std::string& run, run_event e) = 0;
  /// The run's result object (L16).
  virtual void on_done(const std::string& run, raw_json result) = 0;
};

/// Finds configured models; `NAME/ID` gives that entry with another model id. errc::not_found names the nearest;
/// errc::config when none is configured, with how to get one.
using model_source = std::function<result<std::shared_ptr<providers::model>>(std::string_view name)>;

struct loop_counters {
  std::uint64_t runs = 0, active = 0, rounds = 0, calls = 0;
  std::array<std::uint64_t, 8> depth{};  ///< runs that ended at depth 0, 1, 2, 3-4, 5-8, 9-16, 17-64, more (L22)
  std::vector<std::pair<std::string, std::uint64_t>> stops;  ///< by stop reason
};

class runner {
 public:
  struct options {
    std::size_t max_runs = 1024;
    tool_adapter adapt = schema_adapter();
    /// Whether the configuration wants a person's yes for this tool.
    std::function<bool(const mcp::catalog_entry&)> needs_approval;
  };
  /// Everything given by reference must outlive the runner.
  runner(boost::asio::any_io_executor executor, time_source& time, random_source& random, tool_source& tools,
         model_source models, journal& store, options o);
  ~runner();

  /// Starts a run, or goes on with one that waits for `results`; its name comes back. Errors: unknown model, a run of
  /// that name exists, too many runs; no run waits for these results.
  result<std::string> start(run_request r, run_events& events);
  /// Asks the run to end with `cancelled`; its result still comes. False when there is no such run.
  bool cancel(std::string_view run, std::string text);
  /// Answers an open question of a run; `done` comes when the answer is kept (or was not), never from inside.
  /// Errors: errc::not_found when no such question is open.
  void answer(std::string_view run, std::string question, raw_json body, std::function<void(result<void>)> done);
  /// The events object goes away (its connection closed): its runs are cancelled and tell nobody.
  void forget(run_events& events);
  std::size_t active() const;
  const loop_counters& counts() const;
  /// Refuses new runs from the first step on, lets those that go on end for `grace`, then ends them as `interrupted`
  /// and joins. Their callers get their results.
  boost::asio::awaitable<void> shut_down(milliseconds grace = milliseconds(0));

 private:
  class impl;
  std::shared_ptr<impl> impl_;
};

}  // namespace mcpbx::daemon
