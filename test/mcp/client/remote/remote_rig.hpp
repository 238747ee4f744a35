// A supervisor with one server at an address, the turned clock, and a scripted MCP server on a loopback port.
#pragma once
#include "mcp/client/connect/remote/remote_connector.hpp"
#include "mcp/client/supervise/supervisor.hpp"
#include "test/fixtures/model/http_peer.hpp"
#include "test/fixtures/model/scripted_model.hpp"
#include "test/mcp/http/client/client_harness.hpp"
#include "test/support/manual_time.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::test {

/// An MCP server over HTTP. It speaks Streamable HTTP of one era, with one tool, unless `first` handles a request.
class remote_server {
 public:
  enum class era : std::uint8_t { legacy, modern };
  /// Returns true if it has answered the request.
  using handler = std::function<bool(http_peer&, const http_peer::request&, const std::string& method)>;

  explicit remote_server(era e, handler first = {}, std::uint16_t port = 0)
      : era_(e),
        first_(std::move(first)),
        listener_(port, [this](http_peer& peer, std::uint64_t number) { serve(peer, number); }) {}

  std::string url(std::string_view path = "/mcp") const {
    return "http://127.0.0.1:" + std::to_string(listener_.port()) + std::string(path);
  }
  std::uint16_t port() const { return listener_.port(); }
  std::uint64_t connections() const { return listener_.connections(); }
  std::vector<http_peer::request> requests() const {
    const std::lock_guard lock(guard_);
    return requests_;
  }
  /// Returns the requests with this JSON-RPC method, or with this HTTP method.
  std::vector<http_peer::request> requests(std::string_view method) const {
    std::vector<http_peer::request> all;
    for (const auto& q : requests())
      if (q.method == method || method_of(q) == method) all.push_back(q);
    return all;
  }
  std::size_t count(std::string_view method) const { return requests(method).size(); }
  /// Returns the number of the connection with the first such request, counted from 1 as they were opened; 0: none.
  std::uint64_t connection_of(std::string_view method) const {
    const std::lock_guard lock(guard_);
    for (std::size_t i = 0; i < requests_.size(); ++i)
      if (requests_[i].method == method || method_of(requests_[i]) == method) return numbers_[i];
    return 0;
  }

  static std::string method_of(const http_peer::request& q) {
    const auto body = json::raw_json::parse(q.body);
    return body ? json::member_text(*body, "method") : std::string();
  }
  static std::string id_of(const http_peer::request& q) {
    const auto body = json::raw_json::parse(q.body);
    return body ? std::string(json::find_member(*body, "id").text()) : std::string();
  }
  static std::string answer(const http_peer::request& q, std::string_view result) {
    return R"({"jsonrpc":"2.0","id":)" + id_of(q) + R"(,"result":)" + std::string(result) + "}";
  }
  static std::string error(const http_peer::request& q, int code, std::string_view data = "{}") {
    return R"({"jsonrpc":"2.0","id":)" + id_of(q) + R"(,"error":{"code":)" + std::to_string(code) +
           R"(,"message":"no","data":)" + std::string(data) + "}}";
  }
  static std::string said(std::string_view text) {
    return R"({"content":[{"type":"text","text":)" + json::json_quoted(text) + "}]}";
  }
  static bool send_json(http_peer& peer, int status, std::string_view body, std::string_view more = "") {
    return send_plain(peer, status, "application/json", body, more);
  }
  static bool begin_events(http_peer& peer, std::string_view more = "") {
    return peer.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n" +
                     std::string(more) + "\r\n");
  }
  static bool end_events(http_peer& peer) { return peer.send("0\r\n\r\n"); }

  /// Answers as a well-behaved server of its era does.
  void behave(http_peer& peer, const http_peer::request& q, const std::string& method) {
    const bool legacy = era_ == era::legacy;
    if (q.method == "GET") return static_cast<void>(send_plain(peer, 405, "text/plain", "no"));
    if (q.method == "DELETE") return static_cast<void>(send_plain(peer, 200, "text/plain", ""));
    if (id_of(q).empty() || method.empty())
      return static_cast<void>(peer.send("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"));
    if (method == "server/discover" && !legacy)
      return static_cast<void>(send_json(
          peer, 200,
          answer(q, R"({"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"resultType":"complete"})")));
    if (method == "initialize" && legacy)
      return static_cast<void>(send_json(
          peer, 200,
          answer(
              q,
              R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}})"),
          "Mcp-Session-Id: " + session + "\r\n"));
    if (method == "tools/list") return static_cast<void>(send_json(peer, 200, answer(q, tools)));
    if (method == "tools/call") return static_cast<void>(send_json(peer, 200, answer(q, said("done"))));
    if (legacy)
      return static_cast<void>(
          send_json(peer, 400,
                    R"({"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: not initialized"},"id":null})"));
    send_json(peer, 404, error(q, -32601));
  }

  std::string session = "session-1";
  std::string tools = R"({"tools":[{"name":"echo","inputSchema":{"type":"object"}}]})";

 private:
  void serve(http_peer& peer, std::uint64_t number) {
    http_peer::request q;
    while (peer.read(q)) {
      const std::string method = method_of(q);
      {
        const std::lock_guard lock(guard_);
        requests_.push_back(q);
        numbers_.push_back(number);
      }
      if (first_ && first_(peer, q, method)) {
        if (peer.closed_by_us()) return;
        continue;
      }
      behave(peer, q, method);
    }
  }

  era era_;
  handler first_;
  mutable std::mutex guard_;
  std::vector<http_peer::request> requests_;
  std::vector<std::uint64_t> numbers_;  // of their connections
  http_listener listener_;              // last: its threads use the others
};

