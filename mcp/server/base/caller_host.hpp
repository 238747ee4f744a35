// Interface of a caller's session to its surroundings. The owner of the caller's connection implements it.
#pragma once
#include "mcp/client/call_scope.hpp"
#include "mcp/client/catalog/catalog.hpp"
#include "mcp/json/raw_json.hpp"
#include "mcp/protocol/features.hpp"
#include "mcp/rpc/outgoing.hpp"
#include "mcp/server/base/call_recorder.hpp"
#include "mcp/server/base/reply_once.hpp"
#include "mcp/support/error.hpp"
#include "mcp/support/time.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::mcp::callers {
class held_calls;
}  // namespace mcpbx::mcp::callers

namespace mcpbx::mcp::server {

class task_routes;

/// The rules for a notification to a caller that reads slowly.
struct note {
  /// Serial of the caller's own open request that it belongs to (a call, a subscriptions/listen); 0: none.
  std::uint64_t about = 0;
  /// Not empty: a note of the same key and the same `about` that has not left yet stands for this one.
  std::string_view same = {};
  bool droppable = false;  ///< may be lost while the caller reads too slowly: logs
};

/// An outbox, the catalog, the clock, and the methods that are no part of MCP.
class caller_host : public reply_outbox {
 public:
  /// Sends a progress notification of the request with this serial. A later one of the same request may replace it.
  virtual void send_progress(std::uint64_t serial, const json::segments& text) = 0;
  /// Sends the notification that the list of this kind has changed. One that has not left yet stands for all.
  virtual void send_list_changed(const protocol::feature_kind& kind, const json::segments& text) = 0;
  /// Sends a request of mcpbx to the caller, or its cancellation. It must reach the caller. `about` is the serial of
  /// the caller's own open request that it belongs to; 0: none.
  virtual void send_ask(std::uint64_t about, const json::segments& text, rpc::outgoing what) = 0;
  /// Sends a notification that is neither progress nor the change of a list of a legacy caller: logs, updates of
  /// resources, and whatever a subscriptions/listen delivers.
  virtual void send_note(const note& n, const json::segments& text) = 0;
  /// Returns the clock for time limits. It must outlive the host.
  virtual time_source& time() = 0;

  /// Returns the identity of the person or program behind the caller ("uid:1000").
  virtual const std::string& principal() const = 0;
  /// Returns true for a person, who may hear what tool servers say about calls of others; a program hears of its own.
  virtual bool hears_of_others() const { return false; }
  /// Returns the calls that wait for their modern callers' answers to questions of legacy servers. One object serves
  /// all callers and outlives them. Null: such questions are declined.
  virtual callers::held_calls* held() { return nullptr; }
  /// Returns the table of tasks of all callers; it outlives them. Null: tasks are not found again.
  virtual task_routes* tasks() { return nullptr; }
  /// Returns who answers a server's question instead of a caller without the capability. Null: nobody, so that an
  /// elicitation is declined and others are refused.
  virtual std::shared_ptr<clients::question_handler> own_answers(const clients::server_question& /*q*/) {
    return nullptr;
  }
  /// Returns true if a server may be told that questions of this method are answered although the caller cannot: they
  /// would get more than an empty answer.
  virtual bool lends(const clients::server_question& q) { return own_answers(q) != nullptr; }
  /// Returns the catalog as this caller sees it.
  virtual catalogs::catalog_ptr tools() const = 0;
  /// Fails if no new tools/call is taken now, with the reason: mcpbx is stopping.
  virtual result<void> admit_call() const { return {}; }
  /// Fails if this caller may not call this tool, with the reason.
  virtual result<void> admit_call(const catalogs::catalog_entry& /*tool*/) const { return {}; }
  /// Returns the error of a call that contradicts what its caller said beside it, such as in headers.
  virtual std::optional<rpc::rpc_error> check_call(const catalogs::catalog_entry& /*tool*/) const {
    return std::nullopt;
  }
  /// Fails if this caller may not read this prompt or resource of a server, which knows it as `own`, with the reason.
  virtual result<void> admit_read(const protocol::feature_kind& /*kind*/, std::string_view /*server*/,
                                  std::string_view /*own*/) const {
    return {};
  }
  /// Returns false if this caller may use no methods of extensions, so that it is not told of those that need them.
  virtual bool uses_extensions() const { return true; }
  /// Fails if this caller may not use methods of extensions, with the reason.
  virtual result<void> admit_extension(std::string_view /*method*/) const { return {}; }
  /// Returns the recorder of the caller's tools/calls, prompts/gets, resources/reads and methods of extensions; null:
  /// nobody records them.
  virtual std::shared_ptr<call_recorder> recorder() const { return nullptr; }
  /// Returns the scope of the caller's calls, for server_call::scope; null: it reaches shared servers only.
  virtual clients::call_scope_ptr scope() const { return nullptr; }
  /// Returns true unless a tool server is starting for the first time.
  virtual bool settled() const { return true; }
  /// Calls `then`, never from inside, once no tool server is starting for the first time or the time is up. Does not
  /// call it if the session's connection is gone by then.
  virtual void when_settled(milliseconds at_most, std::function<void()> then) = 0;

  /// Handles a request for a method that is not MCP's. Returns false if there is no such method, without touching
  /// `reply`.
  virtual bool handle(std::string_view method, const json::raw_json& params, const reply_once& reply) = 0;
  /// Returns the methods that handle() knows, for suggestions.
  virtual std::vector<std::string_view> methods() const = 0;
};

}  // namespace mcpbx::mcp::server
