// Tokens on the way to a protected server: sent with each request, asked for again where they are refused.
#include "test/mcp/client/remote/remote_rig.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace mcpbx;
using namespace mcpbx::test;

/// Gives out the token of its number, and answers refusals by order of the test.
struct scripted_tokens final : mcp::connect::authorizer {
  void prepare(std::function<void()> then) override {
    ++prepared;
    if (keeps) return kept.push_back(std::move(then));
    then();
  }
  std::string header() const override { return number == 0 ? std::string() : "Bearer token-" + std::to_string(number); }
  void refused(int status, std::string_view challenge, std::string_view sent,
               std::function<void(bool)> again) override {
    refusals.push_back(std::to_string(status) + " " + std::string(challenge) + " " + std::string(sent));
    if (waits) {
      waiting.push_back(std::move(again));
      return;
    }
    if (renews) ++number;
    again(renews);
  }
  void stream_refused(std::string_view sent, std::function<void(bool)> again) override {
    streams.emplace_back(sent);
    if (renews) ++number;
    again(renews);
  }
  std::string sentence() const override { return "needs a login: run `mcpbx auth login far`"; }

  int number = 1, prepared = 0;
  bool renews = true, waits = false, keeps = false;
  std::vector<std::string> refusals, streams;
  std::vector<std::function<void(bool)>> waiting;
  std::vector<std::function<void()>> kept;
};

// Refuses every request whose token is not `right`.
remote_server::handler gate(const std::atomic<int>& right, int status = 401,
                            std::string challenge = R"(Bearer scope="a")") {
  return [&right, status, challenge](http_peer& peer, const http_peer::request& q, const std::string&) {
    if (q.header("authorization") == "Bearer token-" + std::to_string(right.load())) return false;
    return send_plain(peer, status, "text/plain", "no", "WWW-Authenticate: " + challenge + "\r\n");
  };
}

std::function<void(mcp::remote::remote_spec&)> with(const std::shared_ptr<scripted_tokens>& tokens) {
  return [tokens](mcp::remote::remote_spec& spec) { spec.tokens = tokens; };
}

}  // namespace

TEST_CASE("tokens: each request of both eras carries the token and a header of the entry wins") {
  for (const auto era : {remote_server::era::legacy, remote_server::era::modern}) {
    const remote_server server(era);
    const auto tokens = std::make_shared<scripted_tokens>();
    remote_rig rig(server.url(), with(tokens));
    rig.start();
    REQUIRE(rig.ready());
    CHECK(rig.called().answered());
    for (const auto& q : server.requests()) CHECK(q.header("authorization") == "Bearer token-1");
    CHECK(tokens->refusals.empty());
  }
  const remote_server server(remote_server::era::modern);
  const auto tokens = std::make_shared<scripted_tokens>();
  remote_rig rig(server.url(), [tokens](mcp::remote::remote_spec& spec) {
    spec.tokens = tokens;
    spec.headers = {{"Authorization", "Basic own"}};
  });
  rig.start();
  REQUIRE(rig.ready());
  for (const auto& q : server.requests()) CHECK(q.header("authorization") == "Basic own");
  CHECK(tokens->prepared == 0);
}

TEST_CASE("tokens: a call whose token is refused is sent again with the next one and nobody notices") {
  std::atomic<int> right = 1;
  const remote_server server(remote_server::era::modern, gate(right));
  const auto tokens = std::make_shared<scripted_tokens>();
  remote_rig rig(server.url(), with(tokens));
  rig.start();
  REQUIRE(rig.ready());
  right = 2;
  CHECK(rig.called().answered());
  CHECK(server.count("tools/call") == 2);
  CHECK(tokens->refusals == std::vector<std::string>{R"(401 Bearer scope="a" Bearer token-1)"});
  CHECK(rig.status().restarts == 0);
}

