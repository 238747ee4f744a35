// Users of a remote connection that leave, close or send inside each of its events. Meant for the asan preset.
#include "test/mcp/client/remote/remote_rig.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::test;

// The ways in which a server treats a call.
enum class far_fate : std::uint8_t { answers, streams, drops, gone, refuses, not_http };

remote_server::handler far_server(far_fate fate) {
  return [fate](http_peer& peer, const http_peer::request& q, const std::string& method) {
    if (q.method == "GET" && fate != far_fate::drops) return false;
    if (q.method == "GET") {
      remote_server::begin_events(peer);
      peer.send_chunk(
          "id: 9\nretry: 0\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n");
      return remote_server::end_events(peer);
    }
    if (method != "tools/call") return false;
    switch (fate) {
      case far_fate::answers:
        return false;
      case far_fate::streams:
      case far_fate::drops:
        remote_server::begin_events(peer);
        peer.send_chunk(
            R"(id: 1)"
            "\n"
            R"(data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1,"progressToken":)" +
            remote_server::id_of(q) + "}}\n\n");
        if (fate == far_fate::streams)
          peer.send_chunk("data: " + remote_server::answer(q, remote_server::said("x")) + "\n\ndata: {}\n\n");
        return remote_server::end_events(peer);
      case far_fate::gone:
        return send_plain(peer, 404, "text/plain", "no session");
      case far_fate::refuses:
        return send_plain(peer, 401, "text/plain", "");
      case far_fate::not_http:
        peer.send("nonsense");
        peer.close();
        return true;
    }
    return false;
  };
}

constexpr far_fate all_fates[] = {far_fate::answers, far_fate::streams, far_fate::drops,
                                  far_fate::gone,    far_fate::refuses, far_fate::not_http};

// Speaks over one link by itself: the handshake, then one call. Acts inside the event with the number `at`.
struct far_speaker final : mcp::connect::link_events, mcp::transports::transport_events {
  std::unique_ptr<mcp::connect::connector> way;
  std::unique_ptr<mcp::connect::server_link> link;
  std::unique_ptr<mcp::transports::transport> line;
  std::function<void(far_speaker&)> act;
  int at = 0, events = 0;
  bool left = false, over = false;

  void event() {
    CHECK_FALSE(left);
    if (++events == at) act(*this);
  }
  void say(std::int64_t id, std::string_view method, std::string_view params = "{}") {
    if (!line) return;
    const mcp::rpc::message_facts facts{method, id > 1 || id == 0 ? "2025-11-25" : "", false, {}, {}};
    auto what = id == 0 ? mcp::rpc::outgoing() : mcp::rpc::outgoing::request(id);
    what.facts = &facts;
    line->send(id == 0 ? mcp::rpc::make_notification(method, raw_json::own(params))
                       : mcp::rpc::make_request(id, method, raw_json::own(params)),
               what);
  }

  void on_open(std::unique_ptr<mcp::transports::transport> connection) override {
    line = std::move(connection);
    line->start(*this);
    say(1, "initialize");
    event();
  }
  void on_not_opened(const mcp::connect::link_failure&) override {
    over = true;
    event();
  }
  void on_ended(const std::string&) override {
    over = true;
    event();
  }
  void on_expired(mcp::connect::link_expiry&&) override {
    over = true;
    event();
  }
  void on_message(mcp::rpc::message&& m) override {
    if (m.type == mcp::rpc::message::kind::response && m.id == mcp::rpc::rpc_id::number(1)) {
      say(0, "notifications/initialized");
      say(2, "tools/call", R"({"name":"echo"})");
      say(3, "tools/call", R"({"name":"echo"})");
    }
    event();
  }
  void on_fault(mcp::rpc::message_fault) override { event(); }
  void on_lost(mcp::rpc::lost_request&&) override { event(); }
  void on_drained() override {}
  void on_closed(const error&) override { event(); }
};

}  // namespace

