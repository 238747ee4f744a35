// An exchange over a scripted connection: answers and departures of the caller in every order.
#include "daemon/front/exchange/exchange.hpp"

#include "daemon/front/base/door_context.hpp"
#include "daemon/front/mcp/answer_stream.hpp"
#include "test/daemon/front/fake_backend.hpp"
#include "test/support/manual_time.hpp"

#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon::front;
using namespace mcpbx::daemon::mcp_door;
using namespace mcpbx::daemon::routes;
using namespace mcpbx::json;
using namespace mcpbx::test;

namespace {

// As http_caller: it keeps the exchange until the answer is complete, or until it leaves.
struct scripted_caller final : exchange::outlet {
  explicit scripted_caller(door_context& door, const std::string& body = "") {
    x = std::make_shared<exchange>(door, *this, exchange::request{{}, shared_bytes::copy(body), "name", "uid:1"});
  }
  void answer(http::servers::server_answer a, bool fault) override {
    log.push_back((fault ? "refuse " : "answer ") + std::to_string(a.status));
    drop();
  }
  void begin(int status, std::vector<http::header>) override { note("begin " + std::to_string(status)); }
  void send(std::string_view part) override { note("send " + std::string(part)); }
  void finish(bool whole) override {
    log.push_back(whole ? "finish" : "cut");
    drop();
  }
  std::size_t unsent() const override { return 7; }
  void leave() {
    if (const auto going = std::exchange(x, nullptr)) going->leave();
  }
  void note(const std::string& what) {
    log.push_back(what);
    if (inside) std::exchange(inside, nullptr)();
  }
  void drop() {
    x.reset();
    if (inside) std::exchange(inside, nullptr)();
  }

  std::shared_ptr<exchange> x;
  std::vector<std::string> log;
  std::function<void()> inside;  // called in the next call
};

struct scripted_work final : exchange::work {
  explicit scripted_work(std::vector<std::string>& log) : log_(log) {}
  ~scripted_work() override { log_.emplace_back("work ends"); }
  void on_drained() override {
    log_.emplace_back("drained");
    if (drained) drained();
    log_.emplace_back("drained is over");  // of an object that is still there
  }
  void on_left() override {
    log_.emplace_back("left");
    if (left) left();
  }
  std::function<void()> drained, left;

 private:
  std::vector<std::string>& log_;
};

struct exchanges {
  exchanges()
      : door{.executor = io.get_executor(),
             .time = time,
             .daemon = backend,
             .settings = {},
             .started = {},
             .counters = {},
             .methods = {},
             .on_gone = {},
             .relieve = {},
             .load = {},
             .handed = {},
             .tasks = {},
             .news = {},
             .tools_cache = {},
             .views = {}},
        caller(door, "{}") {}
  std::shared_ptr<scripted_work> work() {
    auto w = std::make_shared<scripted_work>(caller.log);
    caller.x->keep(w);
    return w;
  }
  using lines = std::vector<std::string>;

  boost::asio::io_context io;
  manual_time time;
  fake_backend backend;
  door_context door;
  scripted_caller caller;
};

}  // namespace

TEST_CASE("exchange: a handler finds the request, and gives the body away once") {
  exchanges e;
  const auto x = e.caller.x;
  CHECK(x->open());
  CHECK(&x->door() == &e.door);
  CHECK(x->parameter() == "name");
  CHECK(x->principal() == "uid:1");
  CHECK(x->unsent() == 7);
  CHECK(x->take_body().view() == "{}");
  CHECK(x->take_body().empty());
}

TEST_CASE("exchange: it answers once, whole or in parts, and what comes later does nothing") {
  exchanges e;
  const auto x = e.caller.x;
  SUBCASE("whole") {
    x->send("early");
    x->finish();
    x->refuse({404, {}, ""});
    CHECK(e.caller.log == exchanges::lines{"refuse 404"});
  }
  SUBCASE("in parts") {
    x->begin(200, {});
    x->begin(201, {});
    x->answer({500, {}, ""});
    CHECK(x->open());
    x->send("a");
    x->send("");
    x->finish(false);
    CHECK(e.caller.log == exchanges::lines{"begin 200", "send a", "cut"});
  }
  CHECK_FALSE(x->open());
  CHECK(e.caller.x == nullptr);
  CHECK(x->unsent() == 0);
  CHECK(x->take_body().empty());
  const auto before = e.caller.log;
  x->answer({200, {}, ""});
  x->refuse({400, {}, ""});
  x->begin(200, {});
  x->send("b");
  x->finish();
  x->drained();
  x->leave();
  x->keep(std::make_shared<scripted_work>(e.caller.log));  // is not kept
  CHECK(e.caller.log.size() == before.size() + 1);
  CHECK(e.caller.log.back() == "work ends");
}

