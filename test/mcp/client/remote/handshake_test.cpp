// Requests around notifications/initialized: lists need not wait until the server has taken it, all others do.
#include "test/mcp/client/remote/remote_rig.hpp"
#include "test/mcp/http/client/tls_peer.hpp"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <latch>
#include <string>
#include <string_view>

namespace {

using namespace mcpbx;
using namespace mcpbx::test;

constexpr std::string_view end_of_handshake = "notifications/initialized";

/// A legacy server that takes the end of the handshake when it is told to. `early` answers requests before that; null:
/// they are answered as later ones.
struct strict_server {
  using handler = std::function<bool(http_peer&, const http_peer::request&)>;

  explicit strict_server(handler early = {})
      : server(remote_server::era::legacy, [this, early](http_peer& peer, const auto& q, const std::string& method) {
          if (method == end_of_handshake) {
            take.wait();
            taken = true;
          }
          const bool request =
              !remote_server::id_of(q).empty() && method != "initialize" && method != "server/discover";
          if (!request || taken) return false;
          ++early_requests;
          return early && early(peer, q);
        }) {}
  ~strict_server() {
    if (!taken) take.count_down();
  }
  strict_server(const strict_server&) = delete;
  strict_server& operator=(const strict_server&) = delete;

  std::latch take{1};
  std::atomic<bool> taken = false;
  std::atomic<int> early_requests = 0;
  remote_server server;
};

}  // namespace

