// The door with callers on scripted transports and memory pairs: who comes in, what mcpbx's own methods answer, and
// what happens when somebody leaves or does not read.
#include "daemon/front/front_door.hpp"

#include "daemon/front/base/begun_names.hpp"
#include "mcp/client/catalog/catalog_builder.hpp"
#include "mcp/redact/secret.hpp"
#include "mcp/transport/memory_pair.hpp"
#include "test/daemon/front/chat_sources.hpp"
#include "test/daemon/front/fake_backend.hpp"
#include "test/daemon/front/fake_transport.hpp"
#include "test/mcp/server/fake_host.hpp"
#include "test/support/manual_time.hpp"

#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon;
using namespace mcpbx::test;

namespace {

struct door_fixture {
  explicit door_fixture(const front_door::options& o = make_options(), front_door::admission admit = {})
      : door(io.get_executor(), time, backend, o, std::move(admit)) {}
  ~door_fixture() {
    door.close();
    run();
  }
  static front_door::options make_options() {
    front_door::options o;
    o.version = "1.2.3";
    o.socket = "/run/x.sock";
    return o;
  }
  void run() {
    io.restart();
    io.poll();
  }
  /// A new caller.
  fake_transport::line& enter(pid_t pid = 100) {
    lines.push_back(std::make_unique<fake_transport::line>());
    door.accept(std::make_unique<fake_transport>(*lines.back()), {1000, pid});
    run();
    return *lines.back();
  }
  /// Says a request and gives the last line that came back.
  std::string ask(fake_transport::line& l, std::string_view text) {
    const std::size_t before = l.sent.size();
    l.say(text);
    run();
    return l.sent.size() == before ? "" : l.sent.back();
  }

  boost::asio::io_context io;
  manual_time time;
  fake_backend backend;
  std::vector<std::unique_ptr<fake_transport::line>> lines;
  front_door door;
};

std::string request(int id, const std::string& method, const std::string& params = "{}") {
  return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":")" + method + R"(","params":)" + params + "}";
}

raw_json result_of(const std::string& line) {
  return find_member(*raw_json::parse(line), "result");
}

}  // namespace

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
  mcp::catalog_builder catalog({{.name = "s", .tools = {}, .owner = {}}});
  const auto list = [&](const mcp::feature_kind& kind, std::initializer_list<const char*> definitions) {
    auto items = std::make_shared<std::vector<mcp::feature_item>>();
    for (const char* d : definitions) items->push_back(kind.read(raw_json::literal(d)).value());
    catalog.set_list(0, kind, std::move(items));
  };
  list(mcp::prompt_kind(), {R"({"name":"open"})", R"({"name":"secret"})"});
  list(mcp::resource_kind(), {R"({"uri":"a:1","name":"n"})", R"({"uri":"b:1","name":"n"})"});
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
    auto e = std::make_shared<mcp::catalog_entry>();
    e->name = "s__" + name;
    e->server = "s";
    e->tool = name;
    e->definition = e->exposed = e->legacy = raw_json::own(R"({"name":"s__)" + name + R"("})");
    return e;
  };
  mcp::withheld_tools withheld;
  for (const auto* name : {"s__hidden", "s__overwrite"})
    withheld.emplace(name, mcp::withheld_tool{"s", name, std::make_shared<const std::string>("it changed")});
  f.backend.catalog = std::make_shared<mcp::catalog>(std::vector<mcp::entry_ptr>{entry("read"), entry("write")}, 2,
                                                     std::move(withheld));
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
    auto e = std::make_shared<mcp::catalog_entry>();
    e->name = e->tool = name;
    e->server = "s";
    e->definition = e->exposed = e->legacy = raw_json::own(R"({"name":")" + name + R"("})");
    return e;
  };
  f.backend.catalog =
      std::make_shared<mcp::catalog>(std::vector<mcp::entry_ptr>{entry("s__read"), entry("s__write")}, 2);
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
  mcp::server_status good, bad, silent, retried;
  good.name = "good";
  good.state = mcp::server_state::ready;
  bad.name = "bad";
  bad.state = mcp::server_state::crash_loop;
  bad.last_error = "bad: exit status 3";
  silent.name = "silent";
  silent.state = mcp::server_state::ready;
  silent.last_error = "silent: no sign of life";
  silent.suspect = true;
  retried.name = "retried";
  retried.state = mcp::server_state::starting;
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
  mcp::server_status leaky;
  leaky.name = "s";
  leaky.state = mcp::server_state::failed;
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

TEST_CASE("tools filters by pattern and by name") {
  door_fixture f;
  auto server = std::make_shared<fake_client>("files");
  f.backend.catalog = std::make_shared<mcp::catalog>(
      std::vector<mcp::entry_ptr>{make_tool(server, "files__read", "read"), make_tool(server, "git__log", "log")}, 2);
  auto& caller = f.enter();
  const auto names = [&](const std::string& params) {
    caller.say(request(1, "mcpbx/tools", params));
    f.backend.settle();
    std::string out;
    for_each_element(find_member(result_of(caller.sent.back()), "tools"), [&](const raw_json& t) {
      out += find_member(t, "name").as_string().value_or("?") + " ";
      return true;
    });
    return out;
  };
  CHECK(names("{}") == "files__read git__log ");
  CHECK(names(R"({"pattern":"git*"})") == "git__log ");
  CHECK(names(R"({"name":"files__read"})") == "files__read ");
  CHECK(names(R"({"pattern":"x*"})").empty());
  CHECK(names(R"({"pattern":"git*"})") == "git__log ");
}