struct remote_rig {
  explicit remote_rig(std::string address, std::function<void(mcp::remote::remote_spec&)> change = {}) : loop(&time) {
    url = std::move(address);
    adjust = std::move(change);
    mcp::supervise::supervisor::options o;
    o.version = "0";
    supervisor = std::make_unique<mcp::supervise::supervisor>(time, random, o);
  }
  ~remote_rig() {
    supervisor.reset();
    for (int i = 0; i < 5; ++i) turn();
  }
  remote_rig(const remote_rig&) = delete;
  remote_rig& operator=(const remote_rig&) = delete;

  mcp::supervise::server_options server() {
    mcp::supervise::server_options o;
    o.name = "far";
    o.connect = [this] {
      return mcp::remote::make_remote_connector("far", url, {*loop.client, time, verdicts, framing},
                                                [this](const auto& then) {
                                                  mcp::remote::remote_spec spec;
                                                  spec.url = url;
                                                  if (adjust) adjust(spec);
                                                  then(std::move(spec));
                                                });
    };
    return o;
  }
  void start() { start(server()); }
  void start(mcp::supervise::server_options o) {
    std::vector<mcp::supervise::server_options> all;
    all.push_back(std::move(o));
    supervisor->apply(std::move(all));
  }
  void turn() {
    loop.context.restart();
    loop.context.poll();
    time.advance(milliseconds(0));
  }
  bool until(const std::function<bool()>& done) {
    return loop.until([&] {
      time.advance(milliseconds(0));
      return done();
    });
  }
  /// Turns the clock on in steps, with the network's work between them.
  void advance(int ms, int step = 50) {
    for (int passed = 0; passed < ms; passed += step) {
      time.advance(milliseconds(step));
      for (int i = 0; i < 3; ++i) {
        loop.context.restart();
        loop.context.run_one_for(std::chrono::milliseconds(1));
        turn();
      }
    }
  }
  mcp::clients::server_status status() const { return supervisor->status().at(0); }
  bool ready() {
    return until([&] {
      return status().state == mcp::clients::server_state::ready && supervisor->snapshot()->find("far__echo");
    });
  }
  /// Waits until the server has failed; returns the sentence.
  std::string failure() {
    CHECK(until([&] { return !status().last_error.empty(); }));
    return status().last_error;
  }

  struct outcome_box {
    int times = 0;
    mcp::rpc::call_outcome last;
    std::vector<std::string> progress;
    std::string text() const {
      return last.type == mcp::rpc::call_outcome::kind::failed ? last.failure.message : std::string(last.value.text());
    }
    bool answered() const { return times == 1 && last.type == mcp::rpc::call_outcome::kind::result; }
    bool failed() const { return times == 1 && last.type == mcp::rpc::call_outcome::kind::failed; }
  };
  mcp::clients::client::ticket call(outcome_box& box, std::string_view params = R"({"name":"echo","arguments":{}})",
                                    std::string_view tool = "far__echo", std::string_view method = "tools/call") {
    const auto entry = supervisor->snapshot()->find(tool);
    REQUIRE(entry);
    const auto c = entry->owner.lock();
    REQUIRE(c);
    mcp::clients::server_call s;
    s.method = method;
    s.params = json::raw_json::own(params);
    s.name = std::string(tool);
    s.progress = [&box](const json::raw_json& p) { box.progress.emplace_back(p.text()); };
    s.done = [&box](mcp::rpc::call_outcome o) {
      ++box.times;
      box.last = std::move(o);
    };
    return c->call(std::move(s));
  }
  /// Calls the tool and waits for the outcome.
  outcome_box called(std::string_view params = R"({"name":"echo","arguments":{}})", std::string_view tool = "far__echo",
                     std::string_view method = "tools/call") {
    outcome_box box;
    call(box, params, tool, method);
    CHECK(until([&] { return box.times != 0; }));
    return box;
  }

  manual_time time;
  counting_random random{0, 0x9E3779B97F4A7C15u};
  http_loop loop;
  std::string url;
  std::function<void(mcp::remote::remote_spec&)> adjust;
  std::shared_ptr<mcp::remote::remote_verdicts> verdicts = std::make_shared<mcp::remote::remote_verdicts>();
  mcp::rpc::line_framer::options framing{.repair_utf8 = true, .keep_deep_answers = true};
  std::unique_ptr<mcp::supervise::supervisor> supervisor;
};

}  // namespace mcpbx::test
