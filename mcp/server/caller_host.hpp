// What a caller's session needs around it. Implemented by whoever owns the caller's connection.
#pragma once
#include "mcp/client/catalog/catalog.hpp"
#include "mcp/json/raw_json.hpp"
#include "mcp/protocol/features.hpp"
#include "mcp/rpc/outgoing.hpp"
#include "mcp/server/call_recorder.hpp"
#include "mcp/server/reply_once.hpp"
#include "mcp/support/error.hpp"
#include "mcp/support/time.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

namespace mcpbx::mcp {

/// An outbox, the catalog, the clock, and the methods that are no part of MCP.
class caller_host {
 public:
  virtual ~caller_host() = default;

  /// A response. It must reach the caller.
  virtual void send(const segments& text) = 0;
  /// A progress notification of the request with this serial; a later one of the same request may take its place.
  virtual void send_progress(std::uint64_t serial, const segments& text) = 0;
  /// The notification that the list of this kind has changed; one that has not left yet stands for all.
  virtual void send_list_changed(const feature_kind& kind, const segments& text) = 0;
  /// A request of ours to the caller, or its cancellation. It must reach the caller. `about` is the serial of the
  /// caller's own open request that it belongs to; 0: none.
  virtual void send_ask(std::uint64_t about, const segments& text, outgoing what) = 0;
  /// The clock of limits. It must outlive the host.
  virtual time_source& time() = 0;

  /// What this caller sees of all lists.
  virtual catalog_ptr tools() const = 0;
  /// Why no new tools/call is taken now, if so: mcpbx is stopping.
  virtual result<void> admit_call() const { return {}; }
  /// The same of a call of this tool.
  virtual result<void> admit_call(const catalog_entry& /*tool*/) const { return {}; }
  /// Who keeps record of the caller's tools/calls; null: nobody.
  virtual std::shared_ptr<call_recorder> recorder() const { return nullptr; }
  /// Calls `then`, never from inside, once no tool server is starting for the first time or the time is up. Not at all
  /// when the session's connection is gone by then.
  virtual void when_settled(milliseconds at_most, std::function<void()> then) = 0;

  /// A request for a method that is none of MCP's. False when there is no such method; then `reply` was not touched.
  virtual bool handle(std::string_view method, const raw_json& params, const reply_once& reply) = 0;
  /// The methods that handle() knows, for suggestions.
  virtual std::vector<std::string_view> methods() const = 0;
};

}  // namespace mcpbx::mcp