TEST_CASE("remote: a link and its transport may be closed, ended, destroyed and used inside each event") {
  const std::vector<std::function<void(far_speaker&)>> actions{
      [](far_speaker& s) {
        s.left = true;
        s.line.reset();
        s.link.reset();
      },
      [](far_speaker& s) {
        s.left = true;
        s.link.reset();
      },
      [](far_speaker& s) {
        if (s.line) s.line->close();
      },
      [](far_speaker& s) { s.line.reset(); },
      [](far_speaker& s) { s.link->end(mcp::connect::ending::ask); },
      [](far_speaker& s) { s.link->end(mcp::connect::ending::force); },
      [](far_speaker& s) {
        if (s.line) s.line->send(mcp::rpc::make_cancelled(2, "why"), mcp::rpc::outgoing::cancellation(2));
        s.say(20, "tools/call", R"({"name":"echo"})");
      }};
  for (const far_fate fate : all_fates) {
    const remote_server server(remote_server::era::legacy, far_server(fate));
    for (std::size_t which = 0; which < actions.size(); ++which)
      for (int at = 1; at <= 5; ++at) {
        CAPTURE(static_cast<int>(fate));
        CAPTURE(which);
        CAPTURE(at);
        remote_rig rig(server.url());
        far_speaker s;
        s.at = at;
        s.act = actions[which];
        s.way = rig.server().connect();
        s.link = s.way->open(s);
        const auto enough = [&] { return s.events >= 6 || s.over || s.left; };
        for (int i = 0; i < 40 && !enough(); ++i) rig.advance(20, 20);
        s.left = true;
        s.line.reset();
        s.link.reset();
        rig.advance(20, 20);
      }
  }
}

TEST_CASE("remote: handlers of calls may restart, stop, cancel and call inside each event and each call ends once") {
  struct {
    remote_rig* rig = nullptr;
    std::map<int, int> ended;
    int calls = 0, events = 0, at = 0;
    std::function<void()> act;
    std::shared_ptr<mcp::clients::client> owner;
    std::vector<mcp::clients::client::ticket> tickets;
  } t;
  const std::function<void()> event = [&] {
    if (++t.events == t.at) t.act();
  };
  const std::function<void()> call = [&] {
    const int n = t.calls++;
    t.ended[n] = 0;
    mcp::clients::server_call s;
    s.params = raw_json::literal(R"({"name":"echo"})");
    s.name = "echo";
    s.done = [&, n](const mcp::rpc::call_outcome&) {
      ++t.ended[n];
      event();
    };
    s.progress = [&](const raw_json&) { event(); };
    t.tickets.push_back(t.owner->call(std::move(s)));
  };
  const std::vector<std::function<void()>> actions{[&] { CHECK(t.rig->supervisor->restart("far")); },
                                                   [&] { t.rig->supervisor->stop([] {}, milliseconds(0)); },
                                                   [&] {
                                                     for (const auto ticket : std::vector(t.tickets))
                                                       t.owner->cancel(ticket, "why");
                                                   },
                                                   [&] { call(); }, [&] { t.owner.reset(); }};
  for (const far_fate fate : all_fates) {
    const remote_server server(remote_server::era::legacy, far_server(fate));
    for (std::size_t which = 0; which < actions.size(); ++which)
      for (int at = 1; at <= 3; ++at) {
        CAPTURE(static_cast<int>(fate));
        CAPTURE(which);
        CAPTURE(at);
        remote_rig rig(server.url());
        t = {&rig, {}, 0, 0, at, actions[which], nullptr, {}};
        rig.start();
        REQUIRE(rig.ready());
        t.owner = rig.supervisor->snapshot()->find("far__echo")->owner.lock();
        const auto keep = t.owner;
        call();
        call();
        for (int i = 0; i < 30; ++i) {
          rig.advance(50, 50);
          if (std::ranges::all_of(t.ended, [](const auto& e) { return e.second == 1; })) break;
        }
        for (const auto& [n, times] : t.ended) CHECK(times <= 1);
        // A call whose stream is dropped for ever ends with its own limit.
        if (fate != far_fate::drops)
          for (const auto& [n, times] : t.ended) CHECK(times == 1);
        t.owner.reset();
      }
  }
}
