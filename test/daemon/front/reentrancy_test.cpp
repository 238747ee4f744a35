// Tests of reentrancy: inside every call between the door and the daemon, the door closes or is destroyed, runs speak,
// end or do not begin, and waiting requests are answered. Over real sockets, as JSON-RPC and as HTTP. Meant for the
// asan preset.
#include "daemon/front/front_door.hpp"
#include "daemon/loop/json/event_json.hpp"
#include "test/daemon/front/chat_sources.hpp"
#include "test/daemon/front/fake_backend.hpp"
#include "test/support/manual_time.hpp"

#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace door_reentrancy {

namespace asio = boost::asio;
using namespace mcpbx;
using namespace mcpbx::daemon::chat;
using namespace mcpbx::daemon::door;
using namespace mcpbx::daemon::front;
using namespace mcpbx::daemon::run;
using namespace mcpbx::daemon::store;
using namespace mcpbx::json;
using namespace mcpbx::test;

// Others share it: a name that is nowhere here may be theirs.
struct asked_journal final : journal {
  std::function<void()> called;
  std::unique_ptr<run_journal> open_run(const std::string& run) override { return memory_journal().open_run(run); }
  bool is_shared() const override { return true; }
  void find_owner(std::string run, answer<std::optional<std::string>> then) override {
    called();
    then(run == "theirs" ? std::optional<std::string>("another daemon") : std::nullopt);
  }
};

struct asked_directory final : model_directory {
  std::function<void()> called;
  std::vector<std::function<void(result<std::vector<model_row>>)>> waiting;
  void list(const std::string&, bool, std::function<void(result<std::vector<model_row>>)> done) override {
    called();
    waiting.push_back(std::move(done));
  }
  std::size_t max_tools(std::string_view, std::string_view) const override {
    called();
    return 0;
  }
};

struct conversation {
  asio::io_context io;
  manual_time time;
  fake_backend backend;
  asked_directory models;
  std::vector<std::function<void(result<std::string>)>> strangers;  // pending questions about callers on the port
  std::optional<front_door> door;
  std::vector<int> fds;
  int at = 0, calls = 0;
  std::function<void(conversation&)> act;

  conversation() {
    const auto call = [this] {
      if (++calls == at) act(*this);
    };
    backend.called = models.called = call;
    auto journal = std::make_unique<asked_journal>();
    journal->called = call;
    backend.kept = std::move(journal);
    backend.directory_of_models = &models;
    front_door::options o;
    o.chat = always(defaults_by([call](std::string_view, std::string_view) -> result<chat_base> {
      call();
      return chat_base{};
    }));
    door.emplace(io.get_executor(), time, backend, std::move(o));
    door->serves_port("127.0.0.1:1", {.on_port = true, .token = {}}, "",
                      [this, call](const mcp::socket::tcp_ends&, std::function<void(result<std::string>)> then) {
                        call();
                        strangers.push_back(std::move(then));
                      });
    door->on_callers([call](std::size_t) { call(); });
  }
  ~conversation() {
    door.reset();
    turn();
    for (const int fd : fds) ::close(fd);
  }
  int enter() {
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
    fds.push_back(ends[0]);
    if (door)
      door->accept(ends[1], {1000, 100});
    else
      ::close(ends[1]);
    turn();
    return ends[0];
  }
  /// By the port: over TCP, where it is asked who somebody is.
  int enter_port(std::string_view text) {
    const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in here{};
    here.sin_family = AF_INET;
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof here;
    REQUIRE(::bind(listener, reinterpret_cast<sockaddr*>(&here), size) == 0);
    REQUIRE(::listen(listener, 1) == 0);
    REQUIRE(::getsockname(listener, reinterpret_cast<sockaddr*>(&here), &size) == 0);
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    REQUIRE(::connect(fd, reinterpret_cast<sockaddr*>(&here), size) == 0);
    const int accepted = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    REQUIRE(accepted >= 0);
    ::close(listener);
    ::fcntl(fd, F_SETFL, O_NONBLOCK);
    fds.push_back(fd);
    (void)!::send(fd, text.data(), text.size(), MSG_NOSIGNAL);
    pollfd there{accepted, POLLIN, 0};
    REQUIRE(::poll(&there, 1, 60'000) == 1);
    if (door)
      door->accept_on_port(accepted, "127.0.0.1:2");
    else
      ::close(accepted);
    turn();
    return fd;
  }
  void turn() {
    std::string got(1 << 16, '\0');
    bool more = true;
    while (more) {
      io.restart();
      more = io.poll() > 0;
      for (const int fd : fds)
        while (::recv(fd, got.data(), got.size(), 0) > 0) more = true;
    }
  }
  void say(int fd, std::string_view text) {
    (void)!::send(fd, text.data(), text.size(), MSG_NOSIGNAL);
    turn();
  }
  void ask(int fd, std::string_view method, std::string_view params = "{}") {
    static int id = 0;
    say(fd, R"({"jsonrpc":"2.0","id":)" + std::to_string(++id) + R"(,"method":")" + std::string(method) +
                R"(","params":)" + std::string(params) + "}\n");
  }

