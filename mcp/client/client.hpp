// One tool server as the rest of mcpbx uses it: operations with limits, cancellation and progress, whatever era it
// speaks and however often it has been restarted underneath.
#pragma once
#include "mcp/json/raw_json.hpp"
#include "mcp/rpc/pending_calls.hpp"
#include "mcp/support/time.hpp"

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::mcp {

/// The two families of MCP revisions: `legacy` has the initialize handshake (2024-11-05 … 2025-11-25), `modern` is
/// stateless (2026-07-28).
enum class era : std::uint8_t { unknown, legacy, modern };
std::string_view to_string(era e);

enum class server_state : std::uint8_t { disabled, starting, ready, lazy, restarting, crash_loop, failed, stopped };
std::string_view to_string(server_state s);

/// The process of a server that has one.
struct process_status {
  pid_t pid = -1;           ///< -1: none runs
  std::string exit;         ///< how the last one ended ("exit status 3"), or ""
  std::string stderr_tail;  ///< the last 4 KiB of its stderr, printable
};

/// One server as `mcpbx/servers` shows it (docs/guarantees.md, G8, G49).
struct server_status {
  std::string name;
  server_state state = server_state::stopped;
  mcp::era era = mcp::era::unknown;
  std::string revision;  ///< negotiated MCP revision, or ""
  std::size_t tools = 0;
  std::uint64_t restarts = 0;
  std::string last_error;                 ///< one sentence, or ""
  std::optional<process_status> process;  ///< nullopt: it has no process of ours, or never will
  std::int64_t next_try_ms = -1;          ///< until the next start, -1: none planned
  /// Its last start failed (no program, not ready in time, refused), and it has not been ready since: what is starting,
  /// restarting or failed now is a retry.
  bool start_failed = false;
  std::size_t open_calls = 0, queued_calls = 0;
  std::uint64_t noise_lines = 0, dropped_answers = 0;
  /// A call has timed out, or it was restarted because it seemed to hang, and none has been answered since. last_error
  /// says what it was.
  bool suspect = false;
  /// One sentence about definitions that are not those that were approved (G37), or "".
  std::string pin_notice;
  std::size_t withheld = 0;  ///< tools that it lists and that are not offered for that reason
};

/// The caller, as far as each request to a modern tool server must name it in `_meta` (mcp/README.md).
struct caller_context {
  raw_json client_info;   ///< the caller's clientInfo; absent: mcpbx's own
  raw_json capabilities;  ///< the caller's capabilities; absent: none
};

/// One operation. `params` are the caller's own bytes; only `_meta` is edited, as mcp/README.md says.
struct server_call {
  std::string method = "tools/call";
  std::string name;  ///< of the tool as its caller knows it, for texts
  raw_json params;   ///< with the tool's own name already in place; _meta as the caller sent it
  /// False where it is known already that the params have no _meta: nobody looks again.
  bool has_meta = true;
  caller_context caller;
  std::optional<call_limits> limits;  ///< default: the server's
  pending_calls::done_handler done;   ///< exactly once, never from inside call()
  /// notifications/progress for this call; params as the server sent them (its progressToken is ours).
  pending_calls::progress_handler progress;
  /// notifications/message that belong to this call; params as the server sent them. A server does not say what its
  /// logs are about, so they belong to a call only where it is the one that is open there, or where all calls that are
  /// open there have the same asker (then to the latest of them); others go to nobody.
  pending_calls::progress_handler log;
  const void* asker = nullptr;  ///< whose call it is, for logs and fair shares of queues; only compared

  /// "tools/call git__log".
  std::string what() const { return method + " " + name; }
};

class client {
 public:
  using ticket = std::uint64_t;  ///< names one call of one client, for cancel()
  virtual ~client() = default;
  virtual const std::string& name() const = 0;
  virtual mcp::era era() const = 0;
  /// Starts a lazy or idle-stopped server first. A server that is down, a full queue (1,024 requests or 16 MiB, of
  /// which no asker can take the shares of others) or an exhausted accountant ends the call at once with a failure that
  /// names the server.
  virtual ticket call(server_call&& c) = 0;
  /// The call ends with errc::cancelled; the server is told (notifications/cancelled). Unknown tickets are ignored.
  virtual void cancel(ticket t, std::string_view reason) = 0;
  /// When it is to be started again, where it is down: calls fail until shortly before. `never`: no start is planned.
  virtual time_point next_start() const { return never; }
};

}  // namespace mcpbx::mcp
