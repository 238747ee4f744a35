// Name look-ups: one that hangs holds up requests to that host only, and none for longer than its limit.
#include "mcp/http/client/name_lookups.hpp"

#include "test/fixtures/model/http_peer.hpp"
#include "test/fixtures/model/scripted_model.hpp"
#include "test/mcp/http/client/client_harness.hpp"
#include "test/support/manual_time.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/ip/address.hpp>
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace mcpbx;
using namespace mcpbx::test;

// A name server: hosts that begin with "dead" hang until it goes, others are this machine.
struct name_server {
  std::promise<void> end;
  std::shared_future<void> ended = end.get_future().share();
  std::shared_ptr<std::atomic<int>> asked = std::make_shared<std::atomic<int>>(0);
  std::shared_ptr<std::atomic<bool>> silent = std::make_shared<std::atomic<bool>>(false);
  ~name_server() { stop(); }
  void stop() {
    if (ended.wait_for(std::chrono::seconds(0)) != std::future_status::ready) end.set_value();
  }
  http::clients::name_lookups::look_up how() const {
    return
        [ended = ended, asked = asked, silent = silent](const std::string& host) -> result<http::clients::addresses> {
          ++*asked;
          if (host.starts_with("dead") || *silent) {
            ended.wait();
            return fail(errc::unavailable, "Temporary failure in name resolution");
          }
          if (host.starts_with("none")) return fail(errc::not_found, "Name or service not known");
          return http::clients::addresses{boost::asio::ip::make_address("127.0.0.1")};
        };
  }
};

http::clients::client::options with(const name_server& names) {
  http::clients::client::options o;
  o.look_up = names.how();
  return o;
}

}  // namespace

TEST_CASE("G30: look-ups of any number of hosts that hang hold up no request to another host") {
  const scripted_model server({});
  const auto port = ":" + std::to_string(server.port());
  name_server names;
  http_loop loop(nullptr, with(names));
  std::vector<std::unique_ptr<recorder>> lost;
  std::vector<std::unique_ptr<http::clients::exchange>> waiting;
  for (int i = 0; i < 12; ++i)
    for (int twice = 0; twice < 2; ++twice) {
      lost.push_back(std::make_unique<recorder>());
      waiting.push_back(
          loop.client->start(ask("http://dead" + std::to_string(i) + ".example" + port, "stream"), *lost.back()));
    }
  REQUIRE(loop.until([&] { return *names.asked == 12; }));
  for (const std::string host : {"living.example", "other.example", "127.0.0.1", "[::1]", "localhost"}) {
    CAPTURE(host);
    recorder got;
    const auto exchange = loop.client->start(ask("http://" + host + port, "stream"), got);
    REQUIRE(loop.until([&] { return got.over(); }));
    if (host != "[::1]") CHECK_FALSE(got.failure);  // it may not be listened on
  }
  for (const auto& one : lost) CHECK_FALSE(one->over());
  waiting.clear();
  names.stop();
}

TEST_CASE("G30: a look-up that hangs ends with its request's limit and says so") {
  name_server names;
  manual_time time;
  http_loop loop(&time, with(names));
  recorder got;
  const auto exchange = loop.client->start(ask("http://dead.example", "x"), got);
  REQUIRE(loop.until([&] { return *names.asked == 1; }));
  time.advance(http::clients::limits().connect);
  REQUIRE(got.failure);
  CHECK(got.failure->stage == http::clients::stage::resolve);
  CHECK(got.failure->why.code == errc::timed_out);
  CHECK(got.failure->why.message ==
        "dead.example was not found within 10 s (the limit on connecting): its name's look-up hangs; check the name "
        "servers of this machine.");
  // The next request waits for the same look-up instead of another thread.
  recorder again;
  const auto second = loop.client->start(ask("http://dead.example", "x"), again);
  loop.context.poll();
  names.stop();
  REQUIRE(loop.until([&] { return again.over(); }));
  CHECK(again.failure->why.message == "dead.example is not known: Temporary failure in name resolution.");
  CHECK(*names.asked == 1);
}