TEST_CASE("G7: a tool that is known now is shown while other servers start, and an unknown name waits for them") {
  door_fixture f;
  auto server = std::make_shared<fake_client>("files");
  f.backend.catalog =
      std::make_shared<mcp::catalog>(std::vector<mcp::entry_ptr>{make_tool(server, "files__read", "read")}, 2);
  auto& caller = f.enter();
  const raw_json known = result_of(f.ask(caller, request(1, "mcpbx/tools", R"({"name":"files__read"})")));
  CHECK(known.text().find("files__read") != std::string_view::npos);
  CHECK(find_member(known, "server").as_string() == "files");
  CHECK(f.ask(caller, request(2, "mcpbx/tools", R"({"name":"git__log"})")).empty());
  f.backend.settle();
  CHECK(result_of(caller.sent.back()).text() == R"({"tools":[]})");
}

TEST_CASE("F8: tools beyond as many as the model takes are told, also when only some are asked for") {
  door_fixture f;
  struct directory final : model_directory {
    void list(const std::string&, bool, std::function<void(result<std::vector<model_row>>)>) override {}
    std::size_t max_tools(std::string_view name, std::string_view api) const override {
      CHECK(name == "");
      return api == "openai-chat" ? 3 : 0;
    }
  } models;
  f.backend.directory_of_models = &models;
  auto server = std::make_shared<fake_client>("s");
  auto odd = std::make_shared<mcp::catalog_entry>(*make_tool(server, "s__b", "b"));
  odd->definition = raw_json::literal(R"({"name":"b","inputSchema":{"type":"string"}})");
  f.backend.catalog = std::make_shared<mcp::catalog>(
      std::vector<mcp::entry_ptr>{make_tool(server, "s__d", "d"), make_tool(server, "s__c", "c"), odd,
                                  make_tool(server, "s__a", "a")},
      2);
  auto& caller = f.enter();
  const auto answer = [&](const std::string& params) {
    caller.say(request(1, "mcpbx/tools", params));
    f.backend.settle();
    return std::string(result_of(caller.sent.back()).text());
  };
  const std::string beyond =
      R"({"name":"s__d","reason":"The tool \"s__d\" is left out: the model takes 3 tools (maxTools, one place is kept )"
      R"(for mcpbx's own), and this one is not among the first by name; choose with tools.allow or tools.deny of the )"
      R"(servers or of a profile."})";
  const auto all = answer(R"({"format":"openai"})");
  CHECK(all.find(R"("leftOut":[{"name":"s__b")") != std::string::npos);
  CHECK(all.find("," + beyond + "]") != std::string::npos);
  CHECK(all.find(R"("function":{"name":"s__a")") != std::string::npos);
  CHECK(all.find(R"("function":{"name":"s__c")") != std::string::npos);
  CHECK(answer(R"({"format":"openai","pattern":"*__d"})") == R"({"tools":[],"leftOut":[)" + beyond + "]}");
  CHECK(answer(R"({"format":"anthropic","pattern":"*__d"})").find("leftOut") == std::string::npos);
  CHECK(answer(R"({"format":"react"})").find("maxTools") == std::string::npos);
  CHECK(answer(R"({"format":"mcp"})").find("leftOut") == std::string::npos);
}

TEST_CASE("F8: a tool that is listed alone has the name that it has among all") {
  door_fixture f;
  auto server = std::make_shared<fake_client>("s");
  f.backend.catalog = std::make_shared<mcp::catalog>(
      std::vector<mcp::entry_ptr>{make_tool(server, "s__a_b", "a_b"), make_tool(server, "s__a.b", "a.b")}, 2);
  auto& caller = f.enter();
  const auto named = [&](const std::string& more) {
    caller.say(request(1, "mcpbx/tools", R"({"format":"anthropic")" + more + "}"));
    f.backend.settle();
    std::vector<std::string> names;
    for_each_element(find_member(result_of(caller.sent.back()), "tools"), [&](const raw_json& tool) {
      names.push_back(find_member(tool, "name").as_string().value());
      return true;
    });
    return names;
  };
  const auto all = named("");
  REQUIRE(all.size() == 2);
  CHECK(all[0] != all[1]);
  CHECK(named(R"(,"name":"s__a.b")") == std::vector{all[0]});
  CHECK(named(R"(,"pattern":"*a_b")") == std::vector{all[1]});
}

TEST_CASE("G15: what the catalog could not have is told with the tools, and not for one tool by its name") {
  door_fixture f;
  auto one = std::make_shared<fake_client>("one"), two = std::make_shared<fake_client>("two");
  f.backend.catalog = std::make_shared<mcp::catalog>(
      std::vector<mcp::entry_ptr>{make_tool(one, "one__a", "a"), make_tool(two, "two__a", "a")}, 2,
      mcp::withheld_tools{}, std::vector<mcp::dropped_item>{{"one", "First."}, {"two", "Second."}});
  auto& caller = f.enter();
  const auto dropped = [&](const std::string& params) {
    caller.say(request(1, "mcpbx/tools", params));
    f.backend.settle();
    return std::string(find_member(result_of(caller.sent.back()), "dropped").text());
  };
  const std::string first = R"({"server":"one","reason":"First."})", second = R"({"server":"two","reason":"Second."})";
  for (const auto* format : {"mcp", "openai", "react"})
    CHECK(dropped(R"({"format":")" + std::string(format) + "\"}") == "[" + first + "," + second + "]");
  CHECK(dropped("{}") == "[" + first + "," + second + "]");
  CHECK(dropped(R"({"pattern":"two__*"})") == "[" + second + "]");
  CHECK(dropped(R"({"pattern":"one__lost"})") == "[" + first + "," + second + "]");
  CHECK(dropped(R"({"name":"one__a"})").empty());
}

