// The door with callers on scripted transports: who comes in, what hello, status and stop answer, and what happens when
// somebody leaves.
#include "daemon/front/front_door.hpp"

#include "mcp/client/catalog/catalog_builder.hpp"
#include "mcp/redact/secret.hpp"
#include "test/daemon/front/door_fixture.hpp"
#include "test/mcp/server/fake_host.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace front_doors {

using namespace mcpbx::daemon::chat;
using namespace mcpbx::daemon::run;
using namespace mcpbx::daemon::store;
using namespace mcpbx::redact;

TEST_CASE("hello and status need no handshake") {
  door_fixture f;
  auto& caller = f.enter();
  const raw_json hello = result_of(f.ask(caller, request(1, "mcpbx/hello", R"({"name":"cli","cwd":"/"})")));
  CHECK(find_member(hello, "version").as_string() == "1.2.3");
  CHECK(find_member(hello, "protocol").as_integer() == 1);
  CHECK(code_of(f.ask(caller, request(2, "mcpbx/hello", R"({"profile":""})"))) == -32602);
  f.time.advance(milliseconds(1500));
  const raw_json status = result_of(f.ask(caller, request(3, "mcpbx/status")));
  CHECK(find_member(status, "uptimeMs").as_integer() == 1500);
  CHECK(find_member(status, "socket").as_string() == "/run/x.sock");
  CHECK(find_member(find_member(status, "callers"), "open").as_integer() == 1);
  CHECK(find_member(find_member(status, "memory"), "rssBytes").as_integer().value_or(0) > 0);
}

