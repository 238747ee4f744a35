// Open tool calls of one run: at their servers, or waiting for the next attempt. A call that got no answer and may be
// repeated is sent again after a pause that doubles each time (docs/requirements.md, L13).
#pragma once
#include "daemon/loop/core/run_core.hpp"
#include "daemon/loop/limits/run_clock.hpp"
#include "daemon/loop/run/server_questions.hpp"
#include "daemon/loop/tools/tool_offer.hpp"
#include "daemon/loop/tools/tool_source.hpp"
#include "daemon/store/records/record.hpp"
#include "mcp/json/raw_json.hpp"
#include "mcp/support/time.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::daemon::run {

/// Belongs to one run. Sends the calls that run_core decides on, and decides about their repetition.
class server_calls {
 public:
  /// Gets the events of the calls while the run exists. on_outcome() may come from inside send().
  class listener {
   public:
    virtual ~listener() = default;
    /// An attempt has ended. Call settle() with its outcome in a later turn.
    virtual void on_outcome(std::string call, mcp::rpc::call_outcome outcome) = 0;
    /// The next attempt is due. Call next_attempt() in a later turn.
    virtual void on_retry_due(std::string call) = 0;
    /// The server has sent progress or a log message; `params` are those of its notification.
    virtual void on_progress(const std::string& call, const json::raw_json& params) = 0;
    virtual void on_log(const std::string& call, const json::raw_json& params) = 0;
  };
  /// Services and data that the calls need. All of them must outlive this object.
  struct means {
    const core::run_core& core;
    const tools::tool_offer& offer;
    const limits::run_clock& clock;
    tools::tool_source& tools;
    time_source& time;
    random_source& random;
    server_questions& questions;
    mcp::clients::call_scope_ptr scope;       ///< of the run
    const stored::record::link_rules& links;  ///< of the run's request, beside those in its beginning
  };
  explicit server_calls(means m) : by_(std::move(m)) {}

  /// Returns the record to write before the next attempt of a call of this offered tool.
  stored::record::call_intent intent(const providers::tool_call_block& call,
                                     const mcp::catalogs::catalog_entry& tool) const;
  /// Returns true if calls of this tool may be repeated.
  static bool may_repeat(const mcp::catalogs::catalog_entry& tool);

  /// Sends a call whose intent is written. A call of mcpbx__read_result is carried out at once, or, for a linked
  /// resource, at the server that has it; it gives its outcome to `told` like others. `asked` gets the questions that
  /// its server asks meanwhile.
  void send(const std::string& call, const std::weak_ptr<listener>& told,
            const std::weak_ptr<server_questions::listener>& asked);
  /// Returns the result of a call whose attempt has ended; nullopt: the call will be repeated, or was closed meanwhile.
  std::optional<stored::record::call_result> settle(const std::string& call, const mcp::rpc::call_outcome& outcome);
  /// Returns the intent of the next attempt, or the result of the last one if the tool was changed or removed, or the
  /// run is ending. nullopt: the call was closed, or is put off until its server starts.
  std::optional<stored::run_record> next_attempt(const std::string& call);
  /// Drops a call that is closed. Returns the time since its first attempt in ms; nullopt: it was not sent.
  std::optional<std::int64_t> close(std::string_view call);
  /// Cancels all calls at their servers, and their repetition. They stay until close().
  void cancel_all();

 private:
  struct sent_call {
    std::string id, tool, server;
    std::weak_ptr<listener> told;
    std::weak_ptr<mcp::clients::client> client;
    mcp::clients::client::ticket ticket = 0;
    time_point since;                                    // time of its first attempt in this process
    int lost = 0;                                        // number of attempts that were sent and got no answer
    std::optional<stored::record::call_result> failure;  // result of the last attempt, while the next one is due
    std::unique_ptr<timer> again;                        // set while the next attempt is due
  };
  std::vector<sent_call>::iterator find(std::string_view call);
  void read_link(const std::string& call, const std::string& uri, const std::weak_ptr<listener>& told);
  bool try_again(sent_call& sent, const mcp::rpc::call_outcome& outcome);
  bool waits_for_start(sent_call& sent);
  void make_again(sent_call& sent, time_point when);

  means by_;
  std::vector<sent_call> sent_;
};

}  // namespace mcpbx::daemon::run