TEST_CASE("F8: tools in the form of an API leave out what it cannot take, and say why") {
  door_fixture f;
  auto server = std::make_shared<fake_client>("files");
  auto odd = std::make_shared<mcp::catalog_entry>(*make_tool(server, "files__odd", "odd"));
  odd->definition = raw_json::literal(R"({"name":"odd","inputSchema":{"type":"string"}})");
  f.backend.catalog =
      std::make_shared<mcp::catalog>(std::vector<mcp::entry_ptr>{make_tool(server, "files__read", "read"), odd}, 2);
  auto& caller = f.enter();
  const auto answer = [&](const std::string& format) {
    caller.say(request(1, "mcpbx/tools", R"({"format":")" + format + "\"}"));
    f.backend.settle();
    return std::string(result_of(caller.sent.back()).text());
  };
  const std::string left_out =
      R"(,"leftOut":[{"name":"files__odd","reason":"The tool \"files__odd\" is left out: its schema is of type \"string\" where arguments are an object."}]})";
  const std::string schema = R"({"type":"object","properties":{}})";
  CHECK(answer("anthropic") ==
        R"({"tools":[{"name":"files__read","description":"does read","input_schema":)" + schema + "}]" + left_out);
  CHECK(answer("gemini") == R"({"tools":[{"name":"files__read","description":"does read","parametersJsonSchema":)" +
                                schema + "}]" + left_out);
  CHECK(answer("openai-responses") ==
        R"({"tools":[{"type":"function","name":"files__read","description":"does read","parameters":)" + schema +
            R"(,"strict":false}])" + left_out);
  for (const auto* format : {"openai", "openai-chat", "dial", "azure", "ollama"})
    CHECK(answer(format) ==
          R"({"tools":[{"type":"function","function":{"name":"files__read","description":"does read","parameters":)" +
              schema + "}}]" + left_out);
  const auto text = answer("react");
  CHECK(text.starts_with(R"({"prompt":"# Tools)"));
  CHECK(text.ends_with(left_out));
}

TEST_CASE("F8: what a tool lost on its way to an API is told with the tools in that form, and only there") {
  door_fixture f;
  auto server = std::make_shared<fake_client>("files");
  auto odd = std::make_shared<mcp::catalog_entry>(*make_tool(server, "files__odd", "odd"));
  odd->definition =
      raw_json::literal(R"({"name":"odd","inputSchema":{"type":"object","properties":{"$a":{},"b":1,"\u001bc":2}}})");
  f.backend.catalog =
      std::make_shared<mcp::catalog>(std::vector<mcp::entry_ptr>{make_tool(server, "files__read", "read"), odd}, 2);
  auto& caller = f.enter();
  const auto changed = [&](const std::string& params) {
    caller.say(request(1, "mcpbx/tools", params));
    f.backend.settle();
    return std::string(find_member(result_of(caller.sent.back()), "changed").text());
  };
  const std::string words = R"([{"name":"files__odd","reason":"The tool \"files__odd\" is offered with changes: )"
                            R"(inputSchema loses characters that are not seen, in names or values; )"
                            R"(inputSchema.properties.b is no schema and goes; )"
                            R"(inputSchema.properties.c is no schema and goes)";
  CHECK(changed(R"({"format":"openai"})") == words + R"(."}])");
  CHECK(
      changed(R"({"format":"anthropic"})") ==
      words +
          R"(; the argument \"$a\" goes, because this model's API takes only names of 64 letters, digits, _ . and -."}])");
  CHECK(changed(R"({"format":"anthropic","pattern":"*read"})").empty());
  CHECK(changed("{}").empty());
}

TEST_CASE("L20: a chat streams its events with request and run and seq and ends with done and its result") {
  door_fixture f;
  auto& caller = f.enter();
  CHECK(f.ask(caller, request(5, "mcpbx/chat", R"({"input":"go"})")).empty());
  REQUIRE(f.backend.started.size() == 1);
  CHECK(f.backend.started[0].principal == "uid:1000");
  segments round;
  round.append_copy(R"({"type":"round","round":1,"model":"m"})");
  auto& feed = *f.backend.feeds.at("run-1");
  feed.push({run_event::kind::round, "", "", round});
  feed.push({run_event::kind::text, "", "Hel", {}});
  feed.push({run_event::kind::text, "", "lo", {}});
  feed.done(raw_json::own(R"({"run":"run-1","text":"Hello"})"));
  f.run();
  const std::string head = R"({"jsonrpc":"2.0","method":"mcpbx/event","params":{"request":5,"run":"run-1","seq":)";
  CHECK(caller.sent == std::vector<std::string>{head + R"(1,"type":"round","round":1,"model":"m"}})",
                                                head + R"(2,"type":"text","text":"Hello"}})",
                                                head + R"(3,"type":"done","result":{"run":"run-1","text":"Hello"}}})",
                                                R"({"jsonrpc":"2.0","id":5,"result":{"run":"run-1","text":"Hello"}})"});
}

