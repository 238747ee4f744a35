// Tests of limits on callers: methods and runs of others, and the profile they are bound to.
#include "daemon/front/front_door.hpp"
#include "mcp/support/log.hpp"
#include "test/daemon/front/chat_sources.hpp"
#include "test/daemon/front/fake_backend.hpp"
#include "test/daemon/front/fake_transport.hpp"
#include "test/mcp/server/fake_host.hpp"
#include "test/support/contains.hpp"
#include "test/support/manual_time.hpp"

#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon::chat;
using namespace mcpbx::daemon::door;
using namespace mcpbx::daemon::policy;
using namespace mcpbx::daemon::run;
using namespace mcpbx::daemon::stored;
using namespace mcpbx::test;

namespace {

constexpr pid_t server_pid = 7;  // a tool server that may call

struct bounds_fixture {
  bounds_fixture()
      : door(io.get_executor(), time, backend, options(),
             [](const mcp::socket::peer_credentials& p) -> result<std::string> {
               return p.pid == server_pid ? "files" : "";
             }) {}
  ~bounds_fixture() {
    door.close();
    turn();
  }
  static front_door::options options() {
    front_door::options o;
    o.max_callers = 64;
    o.approvals = [entries = std::make_shared<const std::vector<server_terms>>(std::vector<server_terms>{
                       {"git", {}, {}, {"push"}}})] { return approval_rules{.entries = entries}; };
    o.chat = always(defaults_by([](std::string_view, std::string_view profile) -> result<chat_base> {
      if (profile != "" && profile != "reader" && profile != "writer")
        return fail(errc::invalid_argument, "there is no such profile");
      chat_base b;
      b.profile = profile;
      return b;
    }));
    return o;
  }
  void turn() {
    io.restart();
    io.poll();
  }
  fake_transport::line& enter(pid_t pid = 100) {
    lines.push_back(std::make_unique<fake_transport::line>());
    door.accept(std::make_unique<fake_transport>(*lines.back()), {1000, pid});
    turn();
    return *lines.back();
  }
  std::string ask(fake_transport::line& l, std::string_view method, const std::string& params = "{}") {
    const auto before = l.sent.size();
    l.say(R"({"jsonrpc":"2.0","id":)" + std::to_string(++id) + R"(,"method":")" + std::string(method) +
          R"(","params":)" + params + "}");
    turn();
    backend.settle();
    turn();
    return l.sent.size() == before ? "" : l.sent.back();
  }
  /// A run of somebody, as the runner would have it.
  run_feed& begun(const std::string& run, const std::string& principal) {
    const auto feed = std::make_shared<run_feed>(run, run_feed::options{.keep = true, .principal = principal});
    backend.feeds[run] = feed;
    return *feed;
  }
  boost::asio::io_context io;
  manual_time time;
  fake_backend backend;
  std::vector<std::unique_ptr<fake_transport::line>> lines;
  int id = 0;
  front_door door;
};

constexpr std::string_view for_persons = "may not use";

}  // namespace

TEST_CASE("G42: a tool server that may call answers no question, decides no pin, and stops and restarts nothing") {
  bounds_fixture f;
  auto& server = f.enter(server_pid);
  f.begun("run-1", "server:files");
  for (const std::string_view method :
       {"mcpbx/answer", "mcpbx/pins/accept", "mcpbx/stop", "mcpbx/restart", "mcpbx/reload"})
    CHECK_MESSAGE(contains(f.ask(server, method, R"({"run":"run-1","question":"q","approve":true,"server":"files"})"),
                           for_persons),
                  method);
  CHECK(f.backend.answers.empty());
  CHECK(f.backend.stops == 0);
  // New methods are refused to it until listed; the permitted ones are here.
  for (const std::string_view method : {"mcpbx/hello", "mcpbx/tools", "mcpbx/status", "mcpbx/servers", "mcpbx/models"})
    CHECK_MESSAGE(contains(f.ask(server, method), "\"result\""), method);
  auto& person = f.enter();
  CHECK(contains(f.ask(person, "mcpbx/restart", R"({"server":"files"})"), "\"result\""));
}

