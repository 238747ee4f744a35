// Bounds of one connection to a server at an address: each message that is one too many has an answer of its own.
#include "test/mcp/client/remote/remote_rig.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

namespace {

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::test;

/// Sends over one link what the test says, and keeps what comes.
struct plain_speaker final : mcp::connect::link_events, mcp::transports::transport_events {
  explicit plain_speaker(remote_rig& rig, bool events_first = false)
      : way(mcp::remote::make_remote_connector("far", rig.url, {*rig.loop.client, rig.time, rig.verdicts, rig.framing},
                                               [&rig, events_first](const auto& then) {
                                                 mcp::remote::remote_spec spec;
                                                 spec.url = rig.url;
                                                 spec.events_first = events_first;
                                                 then(std::move(spec));
                                               })),
        link(way->open(*this)) {
    REQUIRE(rig.until([&] { return line != nullptr; }));
  }
  void say(std::int64_t id, std::string_view method) {
    const mcp::rpc::message_facts facts{method, id > 1 || id == 0 ? "2025-11-25" : "", false, {}, {}};
    auto what = id == 0 ? mcp::rpc::outgoing() : mcp::rpc::outgoing::request(id);
    what.facts = &facts;
    const auto none = raw_json::literal("{}");
    line->send(id == 0 ? mcp::rpc::make_notification(method, none) : mcp::rpc::make_request(id, method, none), what);
  }
  void on_open(std::unique_ptr<mcp::transports::transport> connection) override {
    line = std::move(connection);
    line->start(*this);
  }
  void on_not_opened(const mcp::connect::link_failure&) override {}
  void on_ended(const std::string&) override {}
  void on_message(mcp::rpc::message&&) override { ++messages; }
  void on_fault(mcp::rpc::message_fault) override {}
  void on_lost(mcp::rpc::lost_request&& one) override { lost.push_back(std::move(one)); }
  void on_closed(const error&) override {}

  std::unique_ptr<mcp::connect::connector> way;
  std::unique_ptr<mcp::transports::transport> line;
  std::unique_ptr<mcp::connect::server_link> link;
  int messages = 0;
  std::vector<mcp::rpc::lost_request> lost;
};

}  // namespace

TEST_CASE("remote: a request that finds no room to wait for the event stream is told so") {
  const remote_server server(remote_server::era::legacy, [](http_peer& peer, const auto&, const auto&) {
    peer.wait_closed();
    return true;
  });
  remote_rig rig(server.url());
  plain_speaker one(rig, true);
  for (int i = 1; i <= 70; ++i) one.say(i, "tools/list");
  CHECK(one.lost.empty());
  REQUIRE(rig.until([&] { return one.lost.size() == 6; }));
  CHECK(one.lost.front().id == 65);
  CHECK(one.lost.front().unseen);
  CHECK(one.lost.front().why.message == "was not sent: too many messages wait for the event stream");
}

TEST_CASE("remote: a call whose question cannot be answered for want of room fails and nobody else's does") {
  const remote_server server(remote_server::era::legacy, [](http_peer& peer, const auto& q, const std::string& method) {
    if (method == "initialize" || q.method == "GET") return false;
    peer.wait_closed();
    return true;
  });
  remote_rig rig(server.url());
  plain_speaker one(rig);
  one.say(1, "initialize");
  REQUIRE(rig.until([&] { return one.messages == 1; }));
  one.say(2, "tools/call");
  one.say(3, "tools/call");
  for (int i = 0; i < 64; ++i) one.say(0, "notifications/progress");
  const auto answer = [&](std::int64_t call) {
    one.line->send(mcp::rpc::make_result(mcp::rpc::rpc_id::number(7), raw_json::literal("{}")),
                   mcp::rpc::outgoing::response(call));
  };
  // Notifications that lie there leave room for answers.
  for (int i = 0; i < 64; ++i) answer(3);
  REQUIRE(rig.until([&] { return server.requests().size() >= 130; }));
  CHECK(one.lost.empty());
  answer(2);
  REQUIRE(rig.until([&] { return one.lost.size() == 1; }));
  CHECK(one.lost.front().id == 2);
  CHECK_FALSE(one.lost.front().unseen);
  CHECK(one.lost.front().why.message ==
        "got no answer: the server asked a question whose answer was not sent: too many answers are under way, "
        "and it is not known whether it did what was asked");
}

TEST_CASE("remote: notifications of extensions, of which a caller may send any number, leave room for those of MCP") {
  const remote_server server(remote_server::era::legacy, [](http_peer& peer, const auto& q, const std::string& method) {
    if (method == "initialize" || q.method == "GET") return false;
    peer.wait_closed();
    return true;
  });
  remote_rig rig(server.url());
  plain_speaker one(rig);
  one.say(1, "initialize");
  REQUIRE(rig.until([&] { return one.messages == 1; }));
  for (int i = 0; i < 100; ++i) one.say(0, "notifications/find/more");
  for (int i = 0; i < 64; ++i) one.say(0, "notifications/cancelled");
  REQUIRE(rig.until([&] { return server.count("notifications/cancelled") == 64; }));
  CHECK(server.count("notifications/find/more") <= 16);
}