TEST_CASE("tokens: a redirect within the origin is followed with the token, also while that is being renewed") {
  for (const bool waits : {false, true}) {
    const remote_server server(remote_server::era::modern, [](http_peer& peer, const auto& q, const std::string&) {
      return q.target == "/mcp" && send_plain(peer, 307, "text/plain", "moved", "Location: /new\r\n");
    });
    const auto tokens = std::make_shared<scripted_tokens>();
    tokens->keeps = waits;
    remote_rig rig(server.url(), with(tokens));
    rig.start();
    for (int i = 0; waits && i < 2; ++i) {
      REQUIRE(rig.until([&] { return !tokens->kept.empty(); }));
      rig.advance(20, 10);
      if (i == 1) tokens->keeps = false;
      std::exchange(tokens->kept, {}).front()();
    }
    REQUIRE(rig.ready());
    CHECK(rig.called().answered());
    CHECK(server.requests("tools/call").at(0).target == "/new");
    CHECK(server.requests("tools/call").at(0).header("authorization") == "Bearer token-1");
  }
}

TEST_CASE("tokens: all lines of WWW-Authenticate reach the source of tokens as one list") {
  std::atomic<int> right = 1;
  const remote_server server(remote_server::era::modern,
                             gate(right, 401, "Negotiate\r\nWWW-Authenticate: Bearer scope=\"a\""));
  const auto tokens = std::make_shared<scripted_tokens>();
  remote_rig rig(server.url(), with(tokens));
  rig.start();
  REQUIRE(rig.ready());
  right = 2;
  CHECK(rig.called().answered());
  CHECK(tokens->refusals == std::vector<std::string>{"401 Negotiate, Bearer scope=\"a\" Bearer token-1"});
}

TEST_CASE("tokens: a server that wants a login says so in its status and its calls") {
  std::atomic<int> right = 99;
  const remote_server server(remote_server::era::legacy, gate(right));
  const auto tokens = std::make_shared<scripted_tokens>();
  tokens->renews = false;
  remote_rig rig(server.url(), with(tokens));
  rig.start();
  CHECK(rig.failure().find("needs a login: run `mcpbx auth login far`") != std::string::npos);
  REQUIRE(rig.status().remote);
  CHECK(rig.status().remote->problem == "unauthorized");
}