TEST_CASE("exchange: an answer from inside an answer does nothing") {
  exchanges e;
  const std::weak_ptr<exchange> x = e.caller.x;
  e.work();
  const auto again = [&] {
    if (const auto held = x.lock()) {
      CHECK_FALSE(held->open());
      held->answer({500, {}, ""});
      held->finish();
      held->leave();
    }
  };
  e.caller.inside = again;
  auto* const raw = e.caller.x.get();
  SUBCASE("whole") {
    raw->answer({200, {}, ""});
    CHECK(e.caller.log == exchanges::lines{"answer 200", "work ends"});
  }
  SUBCASE("in parts") {
    e.caller.inside = {};
    raw->begin(200, {});
    e.caller.inside = again;
    raw->finish();
    CHECK(e.caller.log == exchanges::lines{"begin 200", "finish", "work ends"});
  }
  CHECK(x.expired());
}

TEST_CASE("exchange: the caller may leave from inside the beginning and each part of an answer") {
  exchanges e;
  const auto x = e.caller.x;
  e.work();
  const auto leave = [&] { e.caller.leave(); };
  SUBCASE("begin") {
    e.caller.inside = leave;
    x->begin(200, {});
    CHECK(e.caller.log == exchanges::lines{"begin 200", "left", "work ends"});
  }
  SUBCASE("send") {
    x->begin(200, {});
    e.caller.inside = leave;
    x->send("a");
    CHECK(e.caller.log == exchanges::lines{"begin 200", "send a", "left", "work ends"});
  }
  CHECK_FALSE(x->open());
  const auto before = e.caller.log;
  x->send("b");
  x->finish();
  x->answer({200, {}, ""});
  CHECK(e.caller.log == before);
}

TEST_CASE("exchange: an answer to a caller that has left does nothing, also when caller and door are gone") {
  auto e = std::make_unique<exchanges>();
  const auto x = e->caller.x;
  std::vector<std::string> log;
  auto w = std::make_shared<scripted_work>(log);
  w->left = [&] {
    CHECK_FALSE(x->open());
    x->answer({200, {}, ""});
    x->keep(std::make_shared<scripted_work>(log));
  };
  x->keep(std::move(w));
  e->caller.leave();
  CHECK(e->caller.log.empty());
  CHECK(log == exchanges::lines{"left", "work ends", "work ends"});
  e.reset();
  CHECK(x->parameter() == "name");
  CHECK(x->take_body().empty());
  x->answer({200, {}, ""});
  x->begin(200, {});
  x->drained();
  x->leave();
  CHECK(x->unsent() == 0);
}

TEST_CASE("exchange: in on_drained the caller may leave and the answer may end") {
  exchanges e;
  auto* const w = e.work().get();
  auto* const raw = e.caller.x.get();
  raw->begin(200, {});
  SUBCASE("leaves") {
    w->drained = [&] { e.caller.leave(); };
    raw->drained();
    CHECK(e.caller.log == exchanges::lines{"begin 200", "drained", "left", "drained is over", "work ends"});
  }
  SUBCASE("ends") {
    w->drained = [&] { e.caller.x->finish(); };
    raw->drained();
    CHECK(e.caller.log == exchanges::lines{"begin 200", "drained", "finish", "drained is over", "work ends"});
  }
  SUBCASE("ends, and the caller leaves inside that") {
    e.caller.inside = [&] { e.caller.leave(); };
    w->drained = [&] { e.caller.x->finish(); };
    raw->drained();
    CHECK(e.caller.log == exchanges::lines{"begin 200", "drained", "finish", "drained is over", "work ends"});
  }
  CHECK(e.caller.x == nullptr);
}

TEST_CASE("exchange: work that keeps the exchange is let go of with the answer, and so is the exchange") {
  exchanges e;
  const std::weak_ptr<exchange> x = e.caller.x;
  auto w = e.work();
  w->left = w->drained = [held = e.caller.x] {};
  w.reset();
  SUBCASE("answered") {
    e.caller.x->answer({200, {}, ""});
  }
  SUBCASE("left") {
    e.caller.leave();
  }
  CHECK(x.expired());
  CHECK(e.caller.log.back() == "work ends");
}

TEST_CASE("/mcp: an answer that is cancelled after its connection has left is over for its session") {
  struct recorder final : answer_stream::owner {
    int lost = 0, over = 0;
    void on_lost(answer_stream&) override { ++lost; }
    void on_over(answer_stream&) override { ++over; }
  };
  for (const bool streaming : {false, true}) {
    exchanges e;
    recorder told;
    const auto s =
        std::make_shared<answer_stream>(e.door, told, answer_stream::options{.number = 1, .resumable = true});
    s->serve(e.caller.x);
    if (streaming) s->push(mcp::rpc::make_notification("x", raw_json()), {});
    e.caller.leave();
    CHECK(told.lost == 1);
    s->respond_nothing();
    s->respond_nothing();
    e.io.poll();
    CHECK(s->over());
    CHECK(told.over == 1);
  }
}
