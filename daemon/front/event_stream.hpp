// The events of one run as the lines that leave: request, run and a sequence number in front of what the run said.
#pragma once
#include "daemon/loop/runner.hpp"
#include "mcp/rpc/message.hpp"
#include "mcp/support/raw_json.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace mcpbx::daemon {

class event_stream {
 public:
  event_stream(const mcp::rpc_id& request, std::string_view run);

  /// Whether this kind is a delta of text: such events are joined while they wait.
  static bool is_delta(run_event::kind k) { return k == run_event::kind::text || k == run_event::kind::reasoning; }

  /// The line for a delta; takes the next number. `scratch` is overwritten; its memory is used again.
  segments delta(run_event::kind kind, std::string_view text, std::string& scratch);
  /// The line for any other event. `dropped` log events before it were left out.
  segments event(const segments& body, std::uint64_t dropped, std::string& scratch);
  /// The last event: the run's result.
  segments done(const raw_json& result, std::string& scratch);

 private:
  std::string head_;  // up to the number
  std::uint64_t seq_ = 0;
};

}  // namespace mcpbx::daemon