TEST_CASE("G42: a tool server does not call by itself what needs a person's yes") {
  bounds_fixture f;
  auto other = std::make_shared<fake_client>("git");
  f.backend.catalog = std::make_shared<mcp::catalogs::catalog>(
      std::vector<mcp::catalogs::entry_ptr>{make_tool(other, "git__log", "log"), make_tool(other, "git__push", "push")},
      2);
  for (const pid_t pid : {server_pid, pid_t{100}}) {
    auto& caller = f.enter(pid);
    f.ask(caller, "initialize",
          R"({"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}})");
    const auto pushed = f.ask(caller, "tools/call", R"({"name":"git__push","arguments":{}})");
    CHECK(contains(pushed, "needs a yes of the user") == (pid == server_pid));
    CHECK_FALSE(contains(f.ask(caller, "tools/call", R"({"name":"git__log","arguments":{}})"), "needs a yes"));
  }
}

TEST_CASE("G42: a tool server that may call has a share of the places, and shuts nobody out") {
  bounds_fixture f;
  for (int i = 0; i < 6; ++i) CHECK(f.enter(server_pid).sent.empty() == (i < 4));
  CHECK(contains(f.lines.back()->sent.at(0), "has 4 connections already"));
  auto& person = f.enter();
  CHECK(contains(f.ask(person, "mcpbx/status"), "\"result\""));
  f.lines[0]->events->on_closed({errc::unavailable, "left"});
  f.turn();
  CHECK(f.enter(server_pid).sent.empty());
}