TEST_CASE("stream false leaves out text and reasoning") {
  door_fixture f;
  auto& caller = f.enter();
  f.ask(caller, request(5, "mcpbx/chat", R"({"input":"go","stream":false})"));
  f.backend.feeds.at("run-1")->push({run_event::kind::text, "", "Hel", {}});
  f.backend.feeds.at("run-1")->push({run_event::kind::reasoning, "", "hm", {}});
  f.run();
  CHECK(caller.sent.empty());
}

TEST_CASE("a chat that cannot start is answered with the reason") {
  door_fixture f;
  auto& caller = f.enter();
  CHECK(code_of(f.ask(caller, request(1, "mcpbx/chat", R"({"input":"go","model":"nope"})"))) == -32002);
  CHECK(text_of(f.ask(caller, request(2, "mcpbx/chat", R"({"input":"go","limits":{"maxRounds":"x"}})")))
            .find("params.limits.maxRounds") == 0);
  for (int i = 0; i < 64; ++i) CHECK(f.ask(caller, request(100 + i, "mcpbx/chat", R"({"input":"go"})")).empty());
  CHECK(code_of(f.ask(caller, request(3, "mcpbx/chat", R"({"input":"go"})"))) == -32001);
}

TEST_CASE("L18: who names a run whose request still asks the journal for the name waits until it has begun") {
  door_fixture f;
  auto& caller = f.enter();
  auto& other = f.enter();
  f.backend.looks_long = true;
  CHECK(f.ask(caller, request(1, "mcpbx/chat", R"({"input":"go","run":"run-mine"})")).empty());
  CHECK(f.ask(caller, request(2, "mcpbx/cancel", R"({"run":"run-mine"})")).empty());
  CHECK(f.ask(other, request(3, "mcpbx/attach", R"({"run":"run-mine"})")).empty());
  CHECK(f.backend.cancelled.empty());
  CHECK(f.backend.recalled.size() == 1);
  f.backend.looking(fail(errc::not_found, "there is none"));
  f.run();
  CHECK(f.backend.started.size() == 1);
  CHECK(f.backend.cancelled == std::vector<std::string>{"run-mine"});
  CHECK(caller.sent.back() == R"({"jsonrpc":"2.0","id":2,"result":{}})");
  CHECK(f.backend.recalled.size() == 1);
  f.backend.feeds.at("run-mine")->done(raw_json::own(R"({"run":"run-mine"})"));
  f.run();
  CHECK(other.sent.back() == R"({"jsonrpc":"2.0","id":3,"result":{"run":"run-mine"}})");
  // A name that came to nothing is let go of.
  CHECK(f.ask(caller, request(4, "mcpbx/chat", R"({"input":"go","run":"run-broken"})")).empty());
  CHECK(f.ask(other, request(5, "mcpbx/attach", R"({"run":"run-broken"})")).empty());
  f.backend.looking(fail(errc::io, "no journal"));
  f.run();
  CHECK(f.backend.started.size() == 1);
  REQUIRE(f.backend.looking.then);
  f.backend.looking(fail(errc::not_found, "there is none"));
  f.run();
  CHECK(code_of(other.sent.back()) == -32002);
}

TEST_CASE("L18: no more than 256 requests wait for runs that are about to begin") {
  boost::asio::io_context context(1);
  begun_names names(context.get_executor());
  auto mine = names.hold("mine"), yours = names.hold("yours");
  int came = 0;
  for (std::size_t i = 0; i < begun_names::max_waiting; ++i)
    CHECK(names.wait(i % 2 == 0 ? "mine" : "yours", [&] { ++came; }).has_value());
  const auto refused = names.wait("mine", [&] { ++came; });
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == errc::limit);
  mine.reset();
  CHECK_FALSE(names.has("mine"));
  CHECK(came == 0);
  context.run();
  CHECK(came == 128);
  CHECK(names.wait("yours", [&] { ++came; }).has_value());
}

TEST_CASE("L18: a cancel is answered when it is kept, and with the reason when it could not be") {
  door_fixture f;
  auto& caller = f.enter();
  f.ask(caller, request(1, "mcpbx/chat", R"({"input":"go"})"));
  f.backend.cancels_long = true;
  CHECK(f.ask(caller, request(2, "mcpbx/cancel", R"({"run":"run-1"})")).empty());
  f.backend.cancel_kept({});
  f.run();
  CHECK(caller.sent.back() == R"({"jsonrpc":"2.0","id":2,"result":{}})");
  CHECK(f.ask(caller, request(3, "mcpbx/cancel", R"({"request":1})")).empty());
  f.backend.cancel_kept(fail(errc::io, "it could not be kept"));
  f.run();
  CHECK(text_of(caller.sent.back()) == "it could not be kept");
}

