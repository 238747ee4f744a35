// A host that does something to its session in one of the calls that the session makes to it.
#pragma once
#include "test/mcp/server/fake_host.hpp"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::test {

/// Runs `act` in call number `at` of all that a session makes, the first being 1.
struct acting_host final : mcp::server::caller_host {
  fake_host inner;
  int at = 0;
  mutable int calls = 0, after_closing = 0;
  bool closed = false;
  std::function<void()> act;
  void event() const {
    if (closed) ++after_closing;
    ended();
  }
  // Counts the end of a request to the caller, which also comes when the session closes.
  void ended() const {
    if (++calls == at) act();
  }
  void send(const mcp::server::answered& what, const json::segments& text) override {
    event();
    inner.send(what, text);
  }
  void send_nothing(std::uint64_t) override { event(); }
  void send_progress(std::uint64_t serial, const json::segments& text) override {
    event();
    inner.send_progress(serial, text);
  }
  void send_list_changed(const mcp::protocol::feature_kind&, const json::segments&) override { event(); }
  void send_ask(std::uint64_t about, const json::segments& text, mcp::rpc::outgoing what) override {
    event();
    inner.send_ask(about, text, what);
  }
  void send_note(const mcp::server::note& n, const json::segments& text) override {
    event();
    inner.send_note(n, text);
  }
  time_source& time() override { return inner.time(); }
  const std::string& principal() const override { return inner.who; }
  bool hears_of_others() const override { return inner.person; }
  mcp::catalogs::catalog_ptr tools() const override { return inner.catalog; }
  std::shared_ptr<mcp::server::call_recorder> recorder() const override { return inner.calls; }
  void when_settled(milliseconds at_most, std::function<void()> then) override {
    event();
    inner.when_settled(at_most, std::move(then));
  }
  bool handle(std::string_view method, const json::raw_json& params, const mcp::server::reply_once& reply) override {
    event();
    return inner.handle(method, params, reply);
  }
  std::vector<std::string_view> methods() const override { return inner.methods(); }
  mcp::callers::held_calls* held() override { return inner.table; }
  mcp::server::task_routes* tasks() override { return &inner.task_table; }
  std::shared_ptr<mcp::clients::question_handler> own_answers(const mcp::clients::server_question& q) override {
    return inner.own_answers(q);
  }
};

}  // namespace mcpbx::test
