// Open tool calls of one run: at their servers, or waiting for another attempt. A call that got no answer
// and may be repeated is made again after a while that doubles each time (L13).
#pragma once
#include "daemon/loop/core/run_core.hpp"
#include "daemon/loop/run/run_clock.hpp"
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

namespace mcpbx::daemon {

/// Belongs to one run. It decides how calls are made, and whether again; the fold decides which.
class server_calls {
 public:
  /// Told in later turns, as long as the run is there.
  class listener {
   public:
    virtual ~listener() = default;
    /// An attempt has ended: settle() it.
    virtual void on_outcome(std::string call, mcp::call_outcome outcome) = 0;
    /// Another attempt is due: next_attempt().
    virtual void on_retry_due(std::string call) = 0;
    virtual void on_progress(const std::string& call, const raw_json& params) = 0;
    virtual void on_log(const std::string& call, const raw_json& params) = 0;
  };
  /// Services and data that calls need; all of them must outlive this.
  struct means {
    const run_core& core;
    const tool_offer& offer;
    const run_clock& clock;
    tool_source& tools;
    time_source& time;
    random_source& random;
  };
  explicit server_calls(means m) : by_(m) {}

  /// The record that comes before the next attempt of a call of this tool of the offer.
  record::call_intent intent(const providers::tool_call_block& call, const mcp::catalog_entry& tool) const;
  /// Returns true if calls of this tool may be made again.
  static bool may_repeat(const mcp::catalog_entry& tool);

  /// Sends a call whose intent is written. The tool that reads on is carried out at once, and told like others.
  void send(const std::string& call, const std::weak_ptr<listener>& told);
  /// The result of a call whose attempt has ended; nullopt where there is none yet, because it is made again, or none
  /// any more, because the call was closed.
  std::optional<record::call_result> settle(const std::string& call, const mcp::call_outcome& outcome);
  /// The intent of the next attempt, or the result of the last one where the tool is not there any more as it was.
  /// nullopt: the call was closed, or waits for its server to start, and is due again then.
  std::optional<run_record> next_attempt(const std::string& call);
  /// Forgets a call that is closed. Returns for how long it was open, in ms; nullopt: it was not.
  std::optional<std::int64_t> close(std::string_view call);
  /// Cancels all of them at their servers. They stay open until they are closed.
  void cancel_all();

 private:
  struct sent_call {
    std::string id, tool, server;
    std::weak_ptr<listener> told;
    std::weak_ptr<mcp::client> client;
    mcp::client::ticket ticket = 0;
    time_point since;                            // its first attempt
    int lost = 0;                                // attempts that were sent and got no answer
    std::optional<record::call_result> failure;  // of the last attempt, while the next one is waited for
    std::unique_ptr<timer> again;
  };
  std::vector<sent_call>::iterator find(std::string_view call);
  bool try_again(sent_call& sent, const mcp::call_outcome& outcome);
  bool waits_for_start(sent_call& sent);
  void make_again(sent_call& sent, time_point when);

  means by_;
  std::vector<sent_call> sent_;
};

}  // namespace mcpbx::daemon