TEST_CASE("L18: cancelling a chat reaches its run") {
  door_fixture f;
  auto& caller = f.enter();
  f.ask(caller, request(1, "mcpbx/chat", R"({"input":"go"})"));
  f.ask(caller, request(2, "mcpbx/chat", R"({"input":"go"})"));
  const std::string got =
      f.ask(caller, R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
  CHECK(code_of(got) == -32800);
  CHECK(f.backend.abandoned == std::vector<std::string>{"run-1: cancelled by its caller"});
  const std::size_t sent = caller.sent.size();
  f.backend.feeds.at("run-1")->push({run_event::kind::text, "", "late", {}});
  f.backend.feeds.at("run-1")->done(raw_json::literal("{}"));
  f.run();
  CHECK(caller.sent.size() == sent);
  // Asked for by method, the run ends with its result.
  CHECK(result_of(f.ask(caller, request(3, "mcpbx/cancel", R"({"request":2})"))).text() == "{}");
  CHECK(f.backend.cancelled.back() == "run-2");
  f.backend.feeds.at("run-2")->done(raw_json::own(R"({"stopReason":"cancelled"})"));
  f.run();
  CHECK(caller.sent.back() == R"({"jsonrpc":"2.0","id":2,"result":{"stopReason":"cancelled"}})");
}

TEST_CASE("L18: two callers of a run get its events and its result, and it goes on while one of them is there") {
  door_fixture f;
  auto& starter = f.enter();
  auto& other = f.enter();
  f.ask(starter, request(5, "mcpbx/chat", R"({"input":"go","run":"mine"})"));
  auto& feed = *f.backend.feeds.at("mine");
  feed.push({run_event::kind::text, "", "Hel", {}});
  f.run();
  CHECK(
      f.ask(other, request(1, "mcpbx/attach", R"({"run":"mine"})")).find(R"("seq":1,"type":"snapshot","text":"Hel")") !=
      std::string::npos);
  feed.push({run_event::kind::text, "", "lo", {}});
  f.run();
  CHECK(starter.sent.back() == other.sent.back().replace(other.sent.back().find("\"request\":1"), 11, "\"request\":5"));
  starter.events->on_closed({errc::unavailable, "left"});
  f.run();
  CHECK(f.backend.abandoned.empty());
  feed.done(raw_json::literal("{}"));
  f.run();
  CHECK(other.sent.back() == R"({"jsonrpc":"2.0","id":1,"result":{}})");
}

TEST_CASE("L18: a detached start is answered when it is recorded, and the run is left alone by callers that leave") {
  door_fixture f;
  auto& caller = f.enter();
  CHECK(f.ask(caller, request(5, "mcpbx/chat", R"({"input":"go","run":"mine","detach":true})")).empty());
  CHECK(f.backend.started.at(0).detach);
  f.backend.told(daemon::runner::recorded_run{"mine", "ses_1"});
  f.run();
  CHECK(caller.sent ==
        std::vector<std::string>{R"({"jsonrpc":"2.0","id":5,"result":{"run":"mine","session":"ses_1"}})"});
  f.ask(caller, request(6, "mcpbx/attach", R"({"run":"mine"})"));
  // A caller that cancels its attached request leaves the run.
  CHECK(code_of(f.ask(caller, R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":6}})")) ==
        -32800);
  f.ask(caller, request(7, "mcpbx/attach", R"({"run":"mine"})"));
  caller.events->on_closed({errc::unavailable, "left"});
  f.run();
  CHECK(f.backend.abandoned.empty());
  CHECK(f.backend.cancelled.empty());
  auto& again = f.enter();
  f.backend.feeds.at("mine")->push({run_event::kind::text, "", "a", {}});
  f.backend.feeds.at("mine")->done(raw_json::literal("{}"));
  f.ask(again, request(1, "mcpbx/attach", R"({"run":"mine"})"));
  CHECK(again.sent.size() == 3);
  CHECK(again.sent.back() == R"({"jsonrpc":"2.0","id":1,"result":{}})");
}

TEST_CASE("L18: a detached start that cannot be recorded is an error, and one that is cancelled before is cancelled") {
  door_fixture f;
  auto& caller = f.enter();
  f.ask(caller, request(1, "mcpbx/chat", R"({"input":"go","detach":true})"));
  f.backend.told(fail(errc::io, "the run was not started: no space left on device"));
  CHECK(text_of(caller.sent.back()).find("no space left") != std::string::npos);
  f.ask(caller, request(2, "mcpbx/chat", R"({"input":"go","detach":true})"));
  CHECK(code_of(f.ask(caller, R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}})")) ==
        -32800);
  CHECK(f.backend.cancelled == std::vector<std::string>{"run-2"});
}

