// One method of the socket, asked over HTTP: a caller of JSON-RPC whose transport is an exchange. Its messages become
// server-sent events or one JSON body, so that /api says what the socket says and nothing is written twice.
#pragma once
#include "daemon/front/exchange/exchange.hpp"
#include "daemon/front/rpc/rpc_caller.hpp"
#include "mcp/json/raw_json.hpp"
#include "mcp/support/time.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace mcpbx::daemon::api_door {

class api_call final : public std::enable_shared_from_this<api_call>, public routes::exchange::work {
 public:
  /// Calls `method`. `stream`: its events are sent as they come; otherwise its result alone. `x` must be open; it keeps
  /// the work.
  static void start(const std::shared_ptr<routes::exchange>& x, std::string_view method, const json::raw_json& params,
                    bool stream);
  /// Begins a detached run and streams its events: it goes on when the caller leaves.
  static void start_detached(const std::shared_ptr<routes::exchange>& x, const json::raw_json& params);

  /// Use start().
  explicit api_call(std::shared_ptr<routes::exchange> x, bool stream);
  void on_drained() override;
  void on_left() override;

 private:
  class line;

  void open();
  void ask(std::string_view method, const json::raw_json& params);
  void take(const json::segments& text);
  void append_event(std::string_view text);
  void pump();
  void send(std::string_view part);
  void take_response(const json::raw_json& message);
  void begin();
  void fail(const json::raw_json& error);
  void keep_alive();
  void cut();
  std::shared_ptr<routes::exchange> end();

  // Null once the answer is complete or the caller has left, which ends the mutual ownership with the exchange.
  std::shared_ptr<routes::exchange> line_;
  std::shared_ptr<rpc_door::rpc_caller> caller_;
  mcp::transports::transport_events* events_ = nullptr;  // the caller's
  std::unique_ptr<timer> silence_;
  time_point last_sent_;
  int asked_ = 0;            // requests so far
  std::string out_;          // events of this turn
  json::raw_json response_;  // taken in this turn, or absent
  const bool stream_;
  bool begun_ = false, pump_asked_ = false,
       follows_ = false;  // follows_: the first request begins a run, whose events the next one gets
};

}  // namespace mcpbx::daemon::api_door
