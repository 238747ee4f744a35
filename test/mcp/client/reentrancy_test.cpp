// Reentrant use by handlers of a server's calls: inside outcome, progress and log they call again, cancel other calls,
// restart or stop the server, or release it. Meant for the asan preset.
#include "test/mcp/client/supervisor_rig.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tool_server_reentrancy {

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::mcp::clients;
using namespace mcpbx::mcp::protocol;
using namespace mcpbx::mcp::rpc;
using namespace mcpbx::test;

enum class fate { answers, refuses, wrong_shape, exits, closes_stdout, garbage };

script server_of(fate f) {
  return legacy_script({"echo"}, [f](scripted_process& p, const message& m) {
    if (m.method() != "tools/call") return false;
    const auto token = find_member(find_member(m.params, "_meta"), "progressToken");
    p.say(R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1,"progressToken":)" +
          std::string(token.text()) + "}}");
    p.say(R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}})");
    switch (f) {
      case fate::answers:
        p.answer(m, R"({"content":[]})");
        return true;
      case fate::refuses:
        p.refuse(m, -32602, "no");
        return true;
      case fate::wrong_shape:
        p.answer(m, "[]");
        return true;
      case fate::exits:
        p.say_bytes("{\"half\":");
        p.exit(1);
        return true;
      case fate::closes_stdout:
        p.close_stdout();
        return true;
      case fate::garbage:
        p.say("no message");
        p.say(R"({"jsonrpc":"2.0","id":)" + std::string(m.id.token()) + "}");
        return true;
    }
    return false;
  });
}

struct calls_of_one_server {
  supervisor_rig r;
  std::shared_ptr<client> owner;
  std::map<client::ticket, int> ended;  // number of outcomes of each call
  int at = 0, events = 0;
  std::function<void()> act;

  void event() {
    if (++events == at) act();
  }
  void call() {
    const auto number = std::make_shared<client::ticket>(0);
    server_call s;
    s.params = raw_json::literal(R"({"name":"echo"})");
    s.name = "echo";
    s.asker = this;
    s.done = [this, number](const call_outcome&) {
      ++ended[*number];
      event();
    };
    s.progress = [this](const raw_json&) { event(); };
    s.log = [this](const raw_json&) { event(); };
    const auto t = owner->call(std::move(s));
    *number = t;
    ended.try_emplace(t, 0);
  }
  void cancel_all() {
    std::vector<client::ticket> all;
    for (const auto& [t, times] : ended) all.push_back(t);
    for (const auto t : all) owner->cancel(t, "why");
  }
};

TEST_CASE(
    "managed_client: in any event of a call its caller may call, cancel, restart, stop, or let go of everything") {
  using action = std::function<void(calls_of_one_server&)>;
  const std::vector<action> actions{[](auto& c) { c.call(); },
                                    [](auto& c) { c.cancel_all(); },
                                    [](auto& c) {
                                      c.call();
                                      c.cancel_all();
                                      c.call();
                                    },
                                    [](auto& c) { (void)c.r.supervisor->restart("srv"); },
                                    [](auto& c) { c.r.supervisor->stop([] {}, milliseconds(0)); },
                                    [](auto& c) {
                                      c.r.supervisor->stop([] {}, milliseconds(0));
                                      c.call();
                                    },
                                    [](auto& c) { c.r.supervisor->keeper_replaced(); }};
  for (const auto f :
       {fate::answers, fate::refuses, fate::wrong_shape, fate::exits, fate::closes_stdout, fate::garbage})
    for (std::size_t what = 0; what < actions.size(); ++what)
      for (const int most : {0, 1}) {
        bool reached = true;
        for (int at = 1; reached; ++at) {
          CAPTURE(static_cast<int>(f));
          CAPTURE(what);
          CAPTURE(at);
          calls_of_one_server c;
          auto o = server_named("srv");
          o.max_concurrency = most;
          c.r.launcher.add("srv", server_of(f));
          c.r.start({o});
          c.owner = c.r.owner("srv__echo");
          c.at = at;
          c.act = [&] { actions[what](c); };
          for (int i = 0; i < 3; ++i) c.call();
          for (int i = 0; i < 20; ++i) c.r.advance(1'000);
          c.r.supervisor->stop([] {}, milliseconds(0));
          for (int i = 0; i < 20; ++i) c.r.advance(1'000);
          for (const auto& [t, times] : c.ended) CHECK(times == 1);
          reached = c.events >= at;
        }
      }
}

#ifndef NDEBUG
// Returns the signal that ended a process in which a handler destroys its supervisor. Returns 0 if none did, also if no
// handler was called.
int signal_of(const std::function<void(supervisor_rig&, std::function<void()> destroy)>& with) {
  const pid_t pid = ::fork();
  REQUIRE(pid >= 0);
  if (pid == 0) {
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    ::dup2(nowhere, STDERR_FILENO);
    ::signal(SIGABRT, SIG_DFL);
    supervisor_rig r;
    r.launcher.add("srv", server_of(fate::answers));
    with(r, [&r] { r.supervisor.reset(); });
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(pid, &status, 0) == pid);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

TEST_CASE("supervisor: who destroys it in one of its own handlers is ended there, not somewhere later") {
  const auto call = [](supervisor_rig& r, const std::function<void(server_call&)>& set) {
    r.start({server_named("srv")});
    server_call s;
    s.params = raw_json::literal(R"({"name":"echo"})");
    s.name = "echo";
    set(s);
    r.owner("srv__echo")->call(std::move(s));
    r.advance(1'000);
  };
  const std::vector<std::function<void(supervisor_rig&, std::function<void()>)>> all{
      [&](auto& r, auto destroy) {
        call(r, [&](server_call& s) { s.done = [destroy](const call_outcome&) { destroy(); }; });
      },
      [&](auto& r, auto destroy) {
        call(r, [&](server_call& s) { s.progress = [destroy](const raw_json&) { destroy(); }; });
      },
      [&](auto& r, auto destroy) {
        call(r, [&](server_call& s) { s.log = [destroy](const raw_json&) { destroy(); }; });
      },
      [&](auto& r, auto destroy) {
        const auto told = r.supervisor->on_catalog_change([destroy](const feature_kind&) { destroy(); });
        r.start({server_named("srv")});
      },
      [&](auto& r, auto destroy) {
        r.start({server_named("srv")});
        r.supervisor->when_settled(milliseconds(1), destroy);
        r.turn();
      },
      [&](auto& r, auto destroy) {
        r.launcher.add("slow", [](scripted_process&, const message&) {});
        r.supervisor->apply(r.with_processes({server_named("slow")}));
        r.supervisor->when_settled(milliseconds(1), destroy);
        r.advance(1);
      },
      [&](auto& r, auto destroy) {
        r.start({server_named("srv")});
        r.supervisor->stop(destroy, milliseconds(0));
        for (int i = 0; i < 20; ++i) r.advance(1'000);
      },
      [&](auto& r, auto destroy) {
        auto o = server_named("srv");
        o.connect = r.process_of("srv", [destroy](const auto&) { destroy(); });
        r.start({o});
      }};
  for (std::size_t i = 0; i < all.size(); ++i) {
    CAPTURE(i);
    CHECK(signal_of(all[i]) == SIGABRT);
  }
  CHECK(signal_of([](supervisor_rig& r, const std::function<void()>& destroy) {
          r.start({server_named("srv")});
          destroy();
        }) == 0);
}
#endif

}  // namespace tool_server_reentrancy