TEST_CASE("tokens: a server that waits for a person's login is one that wants a login, and not a slow one") {
  std::atomic<int> right = 2;
  for (const bool events : {false, true}) {
    CAPTURE(events);
    const remote_server server(remote_server::era::legacy, gate(right));
    const auto tokens = std::make_shared<scripted_tokens>();
    tokens->waits = true;
    remote_rig rig(server.url(), [&](mcp::remote::remote_spec& spec) {
      spec.tokens = tokens;
      spec.events_first = events;
    });
    rig.start();
    REQUIRE(rig.until([&] { return tokens->waiting.size() == 1; }));
    rig.advance(10'100, 100);
    CHECK(rig.failure().find("needs a login: run `mcpbx auth login far`") != std::string::npos);
    CHECK(rig.status().remote->problem == "unauthorized");
    // An answer that comes late meets the connections that came after.
    for (auto& again : std::exchange(tokens->waiting, {})) again(true);
    tokens->number = 2;
    tokens->waits = false;
    if (events) continue;
    REQUIRE(rig.supervisor->restart("far"));
    CHECK(rig.ready());
  }
}

TEST_CASE("tokens: a server that refuses every token is asked a bounded number of times") {
  std::atomic<int> right = 1;
  const remote_server server(remote_server::era::modern, gate(right, 403, R"(Bearer error="insufficient_scope")"));
  const auto tokens = std::make_shared<scripted_tokens>();
  remote_rig rig(server.url(), with(tokens));
  rig.start();
  REQUIRE(rig.ready());
  right = -1;
  const auto box = rig.called();
  CHECK(box.failed());
  CHECK(box.text().find("needs a login") != std::string::npos);
  CHECK(server.count("tools/call") == 5);
}

TEST_CASE("tokens: a call waits for a login and its cancellation ends the wait") {
  std::atomic<int> right = 1;
  const remote_server server(remote_server::era::modern, gate(right));
  const auto tokens = std::make_shared<scripted_tokens>();
  remote_rig rig(server.url(), with(tokens));
  rig.start();
  REQUIRE(rig.ready());
  right = 2;
  tokens->waits = true;
  remote_rig::outcome_box waits, ends;
  rig.call(waits);
  const auto ticket = rig.call(ends);
  REQUIRE(rig.until([&] { return tokens->waiting.size() == 2; }));
  const auto owner = rig.supervisor->snapshot()->find("far__echo")->owner.lock();
  owner->cancel(ticket, "not wanted");
  REQUIRE(rig.until([&] { return ends.times == 1; }));
  tokens->number = 2;
  tokens->waits = false;
  for (auto& again : tokens->waiting) again(true);
  REQUIRE(rig.until([&] { return waits.times == 1; }));
  CHECK(waits.answered());
  CHECK(ends.failed());
  CHECK(server.count("tools/call") == 3);
}

TEST_CASE("tokens: the connection may go while requests wait for a token or an answer about one") {
  for (const bool early : {true, false}) {
    std::atomic<int> right = 1;
    const remote_server server(remote_server::era::legacy, gate(right));
    const auto tokens = std::make_shared<scripted_tokens>();
    auto rig = std::make_unique<remote_rig>(server.url(), with(tokens));
    rig->start();
    REQUIRE(rig->ready());
    tokens->keeps = early;
    tokens->waits = !early;
    right = 2;
    remote_rig::outcome_box box;
    rig->call(box);
    REQUIRE(rig->until([&] { return !tokens->kept.empty() || !tokens->waiting.empty(); }));
    rig.reset();
    for (auto& then : tokens->kept) then();
    for (auto& again : tokens->waiting) again(true);
  }
}

TEST_CASE("tokens: a stream is resumed with the next token if the first one has run out meanwhile") {
  for (const bool renews : {true, false}) {
    std::atomic<int> right = 1;
    const auto check = gate(right);
    const remote_server server(remote_server::era::legacy,
                               [&](http_peer& peer, const auto& q, const std::string& method) {
                                 if (check(peer, q, method)) return true;
                                 if (q.method == "GET" && !q.header("last-event-id").empty()) {
                                   CHECK(q.header("last-event-id") == "e1");
                                   remote_server::begin_events(peer);
                                   peer.send_chunk(R"(data: {"jsonrpc":"2.0","id":4,"result":{"content":[]}})"
                                                   "\n\n");
                                   return remote_server::end_events(peer);
                                 }
                                 if (method != "tools/call") return false;
                                 CHECK(remote_server::id_of(q) == "4");
                                 right = 2;
                                 remote_server::begin_events(peer);
                                 peer.send_chunk("id: e1\nretry: 10\ndata:\n\n");
                                 return remote_server::end_events(peer);
                               });
    const auto tokens = std::make_shared<scripted_tokens>();
    tokens->renews = renews;
    remote_rig rig(server.url(), with(tokens));
    rig.start();
    REQUIRE(rig.ready());
    remote_rig::outcome_box box;
    rig.call(box);
    REQUIRE(rig.until([&] { return right == 2; }));
    rig.advance(500, 10);
    CHECK(rig.until([&] { return box.times == 1; }));
    CHECK(server.count("tools/call") == 1);
    if (renews) {
      CHECK(box.answered());
    } else {
      CHECK(
          box.text().contains("could not be resumed, and it is not known whether it did what was asked: the server "
                              "needs a login: run `mcpbx auth login far`"));
    }
  }
}

TEST_CASE("tokens: a server that refuses the stream of a session alone is told from one that refuses its requests") {
  const remote_server server(remote_server::era::legacy, [](http_peer& peer, const auto& q, const std::string&) {
    if (q.method != "GET") return false;
    return send_plain(peer, 401, "text/plain", "no", "WWW-Authenticate: Bearer\r\n");
  });
  const auto tokens = std::make_shared<scripted_tokens>();
  tokens->renews = false;
  remote_rig rig(server.url(), with(tokens));
  rig.start();
  REQUIRE(rig.ready());
  REQUIRE(rig.until([&] { return !tokens->streams.empty(); }));
  remote_rig::outcome_box box;
  rig.call(box);
  CHECK(rig.until([&] { return box.answered(); }));
  CHECK(tokens->streams == std::vector<std::string>{"Bearer token-1"});
  CHECK(tokens->refusals.empty());
}