TEST_CASE("L18 G23: a run that only the journal knows is told to whoever attaches or asks for the same again") {
  door_fixture f;
  f.backend.looks_long = true;
  const auto ended = [] {
    auto feed = std::make_shared<daemon::run_feed>("old", daemon::run_feed::options{.keep = true});
    feed->done(raw_json::literal(R"({"run":"old"})"));
    return daemon::runner::recalled_run{feed, "ses_7"};
  };
  const std::string result = R"("result":{"run":"old"}})";
  auto& caller = f.enter();
  CHECK(f.ask(caller, request(1, "mcpbx/attach", R"({"run":"old"})")).empty());
  f.backend.looking(ended());
  f.run();
  CHECK(caller.sent.back() == R"({"jsonrpc":"2.0","id":1,)" + result);
  CHECK(f.ask(caller, request(2, "mcpbx/chat", R"({"run":"old"})")).empty());
  f.backend.looking(ended());
  f.run();
  CHECK(caller.sent.back() == R"({"jsonrpc":"2.0","id":2,)" + result);
  CHECK(f.ask(caller, request(3, "mcpbx/chat", R"({"run":"old","input":"a","detach":true})")).empty());
  f.backend.looking(ended());
  CHECK(caller.sent.back() == R"({"jsonrpc":"2.0","id":3,"result":{"run":"old","session":"ses_7","ended":true}})");
  CHECK(f.backend.started.empty());
  CHECK(f.backend.recalled == std::vector<std::string>{"old", "old", "old with its likeness"});

  // Another request of that name, and a name that is known nowhere.
  CHECK(f.ask(caller, request(4, "mcpbx/chat", R"({"run":"old","input":"b"})")).empty());
  f.backend.looking(fail(errc::not_found, "no"));
  CHECK(f.backend.started.size() == 1);
  f.ask(caller, request(5, "mcpbx/attach", R"({"run":"who"})"));
  f.backend.looking(fail(errc::not_found, "no run is named \"who\"; it may have ended"));
  CHECK(text_of(caller.sent.back()) == "no run is named \"who\"; it may have ended");
  f.ask(caller, request(6, "mcpbx/chat", R"({"run":"new","input":"b"})"));
  f.backend.looking(fail(errc::io, "the journal cannot be read"));
  CHECK(text_of(caller.sent.back()) == "the journal cannot be read");
  CHECK(f.backend.started.size() == 1);

  // A caller that cancels or leaves meanwhile starts nothing.
  f.ask(caller, request(7, "mcpbx/chat", R"({"run":"new","input":"b"})"));
  f.ask(caller, R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}})");
  f.backend.looking(fail(errc::not_found, "no"));
  f.ask(caller, request(8, "mcpbx/chat", R"({"run":"new","input":"b"})"));
  caller.events->on_closed({errc::unavailable, "left"});
  f.run();
  f.backend.looking(fail(errc::not_found, "no"));
  CHECK(f.backend.started.size() == 1);
}

TEST_CASE("L18 G24: who attaches while the journal still gives back what was left finds the run") {
  door_fixture f;
  f.backend.looks_long = true;
  auto& caller = f.enter();
  f.ask(caller, request(1, "mcpbx/attach", R"({"run":"night"})"));
  CHECK(caller.sent.empty());
  f.backend.feeds.emplace("night", std::make_shared<run_feed>("night", run_feed::options{.keep = true}));
  f.backend.looking(fail(errc::not_found, "no run is named \"night\"; it may have ended"));
  f.run();
  CHECK(caller.sent.empty());
  f.backend.feeds.at("night")->done(raw_json::literal(R"({"text":"done"})"));
  f.run();
  REQUIRE_FALSE(caller.sent.empty());
  CHECK(caller.sent.back().find(R"("id":1,"result":{"text":"done"})") != std::string::npos);
}

TEST_CASE("L18 G24: while runs of an earlier daemon are not here nothing by name is told not to be, or begun anew") {
  const std::string results =
      R"("messages":[{"role":"tool","content":[{"type":"tool_result","id":"a","name":"mine","result":{"content":[]}}]}])";
  const std::vector<std::pair<std::string, std::string>> by_name{
      {"mcpbx/chat", R"({"run":"night","input":"go","detach":true})"},
      {"mcpbx/chat", R"({"run":"night","input":"go"})"},
      {"mcpbx/chat", R"({"run":"night"})"},
      {"mcpbx/chat", R"({"run":"night",)" + results + "}"},
      {"mcpbx/attach", R"({"run":"night"})"},
      {"mcpbx/cancel", R"({"run":"night"})"},
      {"mcpbx/answer", R"({"run":"night","question":"q","approve":true})"}};
  for (const auto& [method, params] : by_name) {
    CAPTURE(method);
    CAPTURE(params);
    door_fixture f;
    f.backend.left_behind = true;
    auto& caller = f.enter();
    CHECK(f.ask(caller, request(1, method, params)).empty());
    CHECK(f.ask(caller, request(2, method, params)).empty());
    REQUIRE(f.backend.for_left.size() == 2);
    f.backend.for_left[0](fail(errc::unavailable, "an earlier daemon may have left runs"));
    REQUIRE(caller.sent.size() == 1);
    CHECK(code_of(caller.sent[0]) == -32000);
    CHECK(id_of(caller.sent[0]) == "1");
    CHECK(text_of(caller.sent[0]) == "an earlier daemon may have left runs");
    CHECK(caller.sent[0].find(R"("retryable":true)") != std::string::npos);
    CHECK(f.backend.started.empty());
    CHECK(f.backend.recalled.empty());
    CHECK(f.backend.cancelled.empty());
    // The run has come.
    f.backend.feeds.emplace("night", std::make_shared<run_feed>("night", run_feed::options{.keep = true}));
    f.backend.for_left[1]({});
    f.run();
    CHECK(f.backend.recalled.empty());
    CHECK(f.backend.started.empty());
    CHECK(f.backend.cancelled.size() == (method == "mcpbx/cancel" ? 1 : 0));
    // It is known from now on without a question.
    f.ask(caller, request(3, "mcpbx/attach", R"({"run":"night"})"));
    CHECK(f.backend.for_left.size() == 2);
  }
  door_fixture f;
  f.backend.left_behind = true;
  auto& caller = f.enter();
  f.ask(caller, request(1, "mcpbx/chat", R"({"input":"go"})"));
  f.ask(caller, request(2, "mcpbx/chat", R"({"input":"go","detach":true})"));
  f.ask(caller, request(3, "mcpbx/cancel", R"({"request":1})"));
  CHECK(f.backend.started.size() == 2);
  CHECK(f.backend.cancelled.size() == 1);
  CHECK(f.backend.for_left.empty());

  // A caller that cancels or leaves meanwhile begins nothing.
  f.ask(caller, request(4, "mcpbx/chat", R"({"run":"night","input":"go"})"));
  f.ask(caller, R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4}})");
  f.ask(caller, request(5, "mcpbx/chat", R"({"run":"night","input":"go"})"));
  caller.events->on_closed({errc::unavailable, "left"});
  f.run();
  REQUIRE(f.backend.for_left.size() == 2);
  for (const auto& then : f.backend.for_left) then({});
  CHECK(f.backend.started.size() == 2);
}