TEST_CASE("remote: lists do not wait for the end of the handshake and calls do") {
  strict_server strict;
  remote_rig rig(strict.server.url());
  rig.start();
  REQUIRE(rig.ready());
  CHECK(strict.server.count("tools/list") == 1);
  CHECK_FALSE(strict.taken);
  remote_rig::outcome_box box;
  rig.call(box);
  rig.advance(4'000, 100);
  CHECK(strict.server.count("tools/call") == 0);
  strict.take.count_down();
  REQUIRE(rig.until([&] { return box.times != 0; }));
  CHECK(box.answered());
  CHECK(strict.early_requests == 1);
  CHECK(strict.server.count("tools/list") == 1);
}

TEST_CASE("remote: a method of an extension waits for the end of the handshake and is sent once, whatever its name") {
  constexpr std::string_view method = "com.example/jobs/list";
  strict_server strict([method](auto& peer, const auto& q) {
    return q.body.contains(method) && remote_server::send_json(peer, 200, remote_server::error(q, -32602));
  });
  remote_rig rig(strict.server.url());
  rig.start();
  REQUIRE(rig.ready());
  remote_rig::outcome_box box;
  rig.call(box, "{}", "far__echo", method);
  rig.advance(4'000, 100);
  CHECK(strict.server.count(method) == 0);
  strict.take.count_down();
  REQUIRE(rig.until([&] { return box.times != 0; }));
  CHECK(strict.server.count(method) == 1);
}

TEST_CASE("remote: a list that came too early for the server is asked for once more after the handshake") {
  struct row {
    std::string_view name;
    strict_server::handler early;
  };
  const std::array<row, 8> table{{
      {"an error",
       [](auto& peer, const auto& q) { return remote_server::send_json(peer, 200, remote_server::error(q, -32602)); }},
      {"an error in a stream",
       [](auto& peer, const auto& q) {
         return remote_server::begin_events(peer) &&
                peer.send_chunk("data: " + remote_server::error(q, -32602) + "\n\n") && remote_server::end_events(peer);
       }},
      {"an error with a status",
       [](auto& peer, const auto& q) { return remote_server::send_json(peer, 400, remote_server::error(q, -32000)); }},
      {"a sentence about the session",
       [](auto& peer, const auto&) { return send_plain(peer, 400, "text/plain", "Session not initialized"); }},
      {"404", [](auto& peer, const auto&) { return send_plain(peer, 404, "text/plain", "no"); }},
      {"500", [](auto& peer, const auto&) { return send_plain(peer, 500, "text/plain", "no"); }},
      {"a closed connection",
       [](auto& peer, const auto&) {
         peer.close();
         return true;
       }},
      {"a page", [](auto& peer, const auto&) { return send_plain(peer, 200, "text/html", "<p>"); }},
  }};
  for (const row& r : table) {
    CAPTURE(r.name);
    strict_server strict(r.early);
    remote_rig rig(strict.server.url());
    rig.start();
    REQUIRE(rig.until([&] { return strict.early_requests == 1; }));
    rig.advance(300);
    CHECK(strict.server.count("tools/list") == 1);
    strict.take.count_down();
    REQUIRE(rig.ready());
    CHECK(rig.called().answered());
    CHECK(strict.server.count("tools/list") == 2);
    CHECK(strict.server.count("initialize") == 1);
    CHECK(rig.status().restarts == 0);
    CHECK(rig.status().last_error.empty());
  }
}

TEST_CASE("remote: a list that is refused after the handshake as well is not asked for a third time at once") {
  strict_server strict(
      [](auto& peer, const auto& q) { return remote_server::send_json(peer, 200, remote_server::error(q, -32602)); });
  strict.server.tools = "7";
  remote_rig rig(strict.server.url());
  rig.start();
  REQUIRE(rig.until([&] { return strict.early_requests == 1; }));
  strict.take.count_down();
  REQUIRE(rig.until([&] { return rig.status().state == mcp::clients::server_state::ready; }));
  CHECK(strict.server.count("tools/list") == 2);
}

TEST_CASE("remote: an early list without an answer is asked for once more after five seconds") {
  strict_server strict([](auto& peer, const auto&) { return remote_server::begin_events(peer); });
  remote_rig rig(strict.server.url());
  rig.start();
  REQUIRE(rig.until([&] { return strict.early_requests == 1; }));
  strict.take.count_down();
  REQUIRE(rig.until([&] { return strict.taken.load(); }));
  rig.advance(4'000, 100);
  CHECK(strict.server.count("tools/list") == 1);
  rig.advance(1'100, 100);
  CHECK(rig.ready());
  CHECK(strict.server.count("tools/list") == 2);
}

TEST_CASE("remote: an early list that a busy server has refused waits as long as the server asks") {
  strict_server strict(
      [](auto& peer, const auto&) { return send_plain(peer, 429, "text/plain", "busy", "Retry-After: 10\r\n"); });
  remote_rig rig(strict.server.url());
  rig.start();
  REQUIRE(rig.until([&] { return strict.early_requests == 1; }));
  rig.advance(300);
  strict.take.count_down();
  REQUIRE(rig.until([&] { return strict.taken.load(); }));
  rig.advance(8'000, 100);
  CHECK(strict.server.count("tools/list") == 1);
  rig.advance(2'100, 100);
  CHECK(rig.ready());
  CHECK(strict.server.count("tools/list") == 2);
}

TEST_CASE("remote: a method that the server does not know is not asked for twice") {
  strict_server strict(
      [](auto& peer, const auto& q) { return remote_server::send_json(peer, 200, remote_server::error(q, -32601)); });
  remote_rig rig(strict.server.url());
  rig.start();
  REQUIRE(rig.until([&] { return rig.status().state == mcp::clients::server_state::ready; }));
  CHECK(strict.server.count("tools/list") == 1);
}

TEST_CASE("remote: a server that leaves the end of the handshake lying gets its requests after five seconds") {
  strict_server strict(
      [](auto& peer, const auto& q) { return remote_server::send_json(peer, 200, remote_server::error(q, -32602)); });
  remote_rig rig(strict.server.url());
  rig.start();
  REQUIRE(rig.until([&] { return strict.early_requests == 1; }));
  rig.advance(4'000, 100);
  CHECK(strict.server.count("tools/list") == 1);
  rig.advance(1'100, 100);
  CHECK(rig.until([&] { return strict.server.count("tools/list") == 2; }));
}

TEST_CASE("remote: a session that ends while its first list waits for the handshake is opened anew") {
  std::atomic<int> refused = 0;
  const remote_server server(remote_server::era::legacy,
                             [&](http_peer& peer, const auto& q, const std::string& method) {
                               if (refused > 1) return false;
                               if (method == "tools/list")
                                 return remote_server::send_json(peer, 200, remote_server::error(q, -32602));
                               if (method != end_of_handshake) return false;
                               ++refused;
                               return send_plain(peer, 404, "text/plain", "no such session");
                             });
  remote_rig rig(server.url());
  rig.start();
  CHECK(rig.until([&] { return server.count("initialize") >= 2; }));
  CHECK(rig.ready());
  CHECK(rig.called().answered());
}

TEST_CASE("remote: a server may be stopped while a list waits for the end of the handshake") {
  strict_server strict(
      [](auto& peer, const auto& q) { return remote_server::send_json(peer, 200, remote_server::error(q, -32602)); });
  remote_rig rig(strict.server.url());
  rig.start();
  REQUIRE(rig.until([&] { return strict.early_requests == 1; }));
  rig.turn();
  rig.supervisor->apply({});
  rig.advance(6'000, 500);
  CHECK(strict.server.count("tools/list") == 1);
}

TEST_CASE("remote: a call that has waited for the end of the handshake does not overtake the session's stream") {
  std::latch take{1};
  remote_server* all = nullptr;
  remote_server server(remote_server::era::legacy, [&](http_peer& peer, const auto& q, const std::string& method) {
    // Their connections are not used again, so that each later request opens one, and those are in order.
    if (method == "tools/list")
      return remote_server::send_json(peer, 200, remote_server::answer(q, all->tools), "Connection: close\r\n");
    if (method != end_of_handshake) return false;
    take.wait();
    return peer.send("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
  });
  all = &server;
  remote_rig rig(server.url());
  rig.start();
  REQUIRE(rig.ready());
  remote_rig::outcome_box box;
  rig.call(box);
  rig.turn();
  CHECK(server.count("GET") == 0);
  take.count_down();
  REQUIRE(rig.until([&] { return box.times != 0 && server.count("GET") == 1; }));
  CHECK(box.answered());
  CHECK(server.connection_of("GET") < server.connection_of("tools/call"));
}

TEST_CASE("remote: an answer to the end of the handshake that does not end lets the calls go") {
  const remote_server server(remote_server::era::legacy, [](http_peer& peer, const auto&, const std::string& method) {
    return method == end_of_handshake && peer.send("HTTP/1.1 202 Accepted\r\nTransfer-Encoding: chunked\r\n\r\n");
  });
  remote_rig rig(server.url());
  rig.start();
  REQUIRE(rig.ready());
  CHECK(rig.called().answered());
  CHECK(rig.until([&] { return server.count("GET") == 1; }));
}

TEST_CASE("remote: over TLS the first list and the first call wait for no further connection") {
  const identity who("DNS:localhost");
  const pem_file trusted(who.pem(), "remote-start");
  const remote_server script(remote_server::era::legacy);  // for its answers
  tls_server server(who);
  server.only_first = true;
  server.answer_with([&](const std::string& text) -> std::string {
    const auto whole = [](std::string_view type, std::string_view body, std::string_view more = "") {
      return "HTTP/1.1 200 OK\r\nContent-Type: " + std::string(type) + "\r\n" + std::string(more) +
             "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
    };
    // The session's stream would keep the connection for good.
    if (text.starts_with("GET")) return "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
    http_peer::request q;
    q.body = text.substr(text.find("\r\n\r\n") + 4);
    const std::string method = remote_server::method_of(q);
    if (method == "initialize")
      return whole(
          "application/json",
          remote_server::answer(
              q,
              R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}})"));
    if (method == "tools/list") return whole("application/json", remote_server::answer(q, script.tools));
    if (method == "tools/call") return whole("application/json", remote_server::answer(q, remote_server::said("done")));
    if (remote_server::id_of(q).empty()) return "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n";
    return "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";
  });
  remote_rig rig("https://localhost:" + std::to_string(server.port()) + "/mcp",
                 [&](mcp::remote::remote_spec& spec) { spec.trust.ca_file = trusted.path; });
  rig.start();
  REQUIRE(rig.ready());
  CHECK(rig.called().answered());
  // One round trip each: the question for the era, then as a client of the SDK.
  CHECK(server.requests().size() == 5);
}