  // Actions of the daemon.

  void each_feed(const std::function<void(run_feed&)>& f) {
    for (const auto& [run, feed] : std::map(backend.feeds)) f(*feed);
  }
  void speak() {
    each_feed([](run_feed& f) {
      if (f.over()) return;
      segments question;
      question.append_literal(R"({"type":"question","question":"q"})");
      f.push({run_event::kind::round, {}, {}, daemon::event_json::round(1, "m")});
      f.push({run_event::kind::text, {}, std::string(3000, 't'), {}});
      f.push({run_event::kind::question, "c", "q", std::move(question)});
    });
  }
  void end() {
    each_feed([](run_feed& f) {
      if (!f.over()) f.done(raw_json::literal(R"({"run":"r","text":"x","stopReason":"end","usage":{}})"));
    });
  }
  void refuse() {
    each_feed([](run_feed& f) {
      if (!f.over()) f.refuse({errc::limit, "no room"});
    });
  }
  void answer_all() {
    backend.settle();
    for (const auto& then : std::exchange(backend.for_left, {})) then({});
    for (const auto& then : std::exchange(models.waiting, {})) then(std::vector<model_row>(1));
    for (const auto& then : std::exchange(strangers, {})) then(std::string());
    if (const auto told = std::exchange(backend.told, {})) told(runner::recorded_run{"run-1", "s"});
    if (const auto kept = std::exchange(backend.answered, {})) kept({});
    if (backend.looking.then) backend.looking(fail(errc::not_found, "no such run"));
    if (const auto changed = backend.list_changed) changed(mcp::protocol::tool_kind());
  }
  void all_speak() {
    answer_all();
    turn();
    speak();
    turn();
  }
};

void speak_json_rpc(conversation& c) {
  const int fd = c.enter(), other = c.enter();
  c.ask(other, "mcpbx/hello");
  c.backend.left_behind = c.backend.looks_long = true;
  c.ask(fd, "mcpbx/chat", R"({"input":"x","model":"m"})");
  c.ask(fd, "mcpbx/chat", R"({"input":"x","model":"m","run":"own"})");
  c.ask(fd, "mcpbx/chat", R"({"input":"x","model":"m","run":"far","detach":true})");
  c.all_speak();
  c.all_speak();
  c.ask(other, "mcpbx/attach", R"({"run":"own"})");
  c.ask(other, "mcpbx/attach", R"({"run":"theirs"})");
  c.ask(other, "mcpbx/attach", R"({"run":"nowhere"})");
  c.ask(fd, "mcpbx/answer", R"({"run":"own","question":"q","approve":true})");
  c.ask(other, "mcpbx/answer", R"({"run":"none","question":"q","approve":true})");
  c.all_speak();
  c.all_speak();
  c.ask(fd, "mcpbx/tools");
  c.ask(fd, "mcpbx/models");
  c.ask(fd, "mcpbx/servers");
  c.ask(fd, "mcpbx/servers/restart", R"({"server":"files"})");
  c.ask(fd, "mcpbx/status");
  c.ask(fd, "mcpbx/sessions/list");
  c.ask(fd, "initialize",
        R"({"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}})");
  c.ask(fd, "tools/list");
  c.ask(fd, "tools/call", R"({"name":"none"})");
  c.ask(other, "mcpbx/cancel", R"({"run":"run-1"})");
  c.all_speak();
  c.say(fd, "no message\n" +
                std::string(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})") + "\n");
  ::shutdown(other, SHUT_WR);
  c.all_speak();
  c.end();
  c.turn();
  c.ask(fd, "mcpbx/chat", R"({"input":"x","model":"m"})");
  c.ask(fd, "mcpbx/chat", R"({"input":"x","model":"nope"})");
  c.speak();
  ::shutdown(fd, SHUT_RDWR);
  c.turn();
  c.ask(c.enter(), "mcpbx/stop");
}