TEST_CASE("mcpbx/attach counts among the runs of a connection") {
  auto o = door_fixture::make_options();
  o.max_runs_per_caller = 2;
  door_fixture f(o);
  auto& caller = f.enter();
  f.ask(caller, request(1, "mcpbx/chat", R"({"input":"go"})"));
  f.ask(caller, request(2, "mcpbx/attach", R"({"run":"run-1"})"));
  CHECK(code_of(f.ask(caller, request(3, "mcpbx/attach", R"({"run":"run-1"})"))) == -32001);
}

TEST_CASE("G18: detached runs count among those of the connection that started them, until they have ended") {
  auto o = door_fixture::make_options();
  o.max_runs_per_caller = 2;
  door_fixture f(o);
  auto& caller = f.enter();
  const auto start = [&](int id, const std::string& more) {
    return f.ask(caller, request(id, "mcpbx/chat", R"({"input":"go")" + more + "}"));
  };
  start(1, R"(,"run":"night","detach":true)");
  start(2, "");
  const std::string full =
      "this connection has 2 runs going already, 1 of them detached; wait for one of them, or cancel it";
  for (const std::string more : {"", R"(,"detach":true)", R"(,"run":"day","detach":true)"}) {
    CAPTURE(more);
    const auto refused = start(3, more);
    CHECK(code_of(refused) == -32001);
    CHECK(text_of(refused) == full);
  }
  CHECK(f.backend.started.size() == 2);
  // Others have places of their own.
  f.ask(f.enter(), request(1, "mcpbx/chat", R"({"input":"go","detach":true})"));
  CHECK(f.backend.started.size() == 3);
  // To follow its own run a connection needs no further place, nor to ask for it again.
  f.backend.feeds.at("run-2")->done(raw_json::literal("{}"));
  f.run();
  f.ask(caller, request(4, "mcpbx/attach", R"({"run":"night"})"));
  f.ask(caller, request(5, "mcpbx/chat", R"({"run":"night","input":"go","detach":true})"));
  CHECK(text_of(start(6, "")) == full);
  f.backend.feeds.at("night")->done(raw_json::literal("{}"));
  f.run();
  start(7, R"(,"detach":true)");
  start(8, R"(,"detach":true)");
  CHECK(f.backend.started.size() == 5);
  CHECK(text_of(start(9, "")).find("2 of them detached") != std::string::npos);
}

