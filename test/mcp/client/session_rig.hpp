// A session_core alone: messages go in and come out as text, and the clock is a number.
#pragma once
#include "mcp/client/session/session_core.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::test {

class session_rig : public mcp::session::session_output, public mcp::session::session_events {
 public:
  explicit session_rig(std::string protocol = "auto", bool skip_probe = false,
                       milliseconds start_timeout = milliseconds(30'000),
                       mcp::protocol::feature_table kinds = mcp::protocol::feature_kinds())
      : core({"srv",
              json::raw_json::literal(R"({"name":"mcpbx","version":"0"})"),
              std::move(protocol),
              start_timeout,
              skip_probe,
              {},
              kinds},
             *this, *this) {}

  mcp::session::session_core core;
  time_point now = time_point{} + std::chrono::hours(1);
  std::vector<std::string> sent;
  std::vector<mcp::rpc::outgoing> sent_as;
  std::vector<mcp::protocol::feature_list> lists;
  std::vector<std::vector<std::string>> dropped;  ///< items left out of the list of tools
  std::vector<std::pair<std::string_view, mcp::protocol::feature_list>> lists_of_others;  ///< by list method
  std::vector<std::pair<std::string_view, std::vector<std::string>>> dropped_of_others;
  std::vector<std::string> logs;
  struct question {
    mcp::rpc::rpc_id id;
    std::string method, params;
  };
  mcp::protocol::server_offers offers;
  std::map<std::size_t, std::optional<mcp::catalogs::told_hints>> hints;  // by kind
  std::vector<std::string_view> told_changes;                             ///< list methods
  std::vector<question> questions;
  std::vector<mcp::rpc::rpc_id> cancelled_questions;
  std::vector<std::string> updates, notes, answers;
  std::vector<mcp::rpc::call_number> late_progress, late_results;
  int ready = 0;
  std::string refused, hangs, problem;
  std::size_t unsent = 0;

  void begin() { core.begin(now); }
  /// Delivers one line of the server.
  void say(std::string_view line) {
    auto m = mcp::rpc::parse_message(json::raw_json::own(line));
    if (m) return core.on_message(std::move(*m), now);
    mcp::rpc::message_fault fault;
    fault.type = mcp::rpc::message_fault::kind::malformed;
    fault.envelope = m.error();
    core.on_fault(fault, now);
  }
  /// Delivers the server's answer to the last request for `method`.
  void answer(std::string_view method, std::string_view result) {
    say("{\"jsonrpc\":\"2.0\",\"id\":" + id_of(method) + ",\"result\":" + std::string(result) + "}");
  }
  void refuse(std::string_view method, int code, std::string_view data = "null") {
    say("{\"jsonrpc\":\"2.0\",\"id\":" + id_of(method) + ",\"error\":{\"code\":" + std::to_string(code) +
        ",\"message\":\"no\",\"data\":" + std::string(data) + "}}");
  }
  std::string id_of(std::string_view method) const {
    for (auto line = sent.rbegin(); line != sent.rend(); ++line)
      if (method_of(*line) == method) return std::string(json::find_member(json::raw_json::own(*line), "id").text());
    FAIL("nothing called " << std::string(method) << " was sent");
    return {};
  }
  static std::string method_of(const std::string& line) {
    return json::find_member(json::raw_json::own(line), "method").as_string().value_or("");
  }
  int count(std::string_view method) const {
    int n = 0;
    for (const auto& line : sent) n += method_of(line) == method ? 1 : 0;
    return n;
  }
  /// Advances the clock, with a stop at each time at which the session has work.
  void advance(milliseconds by) {
    const time_point target = now + by;
    for (int i = 0; i < 100'000 && core.next_deadline() <= target; ++i) {
      now = std::max(now, core.next_deadline());
      core.tick(now);
    }
    now = target;
    core.tick(now);
  }

  void open_legacy(std::string_view tools = R"({"tools":[{"name":"echo","inputSchema":{}}]})") {
    begin();
    refuse("server/discover", -32601);
    answer("initialize", R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{}})");
    answer("tools/list", tools);
    REQUIRE(core.ready());
  }
  void open_modern(std::string_view tools = R"({"tools":[{"name":"echo","inputSchema":{}}]})") {
    begin();
    answer(
        "server/discover",
        R"({"supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}},"resultType":"complete"})");
    answer("tools/list", tools);
    REQUIRE(core.ready());
  }

  // Keeps the outcome of one call.
  struct outcome_box {
    int times = 0;
    mcp::rpc::call_outcome last;
    std::vector<std::string> progress;
  };
  mcp::rpc::call_number call(outcome_box& box, std::string_view params = R"({"name":"echo"})", bool progress = false,
                             mcp::rpc::call_limits limits = {}) {
    mcp::clients::server_call c;
    c.params = json::raw_json::own(params);
    auto n = core.call(
        c, limits, now,
        [&box](mcp::rpc::call_outcome o) {
          ++box.times;
          box.last = std::move(o);
        },
        progress ? mcp::rpc::pending_calls::progress_handler(
                       [&box](const json::raw_json& p) { box.progress.emplace_back(p.text()); })
                 : mcp::rpc::pending_calls::progress_handler());
    REQUIRE(n.has_value());
    return *n;
  }

  void session_send(const json::segments& text, mcp::rpc::outgoing what) override {
    sent.push_back(text.str());
    sent_as.push_back(what);
  }
  std::size_t session_unsent() const override { return unsent; }
  void session_ready() override { ++ready; }
  void session_refused(const error& why) override { refused = why.message; }
  void session_dropped(const mcp::protocol::feature_kind& kind, std::vector<std::string> why) override {
    if (kind.id == mcp::protocol::kind_id::tools) return dropped.push_back(std::move(why));
    dropped_of_others.emplace_back(kind.list_method, std::move(why));
  }
  void session_list(const mcp::protocol::feature_kind& kind, mcp::protocol::feature_list list) override {
    if (kind.id == mcp::protocol::kind_id::tools) return lists.push_back(std::move(list));
    lists_of_others.emplace_back(kind.list_method, std::move(list));
  }
  void session_hints(const mcp::protocol::feature_kind& kind,
                     const std::optional<mcp::catalogs::told_hints>& h) override {
    hints[kind.index()] = h;
  }
  void session_offers(const mcp::protocol::server_offers& o) override { offers = o; }
  void session_list_changed(const mcp::protocol::feature_kind& kind) override {
    told_changes.push_back(kind.list_method);
  }
  void session_asks(const mcp::rpc::rpc_id& id, std::string_view method, json::raw_json params) override {
    questions.push_back({id, std::string(method), std::string(params.text())});
  }
  void session_asks_no_more(const mcp::rpc::rpc_id& id) override { cancelled_questions.push_back(id); }
  void session_updated(const json::raw_json& params) override { updates.emplace_back(params.text()); }
  void session_watched(const std::string& uri, const mcp::rpc::call_outcome& answer) override {
    const bool agreed = answer.type == mcp::rpc::call_outcome::kind::result;
    answers.push_back(uri + (agreed ? " yes" : answer.value ? " " + std::string(answer.value.text()) : " no"));
  }
  void session_task_told(const json::raw_json& params) override {
    updates.push_back("task " + std::string(params.text()));
  }
  void session_task_watched(const std::string& id, const mcp::rpc::call_outcome& answer) override {
    session_watched("task " + id, answer);
  }
  void session_note(std::string_view method, const json::raw_json& params) override {
    notes.push_back(std::string(method) + " " + std::string(params.text()));
  }
  void session_late_progress(mcp::rpc::call_number request, const json::raw_json&) override {
    late_progress.push_back(request);
  }
  void session_late_result(mcp::rpc::call_number request, const json::raw_json&) override {
    late_results.push_back(request);
  }
  void session_problem(const std::string& what) override { problem = what; }
  void session_log(const json::raw_json& params) override { logs.emplace_back(params.text()); }
  void session_hangs(const std::string& why) override { hangs = why; }
};

}  // namespace mcpbx::test