TEST_CASE("M4: a profile narrows the prompts and resources that the caller is listed") {
  auto o = door_fixture::make_options();
  o.chat = always(defaults_by([](std::string_view, std::string_view profile) -> result<chat_base> {
    if (profile == "gone") return fail(errc::invalid_argument, "there is no profile \"gone\"");
    chat_base b;
    b.profile = profile;
    if (profile == "reader") {
      b.prompts.deny = {"s__secret"};
      b.resources.allow = {"a:*"};
    }
    return b;
  }));
  door_fixture f(o);
  mcp::catalogs::catalog_builder catalog({{.name = "s", .tools = {}, .owner = {}}});
  const auto list = [&](const mcp::protocol::feature_kind& kind, std::initializer_list<const char*> definitions) {
    auto items = std::make_shared<std::vector<mcp::protocol::feature_item>>();
    for (const char* d : definitions) items->push_back(kind.read(raw_json::literal(d)).value());
    catalog.set_list(0, kind, std::move(items));
  };
  list(mcp::protocol::prompt_kind(), {R"({"name":"open"})", R"({"name":"secret"})"});
  list(mcp::protocol::resource_kind(), {R"({"uri":"a:1","name":"n"})", R"({"uri":"b:1","name":"n"})"});
  f.backend.catalog = catalog.build();
  const auto listed = [&](fake_transport::line& caller, const char* method) {
    caller.say(request(5, method));
    f.run();
    f.backend.settle();
    f.run();
    return caller.sent.back();
  };
  auto& plain = f.enter();
  auto& reader = f.enter();
  f.ask(reader, request(1, "mcpbx/hello", R"({"profile":"reader"})"));
  for (auto* caller : {&plain, &reader}) {
    f.ask(*caller, request(2, "initialize", R"({"protocolVersion":"2025-11-25"})"));
    f.ask(*caller, R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  }
  CHECK(listed(plain, "prompts/list").contains("s__secret"));
  CHECK(listed(reader, "prompts/list").contains("s__open"));
  CHECK_FALSE(listed(reader, "prompts/list").contains("s__secret"));
  CHECK(listed(plain, "resources/list").contains("b:1"));
  CHECK(listed(reader, "resources/list").contains("a:1"));
  CHECK_FALSE(listed(reader, "resources/list").contains("b:1"));
}

TEST_CASE("M4: the profile of a hello holds for runs and narrows the tools that the caller sees and calls") {
  auto o = door_fixture::make_options();
  o.chat = always(defaults_by([](std::string_view, std::string_view profile) -> result<chat_base> {
    if (profile != "" && profile != "reader" && profile != "own")
      return fail(errc::invalid_argument, "there is no profile \"x\"");
    chat_base b;
    b.profile = profile;
    if (profile == "reader") b.deny = {"*write"};
    if (profile == "own") b.rename = {{"s__read", "peruse"}};
    return b;
  }));
  door_fixture f(o);
  const auto entry = [](const std::string& name) {
    auto e = std::make_shared<mcp::catalogs::catalog_entry>();
    e->name = "s__" + name;
    e->server = "s";
    e->tool = name;
    e->definition = e->exposed = e->legacy = raw_json::own(R"({"name":"s__)" + name + R"("})");
    return e;
  };
  mcp::catalogs::withheld_tools withheld;
  for (const auto* name : {"s__hidden", "s__overwrite"})
    withheld.emplace(name, mcp::catalogs::withheld_tool{"s", name, std::make_shared<const std::string>("it changed")});
  f.backend.catalog = std::make_shared<mcp::catalogs::catalog>(
      std::vector<mcp::catalogs::entry_ptr>{entry("read"), entry("write")}, 2, std::move(withheld));
  const auto listed = [&](fake_transport::line& caller) {
    caller.say(request(5, "mcpbx/tools"));
    f.run();
    f.backend.settle();
    f.run();
    return caller.sent.back();
  };
  auto& plain = f.enter();
  auto& reader = f.enter();
  CHECK(f.ask(reader, request(1, "mcpbx/hello", R"({"profile":"x"})")).find("there is no profile") !=
        std::string::npos);
  CHECK(f.ask(reader, request(2, "mcpbx/hello", R"({"profile":"reader"})")).find("\"version\"") != std::string::npos);
  CHECK(f.ask(reader, request(3, "mcpbx/hello", R"({"name":"again"})")).find("\"version\"") != std::string::npos);
  CHECK(listed(plain).find("s__write") != std::string::npos);
  CHECK(listed(reader).find("s__write") == std::string::npos);
  CHECK(listed(reader).find("s__read") != std::string::npos);
  // Withheld tools are named as such to their readers and unknown to others.
  f.ask(reader, request(6, "initialize", R"({"protocolVersion":"2025-11-25"})"));
  f.ask(reader, R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  const auto called = [&](const std::string& tool) {
    return f.ask(reader, request(7, "tools/call", R"({"name":")" + tool + R"(","arguments":{}})"));
  };
  CHECK_MESSAGE(called("s__hidden").find("it changed") != std::string::npos, called("s__hidden"));
  CHECK(called("s__overwrite").find("it changed") == std::string::npos);
  auto& own = f.enter();
  f.ask(own, request(2, "mcpbx/hello", R"({"profile":"own"})"));
  CHECK(listed(own).find(R"({"tools":[{"name":"peruse"},{"name":"s__write"}]})") != std::string::npos);
  CHECK(listed(plain).find("peruse") == std::string::npos);
  f.ask(own, request(6, "mcpbx/chat", R"({"input":"q"})"));
  CHECK(f.backend.started.back().tools.rename.at("s__read") == "peruse");
  f.backend.started.clear();
  f.ask(reader, request(6, "mcpbx/chat", R"({"input":"q"})"));
  f.ask(plain, request(7, "mcpbx/chat", R"({"input":"q"})"));
  REQUIRE(f.backend.started.size() == 2);
  CHECK(f.backend.started[0].profile == "reader");
  CHECK(f.backend.started[0].tools.deny == std::vector<std::string>{"*write"});
  CHECK(f.backend.started[1].profile == "");
}

TEST_CASE("front_door: a configuration that is replaced holds for the next request, also where the catalog stays") {
  auto o = door_fixture::make_options();
  const auto denying = [](std::string glob) {
    return defaults_by([glob = std::move(glob)](std::string_view, std::string_view profile) -> result<chat_base> {
      chat_base b;
      b.profile = profile;
      if (profile == "reader") b.deny = {glob};
      return b;
    });
  };
  auto present = denying("*write");
  o.chat = [&] { return present; };
  door_fixture f(o);
  const auto entry = [](const std::string& name) {
    auto e = std::make_shared<mcp::catalogs::catalog_entry>();
    e->name = e->tool = name;
    e->server = "s";
    e->definition = e->exposed = e->legacy = raw_json::own(R"({"name":")" + name + R"("})");
    return e;
  };
  f.backend.catalog = std::make_shared<mcp::catalogs::catalog>(
      std::vector<mcp::catalogs::entry_ptr>{entry("s__read"), entry("s__write")}, 2);
  auto& reader = f.enter();
  f.ask(reader, request(1, "mcpbx/hello", R"({"profile":"reader"})"));
  const auto listed = [&] {
    reader.say(request(2, "mcpbx/tools"));
    f.run();
    f.backend.settle();
    f.run();
    return reader.sent.back();
  };
  CHECK(listed().find(R"([{"name":"s__read"}])") != std::string::npos);
  present = denying("*read");
  CHECK(listed().find(R"([{"name":"s__write"}])") != std::string::npos);
  f.ask(reader, request(3, "mcpbx/chat", R"({"input":"q"})"));
  CHECK(f.backend.started.back().tools.deny == std::vector<std::string>{"*read"});
}

TEST_CASE("G49: status names the faulty servers and L22: the histogram of depths") {
  door_fixture f;
  mcp::clients::server_status good, bad, silent, retried;
  good.name = "good";
  good.state = mcp::clients::server_state::ready;
  bad.name = "bad";
  bad.state = mcp::clients::server_state::crash_loop;
  bad.last_error = "bad: exit status 3";
  silent.name = "silent";
  silent.state = mcp::clients::server_state::ready;
  silent.last_error = "silent: no sign of life";
  silent.suspect = true;
  retried.name = "retried";
  retried.state = mcp::clients::server_state::starting;
  retried.last_error = "retried: not ready in time";
  retried.start_failed = true;
  f.backend.status = {good, bad, silent, retried};
  f.backend.counts.runs = 9;
  f.backend.counts.depth[4] = 7;
  f.backend.counts.stops = {{"final", 8}};
  auto& caller = f.enter();
  const std::string line = f.ask(caller, request(1, "mcpbx/status"));
  CHECK(line.find(R"("faulty":[{"name":"bad","state":"crash_loop","lastError":"bad: exit status 3"},)"
                  R"({"name":"silent","state":"ready","lastError":"silent: no sign of life"},)"
                  R"({"name":"retried","state":"starting","lastError":"retried: not ready in time"}])") !=
        std::string::npos);
  CHECK(line.find(R"("5-8":7)") != std::string::npos);
  CHECK(line.find(R"("stops":{"final":8})") != std::string::npos);
  const raw_json servers = result_of(f.ask(caller, request(2, "mcpbx/servers")));
  std::vector<std::string> states;
  for_each_element(servers, [&](const raw_json& s) {
    CHECK(find_member(s, "startFailed").is_true() == (find_member(s, "name").as_string() == "retried"));
    states.push_back(find_member(s, "state").as_string().value_or(""));
    CHECK(find_member(s, "pid").is_null());
    CHECK(find_member(s, "rssBytes").is_null());
    return true;
  });
  CHECK(states == std::vector<std::string>{"ready", "crash_loop", "ready", "starting"});
}

TEST_CASE("G35: no configured secret is in what status and servers tell") {
  redactor::add(secret("hunter2-canary"));
  door_fixture f;
  mcp::clients::server_status leaky;
  leaky.name = "s";
  leaky.state = mcp::clients::server_state::failed;
  leaky.last_error = "could not log in with hunter2-canary";
  leaky.process = {-1, "exit status 1 hunter2-canary", "token=hunter2-canary"};
  f.backend.status = {leaky};
  auto& caller = f.enter();
  for (const char* method : {"mcpbx/status", "mcpbx/servers"}) {
    const std::string line = f.ask(caller, request(1, method));
    CHECK(line.find("could not log in with ***") != std::string::npos);
    CHECK(line.find("hunter2") == std::string::npos);
  }
  redactor::clear();
}

TEST_CASE("G49 G35: status tells why and since when the journal cannot be written, as long as it cannot") {
  struct failing_journal final : journal {
    std::unique_ptr<run_journal> open_run(const std::string&) override { return nullptr; }
    std::optional<journal_trouble> trouble() const override { return now; }
    std::optional<journal_trouble> now;
  };
  redactor::add(secret("hunter2-canary"));
  door_fixture f;
  auto journal = std::make_unique<failing_journal>();
  auto& now = journal->now;
  f.backend.kept = std::move(journal);
  auto& caller = f.enter();
  CHECK(f.ask(caller, request(1, "mcpbx/status")).find("\"store\"") == std::string::npos);
  now = journal_trouble{"no room for postgresql://hunter2-canary@x\x1b[31m; make room", 1'764'115'200'000};
  CHECK(find_member(result_of(f.ask(caller, request(2, "mcpbx/status"))), "store").text() ==
        R"({"problem":"no room for postgresql://***@x[31m; make room","sinceMs":1764115200000})");
  now->problem = std::string(100'000, 'x');
  CHECK(f.ask(caller, request(3, "mcpbx/status")).size() < 5'000);
  now.reset();
  CHECK(f.ask(caller, request(4, "mcpbx/status")).find("\"store\"") == std::string::npos);
  redactor::clear();
}

TEST_CASE("own methods check their params and say what is not there yet") {
  door_fixture f;
  auto& caller = f.enter();
  CHECK(result_of(f.ask(caller, request(1, "mcpbx/restart", R"({"server":"files"})"))).text() == "{}");
  CHECK(code_of(f.ask(caller, request(2, "mcpbx/restart", R"({"server":"flies"})"))) == -32002);
  CHECK(text_of(f.ask(caller, request(3, "mcpbx/restart"))) ==
        "params.server: expected the name of a tool server, got nothing");
  CHECK(text_of(f.ask(caller, request(4, "mcpbx/restart", R"({"srever":"files"})"))).find("params.server") == 0);
  CHECK(text_of(f.ask(caller, request(6, "mcpbx/attach"))) == "params.run: expected the name of a run, got nothing");
  CHECK(code_of(f.ask(caller, request(6, "mcpbx/attach", R"({"run":"r","after":-1})"))) == -32602);
  CHECK(code_of(f.ask(caller, request(6, "mcpbx/attach", R"({"run":"r"})"))) == -32002);
  CHECK(text_of(f.ask(caller, request(7, "mcpbx/servrs"))).find("mcpbx/servers") != std::string::npos);
  CHECK(code_of(f.ask(caller, request(8, "mcpbx/status", R"({"x":1})"))) == -32602);
  CHECK(code_of(f.ask(caller, request(9, "mcpbx/tools", R"({"format":"yaml"})"))) == -32602);
  CHECK(code_of(f.ask(caller, request(10, "mcpbx/cancel"))) == -32602);
  CHECK(code_of(f.ask(caller, request(11, "mcpbx/cancel", R"({"run":"a","request":1})"))) == -32602);
  CHECK(code_of(f.ask(caller, request(12, "mcpbx/cancel", R"({"request":1.5})"))) == -32602);
  CHECK(code_of(f.ask(caller, request(13, "mcpbx/cancel", R"({"run":"other"})"))) == -32002);
  CHECK(code_of(f.ask(caller, request(14, "mcpbx/cancel", R"({"request":99})"))) == -32002);
}

TEST_CASE("stop answers before it stops") {
  door_fixture f;
  auto& caller = f.enter();
  caller.say(request(1, "mcpbx/stop"));
  CHECK(f.backend.stops == 0);
  CHECK(caller.sent.size() == 1);
  f.run();
  CHECK(f.backend.stops == 1);
}

TEST_CASE("G16: a caller that leaves has its calls and its runs cancelled") {
  door_fixture f;
  auto server = std::make_shared<fake_client>("files");
  f.backend.catalog = std::make_shared<mcp::catalogs::catalog>(
      std::vector<mcp::catalogs::entry_ptr>{make_tool(server, "files__read", "read")}, 2);
  auto& caller = f.enter();
  f.ask(caller, request(1, "initialize", R"({"protocolVersion":"2025-11-25"})"));
  f.ask(caller, request(2, "tools/call", R"({"name":"files__read"})"));
  f.ask(caller, request(3, "mcpbx/chat", R"({"input":"go"})"));
  CHECK(f.door.callers() == 1);
  caller.events->on_closed({errc::unavailable, "the other side closed the connection"});
  CHECK(f.door.callers() == 0);
  CHECK(server->cancelled.size() == 1);
  CHECK(f.backend.abandoned == std::vector<std::string>{"run-1: the caller went away"});
  server->answer(0, "{}");
  f.run();
  CHECK(caller.closed);
}

TEST_CASE("E1: a caller that says no more stays until all that it asked is answered and has left") {
  door_fixture f;
  auto server = std::make_shared<fake_client>("files");
  f.backend.catalog = std::make_shared<mcp::catalogs::catalog>(
      std::vector<mcp::catalogs::entry_ptr>{make_tool(server, "files__read", "read")}, 2);
  auto& idle = f.enter();
  CHECK_FALSE(idle.events->on_input_end());  // nothing is open: it may go
  auto& caller = f.enter();
  f.ask(caller, request(1, "initialize", R"({"protocolVersion":"2025-11-25"})"));
  f.ask(caller, request(2, "tools/call", R"({"name":"files__read"})"));
  CHECK(caller.events->on_input_end());
  CHECK_FALSE(caller.closed);
  CHECK(server->cancelled.empty());
  caller.reads = false;
  server->answer(0, R"({"content":[]})");
  f.run();
  CHECK(caller.sent.back() == R"({"jsonrpc":"2.0","id":2,"result":{"content":[]}})");
  CHECK_FALSE(caller.closed);
  caller.take(caller.unsent);
  f.run();
  CHECK(caller.closed);
  CHECK(server->cancelled.empty());
}

TEST_CASE("L19 E1: a caller that says no more answers no questions of the runs that it follows, now and later") {
  int mute = 0;  // told until the door closes
  door_fixture f;
  auto& caller = f.enter();
  f.ask(caller, request(1, "mcpbx/chat", R"({"input":"x","run":"one","answers":true})"));
  f.ask(caller, request(2, "mcpbx/chat", R"({"input":"x","run":"two","answers":true})"));
  auto& one = *f.backend.feeds.at("one");
  one.when_mute([&] { ++mute; });
  CHECK(one.answers());
  CHECK(caller.events->on_input_end());
  CHECK(mute == 1);
  CHECK_FALSE(one.answers());
  CHECK_FALSE(f.backend.feeds.at("two")->answers());
  auto& other = f.enter();
  f.ask(other, request(1, "mcpbx/attach", R"({"run":"one"})"));
  CHECK_FALSE(one.answers());  // it has not said that it answers
  f.ask(other, request(2, "mcpbx/attach", R"({"run":"one","answers":true})"));
  CHECK(one.answers());

  // Requests sent before the end of input may begin after it.
  auto& slow = f.enter();
  f.backend.looks_long = true;
  f.ask(slow, request(1, "mcpbx/attach", R"({"run":"old","answers":true})"));
  CHECK(slow.events->on_input_end());
  const auto old = std::make_shared<run_feed>("old", run_feed::options{});
  f.backend.looking(runner::recalled_run{old, ""});
  CHECK_FALSE(old->answers());
}

TEST_CASE("a door that is full or does not admit a process says why and closes") {
  auto o = door_fixture::make_options();
  o.max_callers = 2;
  door_fixture f(o, [](const mcp::socket::peer_credentials& peer) -> result<std::string> {
    if (peer.pid == 666)
      return fail(errc::unavailable, "the tool server files may not call mcpbx; say \"mayCall\": true in its entry");
    return "";
  });
  auto& server = f.enter(666);
  CHECK(f.door.callers() == 0);
  REQUIRE(server.sent.size() == 1);
  CHECK(text_of(server.sent[0]).find("mayCall") != std::string::npos);
  CHECK(id_of(server.sent[0]) == "null");
  CHECK(server.finished);
  f.enter();
  auto& second = f.enter();
  auto& third = f.enter();
  CHECK(code_of(third.sent.at(0)) == -32001);
  second.events->on_closed({errc::unavailable, "left"});
  CHECK(f.enter().sent.empty());
}

TEST_CASE("noise is answered and survived") {
  door_fixture f;
  auto& caller = f.enter();
  CHECK(code_of(f.ask(caller, "hello")) == -32700);
  CHECK(f.ask(caller, request(1, "ping")) == R"({"jsonrpc":"2.0","id":1,"result":{}})");
}

TEST_CASE("list_changed reaches every initialized caller once per turn") {
  door_fixture f;
  auto& caller = f.enter();
  auto& silent = f.enter();
  f.ask(caller, request(1, "initialize", R"({"protocolVersion":"2025-11-25"})"));
  f.ask(caller, R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  const std::size_t before = caller.sent.size();
  for (int i = 0; i < 3; ++i) f.backend.list_changed(mcp::protocol::tool_kind());
  f.run();
  CHECK(caller.sent.size() == before + 1);
  CHECK(silent.sent.empty());
}

}  // namespace front_doors