TEST_CASE("G16: a caller that leaves has its calls and its runs cancelled") {
  door_fixture f;
  auto server = std::make_shared<fake_client>("files");
  f.backend.catalog =
      std::make_shared<mcp::catalog>(std::vector<mcp::entry_ptr>{make_tool(server, "files__read", "read")}, 2);
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
  f.backend.catalog =
      std::make_shared<mcp::catalog>(std::vector<mcp::entry_ptr>{make_tool(server, "files__read", "read")}, 2);
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
  door_fixture f(o, [](const mcp::peer_credentials& peer) -> result<std::string> {
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
  for (int i = 0; i < 3; ++i) f.backend.list_changed(mcp::tool_kind());
  f.run();
  CHECK(caller.sent.size() == before + 1);
  CHECK(silent.sent.empty());
}

TEST_CASE("G17: a caller that does not read is not read and is closed after 30 s") {
  auto o = door_fixture::make_options();
  o.outbox.bound = 100'000;
  door_fixture f(o);
  auto& caller = f.enter();
  auto& neighbour = f.enter();
  caller.reads = false;
  for (int i = 0; i < 2000; ++i) caller.say(request(i, "no/such/method/" + std::string(200, 'm')));
  f.run();
  CHECK(caller.paused);
  CHECK(f.ask(neighbour, request(1, "ping")) == R"({"jsonrpc":"2.0","id":1,"result":{}})");
  f.time.advance(milliseconds(30'000));
  f.run();
  CHECK(caller.closed);
  CHECK(f.door.callers() == 1);
}

TEST_CASE("G18: when more bytes are owned than may be, a caller that has read nothing for 5 s is closed") {
  door_fixture f;
  auto& slow = f.enter();
  auto& neighbour = f.enter();
  slow.reads = false;
  f.ask(slow, request(1, "mcpbx/chat", R"({"input":"go"})"));
  segments large;
  large.append_copy(R"({"type":"tool_result","content":")" + std::string(2u << 20, 'x') + "\"}");
  const std::size_t limit = byte_account::limit();
  byte_account::set_limit(byte_account::total());
  for (int i = 0; i < 2; ++i) f.backend.feeds.at("run-1")->push({run_event::kind::tool_result, "", "", large});
  f.backend.feeds.at("run-1")->push({run_event::kind::text, "", "more", {}});
  f.run();
  f.time.advance(milliseconds(4'999));
  f.run();
  CHECK_FALSE(slow.closed);
  f.time.advance(milliseconds(1));
  f.run();
  byte_account::set_limit(limit);
  CHECK(slow.closed);
  CHECK_FALSE(neighbour.closed);
  CHECK(f.door.callers() == 1);
  CHECK(f.ask(neighbour, request(1, "ping")) == R"({"jsonrpc":"2.0","id":1,"result":{}})");
}

TEST_CASE("G18: a read of very many requests is answered in turns, in order, and others are answered in between") {
  door_fixture f;
  auto& flood = f.enter();
  auto& neighbour = f.enter();
  std::string read;
  for (int i = 0; i < 1000; ++i) read += request(i, "ping") + "\n";
  flood.framer.feed(read, *flood.events);
  CHECK(flood.paused);
  neighbour.say(request(1, "ping"));
  f.io.restart();
  while (neighbour.sent.empty()) REQUIRE(f.io.poll_one() == 1);
  CHECK(flood.sent.size() < 600);
  f.run();
  CHECK_FALSE(flood.paused);
  REQUIRE(flood.sent.size() == 1000);
  for (int i = 0; i < 1000; ++i) CHECK(id_of(flood.sent[static_cast<std::size_t>(i)]) == std::to_string(i));
}

TEST_CASE("G18: requests that take long give their turn away after each, also those that waited for the servers") {
  door_fixture f;
  auto& flood = f.enter();
  auto& neighbour = f.enter();
  f.ask(flood, request(1, "initialize", R"({"protocolVersion":"2025-11-25"})"));
  std::string read;
  for (int i = 2; i < 12; ++i) read += request(i, "tools/call", R"({"name":"none"})") + "\n";
  flood.framer.feed(read, *flood.events);
  f.run();
  // Each of them takes longer than a turn.
  f.backend.called = [&] { f.time.advance(turns::longest); };
  const auto settled = std::exchange(f.backend.waiting, {});
  REQUIRE(settled.size() == 10);
  for (const auto& then : settled) then();
  neighbour.say(request(1, "ping"));
  f.io.restart();
  while (neighbour.sent.empty()) REQUIRE(f.io.poll_one() == 1);
  CHECK(flood.sent.size() <= 1 + 2);
  f.run();
  REQUIRE(flood.sent.size() == 1 + 10);
  for (int i = 2; i < 12; ++i) CHECK(id_of(flood.sent[static_cast<std::size_t>(i - 1)]) == std::to_string(i));
}

TEST_CASE("E1: a caller that has said its last is answered all that waits for a turn, and one that left nothing") {
  door_fixture f;
  auto& leaves = f.enter();
  auto& gone = f.enter();
  std::string read;
  for (int i = 0; i < 1000; ++i) read += request(i, "ping") + "\n";
  leaves.framer.feed(read, *leaves.events);
  CHECK(leaves.events->on_input_end());
  gone.framer.feed(read, *gone.events);
  gone.events->on_closed({errc::unavailable, "left"});
  f.run();
  CHECK(leaves.sent.size() == 1000);
  CHECK(gone.sent.size() < 1000);
  CHECK(leaves.closed);
}

TEST_CASE("G18: a thousand callers are served and one with ten thousand requests does not keep another waiting") {
  auto o = door_fixture::make_options();
  door_fixture f(o);
  struct end final : mcp::transport_events {
    void on_message(mcp::message&& m) override {
      if (!m.error.empty()) ++errors;
      ++answers;
    }
    void on_fault(mcp::message_fault) override { ++errors; }
    void on_closed(const error&) override {}
    int answers = 0, errors = 0;
  };
  std::vector<std::unique_ptr<mcp::transport>> ends;
  std::vector<std::unique_ptr<end>> sinks;
  for (int i = 0; i < 1000; ++i) {
    auto [mine, theirs] = mcp::make_memory_pair(f.io.get_executor());
    f.door.accept(std::move(theirs), {1000, 1});
    sinks.push_back(std::make_unique<end>());
    mine->start(*sinks.back());
    ends.push_back(std::move(mine));
  }
  const auto say = [&](std::size_t i, int id) {
    segments s;
    s.append_copy(request(id, "mcpbx/chat", R"({"input":"go"})"));
    ends[i]->send(s, mcp::outgoing::request(id));
  };
  for (int id = 0; id < 10'000; ++id) say(0, id);
  for (std::size_t i = 1; i < ends.size(); ++i) {
    segments s;
    s.append_copy(request(1, "ping"));
    ends[i]->send(s, mcp::outgoing::request(1));
  }
  f.run();
  int answered = 0;
  for (std::size_t i = 1; i < ends.size(); ++i) answered += sinks[i]->answers == 1 && sinks[i]->errors == 0;
  CHECK(answered == 999);
  // Of the ten thousand only what one caller may have going was begun; the rest was refused at once.
  CHECK(f.backend.started.size() == 64);
  CHECK(sinks[0]->answers == 10'000 - 64);
  ends.clear();
  f.run();
  CHECK(f.door.callers() == 0);
}