TEST_CASE("G30: a host that was found lately is asked where it was when its look-up hangs") {
  const http_listener server(0, [](http_peer& peer, std::uint64_t) {
    http_peer::request q;
    if (!peer.read(q)) return;
    send_plain(peer, 200, "text/plain", "here");
    peer.close();
  });
  const auto url = "http://living.example:" + std::to_string(server.port());
  name_server names;
  manual_time time;
  http_loop loop(&time, with(names));
  const auto run = [&](const std::function<void()>& meanwhile) {
    recorder got;
    const auto exchange = loop.client->start(ask(url, "x"), got);
    meanwhile();
    REQUIRE(loop.until([&] { return got.over(); }));
    return got;
  };
  CHECK(run([] {}).body == "here");
  *names.silent = true;
  // The first one has patience, those behind it have the answer of before at once.
  CHECK(run([&] {
          REQUIRE(loop.until([&] { return *names.asked == 2; }));
          time.advance(milliseconds(2'000));
        }).body == "here");
  CHECK(run([] {}).body == "here");
  CHECK(*names.asked == 2);
  // Remembered answers expire.
  time.advance(std::chrono::hours(1));
  recorder late;
  const auto exchange = loop.client->start(ask(url, "x"), late);
  REQUIRE(loop.until([&] { return loop.context.poll() == 0; }));
  CHECK_FALSE(late.over());
  names.stop();
  REQUIRE(loop.until([&] { return late.over(); }));
  CHECK(late.failure);
}

TEST_CASE("G30: a name server that fails for a while leaves what was known, one that says no such name does not") {
  boost::asio::io_context io;
  const auto guard = boost::asio::make_work_guard(io);
  manual_time time;
  result<http::clients::addresses> answer = http::clients::addresses{boost::asio::ip::make_address("192.0.2.7")};
  const auto names = std::make_shared<http::clients::name_lookups>(io.get_executor(), time,
                                                                   [&answer](const std::string&) { return answer; });
  const auto find = [&] {
    std::optional<result<http::clients::addresses>> got;
    names->find(nullptr, "host.example", [&](result<http::clients::addresses> found) { got = std::move(found); });
    CHECK_FALSE(got);
    while (!got) io.run_one();
    return *got;
  };
  CHECK(find()->size() == 1);
  answer = fail(errc::unavailable, "Temporary failure in name resolution");
  CHECK(find()->size() == 1);
  answer = fail(errc::not_found, "Name or service not known");
  CHECK_FALSE(find());
  answer = fail(errc::unavailable, "Temporary failure in name resolution");
  CHECK_FALSE(find());
}

TEST_CASE("client: requests and the client may go while names are looked up") {
  name_server names;
  auto loop = std::make_unique<http_loop>(nullptr, with(names));
  recorder one, two, three;
  auto first = loop->client->start(ask("http://dead.example", "x"), one);
  auto second = loop->client->start(ask("http://dead.example", "x"), two);
  auto third = loop->client->start(ask("http://none.example", "x"), three);
  REQUIRE(loop->until([&] { return three.over(); }));
  CHECK(three.failure->why.message == "none.example is not known: Name or service not known.");
  REQUIRE(loop->until([&] { return *names.asked == 2; }));
  first.reset();
  loop->context.poll();
  names.stop();
  REQUIRE(loop->until([&] { return two.over(); }));
  CHECK_FALSE(one.over());
  second = loop->client->start(ask("http://other.example:1", "x"), two);
  loop->context.poll();
  loop->client.reset();
  second.reset();
  third.reset();
}

TEST_CASE("G44: an address that the rule of a request refuses is not connected to, however its name is spelled") {
  std::atomic<int> asked = 0;
  const http_listener server(0, [&](http_peer& peer, std::uint64_t) {
    http_peer::request q;
    while (peer.read(q)) {
      ++asked;
      send_plain(peer, 200, "text/plain", "x");
    }
  });
  name_server names;
  http_loop loop(nullptr, with(names));
  const auto ask_with = [&](const std::string& host, const std::string& refused) {
    http::clients::request r;
    r.method = "GET";
    r.url = "http://" + host + ":" + std::to_string(server.port()) + "/";
    if (!refused.empty())
      r.addresses =
          std::make_shared<http::clients::address_rule>(refused, [refused](const std::string& address) -> result<void> {
            if (address == refused) return fail(errc::protocol, "it has the address " + address);
            return {};
          });
    recorder got;
    const auto exchange = loop.client->start(std::move(r), got);
    REQUIRE(loop.until([&] { return got.over(); }));
    return got;
  };
  // Connections that others have opened there do not help.
  CHECK(ask_with("inner.example", "").status == 200);
  CHECK(ask_with("inner.example", "10.0.0.1").status == 200);
  CHECK(asked == 2);
  for (const char* host : {"inner.example", "127.0.0.1"}) {
    const auto got = ask_with(host, "127.0.0.1");
    REQUIRE(got.failure);
    CHECK(got.failure->stage == http::clients::stage::resolve);
    CHECK(got.failure->why.code == errc::protocol);
    CHECK(got.failure->why.message.ends_with(" was not asked: it has the address 127.0.0.1."));
  }
  // Of several addresses the others are tried.
  CHECK(ask_with("localhost", "::1").status == 200);
  CHECK(asked == 3);
}

TEST_CASE("client: an exchange whose connection is still being made moves to one that becomes free, the oldest first") {
  std::promise<void> answer;
  const auto may_answer = answer.get_future().share();
  const http_listener server(0, [&](http_peer& peer, std::uint64_t) {
    http_peer::request q;
    for (bool first = true; peer.read(q); first = false) {
      if (first) may_answer.wait();
      peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    }
  });
  name_server names;
  manual_time time;
  http_loop loop(&time, with(names));
  const std::string url = "http://far.example:" + std::to_string(server.port());
  recorder first, second, third, late, staying;
  const auto one = loop.client->start(ask(url, "x"), first);
  REQUIRE(loop.until([&] { return one->sent(); }));
  *names.silent = true;
  auto stays = ask(url, "x");
  stays.may_move = false;
  const auto zero = loop.client->start(std::move(stays), staying);
  const auto two = loop.client->start(ask(url, "x"), second);
  auto three = loop.client->start(ask(url, "x"), third);
  REQUIRE(loop.until([&] { return *names.asked == 2; }));
  three.reset();  // its user leaves
  const auto four = loop.client->start(ask(url, "x"), late);
  answer.set_value();
  REQUIRE(loop.until([&] { return first.over(); }));
  CHECK_FALSE(second.over());
  REQUIRE(loop.until([&] { return second.over(); }));
  CHECK(second.body == "ok");
  CHECK_FALSE(late.over());
  REQUIRE(loop.until([&] { return late.over(); }));
  CHECK(late.body == "ok");
  CHECK(server.connections() == 1);
  CHECK_FALSE(third.over());
  CHECK_FALSE(staying.over());
  names.stop();
}