void speak_http(conversation& c) {
  const auto request = [](const std::string& body) {
    return "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
           "application/json\r\nContent-Length: " +
           std::to_string(body.size()) + "\r\n\r\n" + body;
  };
  const auto chat = [&](const std::string& more) {
    return request(R"({"model":"m","messages":[{"role":"user","content":"hi"}])" + more + "}");
  };
  const std::string stream = R"(,"stream":true)",
                    tools = R"(,"tool_choice":{"type":"function","function":{"name":"no"}})";
  for (const auto& more : {std::string(), stream, tools, tools + stream}) {
    const int fd = c.enter();
    c.say(fd, chat(more));
    c.all_speak();
    c.time.advance(milliseconds(16'000));
    c.all_speak();
    c.end();
    c.turn();
    c.say(fd, chat(more));
    c.refuse();
    c.turn();
    // Read slowly, and left.
    c.say(fd, chat(more) + "GET /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n");
    c.all_speak();
    ::shutdown(fd, SHUT_RDWR);
    c.turn();
  }
  const int fd = c.enter();
  c.say(fd, "GET /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n");
  c.all_speak();
  c.say(fd, request("{"));
  c.say(fd, chat(R"(,"model":"nope")"));
  c.say(fd, "GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n");
  c.say(c.enter(), "GET no request\r\n\r\n");
  for (const auto& more : {std::string(), stream, tools}) {
    c.enter_port(chat(more));
    c.all_speak();
    c.all_speak();
    c.end();
    c.turn();
  }
  c.enter_port("GET /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n");
  c.all_speak();
}

// Speaks so, and does `what` in each of the calls that are made meanwhile.
void in_every_call(const std::function<void(conversation&)>& speak,
                   const std::vector<std::function<void(conversation&)>>& actions) {
  for (std::size_t what = 0; what < actions.size(); ++what) {
    bool reached = true;
    for (int at = 1; reached; ++at) {
      CAPTURE(what);
      CAPTURE(at);
      conversation c;
      c.at = at;
      c.act = actions[what];
      speak(c);
      reached = c.calls >= at;
      c.door.reset();
      c.turn();
      // Nobody reads them any more, and the daemon knows it.
      for (const auto& [run, feed] : c.backend.feeds) {
        CAPTURE(run);
        const bool told = std::ranges::any_of(c.backend.abandoned,
                                              [&](const std::string& one) { return one.starts_with(run + ": "); });
        CHECK((feed->kept() || feed->over() || told));
      }
    }
  }
}

const std::vector<std::function<void(conversation&)>> actions{[](conversation& c) {
                                                                if (c.door) c.door->close();
                                                              },
                                                              [](conversation& c) { c.door.reset(); },
                                                              [](conversation& c) { c.speak(); },
                                                              [](conversation& c) { c.end(); },
                                                              [](conversation& c) { c.refuse(); },
                                                              [](conversation& c) { c.answer_all(); },
                                                              [](conversation& c) {
                                                                c.answer_all();
                                                                c.speak();
                                                                c.end();
                                                                c.door.reset();
                                                              }};

TEST_CASE("door: in everything that a caller of JSON-RPC asks it may close, be destroyed, or be told more") {
  in_every_call(speak_json_rpc, actions);
}

TEST_CASE("door: in everything that a caller of HTTP asks it may close, be destroyed, or be told more") {
  in_every_call(speak_http, actions);
}

}  // namespace door_reentrancy