TEST_CASE("G47: who is refused again and again fills no log, and is counted") {
  std::vector<std::string> told;
  log::install(log::level::warn, [&](log::level, std::string_view line) { told.emplace_back(line); });
  {
    bounds_fixture f;
    for (int i = 0; i < 104; ++i) f.enter(server_pid);
    CHECK(told.size() == 20);
    f.time.advance(milliseconds(60'000));
    f.enter(server_pid);
    REQUIRE(told.size() == 22);
    CHECK(told[20] == "refused 80 more callers in the meantime");
  }
  log::install(log::level::off, {});
}

TEST_CASE("a caller that leaves while its requests wait for their turn is no fault of ours") {
  std::vector<std::string> told;
  log::install(log::level::error, [&](log::level, std::string_view line) { told.emplace_back(line); });
  {
    bounds_fixture f;
    auto& caller = f.enter();
    std::string read;
    for (int i = 0; i < 500; ++i)
      read += R"({"jsonrpc":"2.0","id":)" + std::to_string(i) + R"(,"method":"mcpbx/servers"})" + "\n";
    caller.framer.feed(read, *caller.events);
    caller.events->on_closed({errc::unavailable, "left"});
    f.turn();
  }
  log::install(log::level::off, {});
  CHECK(told.empty());
}

TEST_CASE("G42: a tool server reaches its own runs only, and its questions are for others") {
  bounds_fixture f;
  auto& server = f.enter(server_pid);
  f.begun("run-9", "uid:1000");
  f.begun("run-10", "server:other");
  for (const std::string run : {"run-9", "run-10"}) {
    CHECK(contains(f.ask(server, "mcpbx/attach", R"({"run":")" + run + R"("})"), "-32002"));
    CHECK(contains(f.ask(server, "mcpbx/cancel", R"({"run":")" + run + R"("})"), "-32002"));
  }
  CHECK(f.backend.cancelled.empty());
  f.ask(server, "mcpbx/chat", R"({"input":"q"})");
  REQUIRE(f.backend.started.size() == 1);
  CHECK(f.backend.started[0].principal == "server:files");
  CHECK_FALSE(f.backend.feeds.at("run-1")->answers());
  f.begun("run-11", "server:files");
  CHECK(contains(f.ask(server, "mcpbx/cancel", R"({"run":"run-11"})"), "\"result\":{}"));
  // One that only the journal knows.
  f.backend.looks_long = true;
  f.ask(server, "mcpbx/attach", R"({"run":"old"})");
  const auto old = std::make_shared<run_feed>("old", run_feed::options{.principal = "uid:1000"});
  f.backend.looking(runner::recalled_run{old, ""});
  f.turn();
  CHECK(contains(server.sent.back(), "-32002"));
  f.ask(server, "mcpbx/chat", R"({"run":"old"})");
  f.backend.looking(runner::recalled_run{old, ""});
  f.turn();
  CHECK(contains(server.sent.back(), "belongs to another caller"));
  // The person has all of them.
  auto& person = f.enter();
  CHECK(contains(f.ask(person, "mcpbx/cancel", R"({"run":"run-10"})"), "\"result\":{}"));
}

TEST_CASE("G42: a tool server cannot say yes beforehand") {
  bounds_fixture f;
  auto& server = f.enter(server_pid);
  auto& person = f.enter();
  for (const std::string more :
       {R"("approve":"all")", R"("limits":{"approveDestructive":false})", R"("limits":{"approveAfterOutput":false})"}) {
    CHECK_MESSAGE(
        contains(f.ask(server, "mcpbx/chat", R"({"input":"q",)" + more + "}"), "only the person may say that"), more);
    CHECK(f.backend.started.empty());
    f.ask(person, "mcpbx/chat", R"({"input":"q",)" + more + "}");
    CHECK(f.backend.started.size() == 1);
    f.backend.started.clear();
    f.backend.feeds.clear();
  }
  f.ask(server, "mcpbx/chat", R"({"input":"q","approve":"none","limits":{"approveDestructive":true}})");
  CHECK(f.backend.started.size() == 1);
}

TEST_CASE("M4: the profile of a connection is never another one, by a hello, a chat or a model's name") {
  bounds_fixture f;
  auto& caller = f.enter();
  CHECK(contains(f.ask(caller, "mcpbx/hello", R"({"name":"a"})"), "\"result\""));
  CHECK(contains(f.ask(caller, "mcpbx/hello", R"({"profile":"reader"})"), "\"result\""));
  CHECK(contains(f.ask(caller, "mcpbx/hello", R"({"profile":"reader"})"), "\"result\""));
  CHECK(contains(f.ask(caller, "mcpbx/hello", R"({"profile":"writer"})"), "which this connection keeps to"));
  CHECK(contains(f.ask(caller, "mcpbx/chat", R"({"input":"q","profile":"writer"})"), "which this connection keeps to"));
  CHECK(contains(f.ask(caller, "mcpbx/chat", R"({"input":"q","model":"profile:writer"})"),
                 "which this connection keeps to"));
  CHECK(f.backend.started.empty());
  f.ask(caller, "mcpbx/hello");
  f.ask(caller, "mcpbx/chat", R"({"input":"q"})");
  f.ask(caller, "mcpbx/chat", R"({"input":"q","profile":"reader"})");
  REQUIRE(f.backend.started.size() == 2);
  CHECK(f.backend.started[0].profile == "reader");
}

TEST_CASE("M4: a hello that changes the tools tells so, once") {
  bounds_fixture f;
  auto& caller = f.enter();
  f.ask(caller, "initialize", R"({"protocolVersion":"2025-11-25"})");
  caller.say(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  f.turn();
  const auto told = [&](const std::string& params) {
    const auto before = caller.sent.size();
    f.ask(caller, "mcpbx/hello", params);
    bool changed = false;
    for (auto i = before; i < caller.sent.size(); ++i) changed = changed || contains(caller.sent[i], "list_changed");
    return changed;
  };
  CHECK_FALSE(told("{}"));
  CHECK(told(R"({"profile":"reader"})"));
  CHECK_FALSE(told(R"({"profile":"reader"})"));
  CHECK_FALSE(told(R"({"profile":"writer"})"));
}

TEST_CASE("D6: a connection that keeps to MCP has no other methods, whatever comes later") {
  bounds_fixture f;
  auto& caller = f.enter();
  CHECK(contains(f.ask(caller, "mcpbx/hello", R"({"profile":"reader","mcpOnly":true})"), "\"result\""));
  for (const std::string_view method : {"mcpbx/hello", "mcpbx/chat", "mcpbx/pins/accept", "mcpbx/stop", "mcpbx/status"})
    CHECK_MESSAGE(contains(f.ask(caller, method), "-32601"), method);
  CHECK(f.backend.stops == 0);
  CHECK(contains(f.ask(caller, "ping"), "\"result\":{}"));
  CHECK(contains(f.ask(caller, "initialize", R"({"protocolVersion":"2025-03-26"})"), "\"result\""));
  caller.say(R"([{"jsonrpc":"2.0","id":900,"method":"mcpbx/stop"},{"jsonrpc":"2.0","method":"mcpbx/stop"}])");
  f.turn();
  CHECK(contains(caller.sent.back(), "-32601"));
  CHECK(f.backend.stops == 0);
}
