// Reading the configuration again while the daemon runs: mcpbx/reload, `mcpbx reload` and SIGHUP.
#include "test/e2e/harness/harness.hpp"
#include "test/support/broken_configurations.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

using namespace mcpbx::e2e;

namespace {

/// Replaces the configuration of a daemon under test, which reads config.json in its folder.
void rewrite(const daemon_under_test& d, const config& c) {
  d.write("config.json", c.str());
}

bool offers(caller& c, const std::string& tool) {
  const auto names = c.tool_names();
  return std::ranges::find(names, tool) != names.end();
}

}  // namespace

TEST_CASE("G34: a reload starts what is new, ends what is gone, and leaves the rest alone with its open calls") {
  daemon_under_test d(config()
                          .server("stays", {"--only", "echo,wait_for_file"})
                          .server("goes", {"--only", "echo"})
                          .server("changes", {"--only", "echo"}));
  d.wait_ready({"stays", "goes", "changes"});
  auto c = d.session();
  const auto stays = c.server("stays"), changes = c.server("changes");
  const auto open = c.start_call("stays__wait_for_file", R"({"path":")" + d.file("go") + "\"}");
  rewrite(d, config()
                 .server("stays", {"--only", "echo,wait_for_file"})
                 .server("changes", {"--only", "add"})
                 .server("comes", {"--only", "echo"}));
  const auto told = c.request("mcpbx/reload");
  REQUIRE_FALSE(told.failed());
  CHECK(text_at(told.value, "result.files.0") == d.file("config.json"));
  CHECK(told.get("result.fromNextStart").as_array().empty());
  d.wait_ready({"stays", "changes", "comes"});
  CHECK(text_at(c.server("stays"), "pid") == text_at(stays, "pid"));
  CHECK(text_at(c.server("changes"), "pid") != text_at(changes, "pid"));
  CHECK(eventually([&] { return offers(c, "comes__echo") && offers(c, "changes__add") && !offers(c, "goes__echo"); }));
  CHECK(c.call("goes__echo").failed());
  CHECK(c.call("comes__echo", R"({"text":"hello"})").text() == "hello");
  d.write("go", "");
  CHECK_FALSE(c.wait(open).failed());
}

TEST_CASE("G34: a wrong file changes nothing, says where it is wrong, and the daemon goes on") {
  daemon_under_test d(config().server("s", {"--only", "echo"}));
  d.wait_ready({"s"});
  auto c = d.session();
  const auto pid = text_at(c.server("s"), "pid");
  const auto broken = mcpbx::test::broken_configurations();
  CHECK(broken.size() >= 20);
  for (const auto& [text, errors] : broken) {
    CAPTURE(text);
    d.write("config.json", text);
    const auto told = c.request("mcpbx/reload");
    REQUIRE(told.failed());
    CHECK(told.message().starts_with("the configuration is wrong, and the one before stays in force:\n"));
    for (const char* one : errors) CHECK_MESSAGE(told.message().contains(d.file("config.json") + ":" + one), one);
    CHECK(text_at(told.value, "error.data.cause") == "config");
  }
  CHECK(text_at(c.server("s"), "pid") == pid);
  CHECK(c.call("s__echo", R"({"text":"still here"})").text() == "still here");
  // A file that is right again is taken.
  rewrite(d, config().server("s", {"--only", "echo"}).server("t", {"--only", "echo"}));
  CHECK_FALSE(c.request("mcpbx/reload").failed());
  d.wait_ready({"s", "t"});
}

TEST_CASE("G34: SIGHUP reloads as mcpbx/reload does, and the log tells the outcome") {
  daemon_under_test d(config().server("s", {"--only", "echo"}));
  d.wait_ready({"s"});
  rewrite(d, config().server("s", {"--only", "echo"}).server("t", {"--only", "echo"}));
  ::kill(d.pid(), SIGHUP);
  CHECK(d.logs("the configuration is in force"));
  d.wait_ready({"s", "t"});
  d.write("config.json", R"({"mcpServer": {}})");
  ::kill(d.pid(), SIGHUP);
  CHECK(d.logs("the configuration is wrong, and the one before stays in force"));
  CHECK(d.session().call("t__echo", R"({"text":"x"})").text() == "x");
}

TEST_CASE("config: the daemon tells what is in force, with places, defaults and what waits for its next start") {
  daemon_under_test d(config().server("s", {"--only", "echo"}));
  auto c = d.session();
  rewrite(d, config().server("s", {"--only", "echo"}).top("limits", R"({"callers": 77})"));
  auto told = c.request("mcpbx/config");
  CHECK(told.get("result.config.limits.callers").as_int64() != 77);  // the files are not read again
  REQUIRE_FALSE(c.request("mcpbx/reload").failed());
  told = c.request("mcpbx/config");
  REQUIRE_FALSE(told.failed());
  CHECK(text_at(told.value, "result.files.0") == d.file("config.json"));
  CHECK(text_at(told.value, "result.fromNextStart.0") == "limits.callers");
  const auto listed = told.get("result.origins");  // owns what the next line refers to
  const auto& origins = listed.as_object();
  CHECK(std::string(origins.at("limits.callers").as_string()).starts_with(d.file("config.json") + ":"));
  CHECK(origins.at("loop.maxRounds").as_string() == "default");
  CHECK(std::string(origins.at("mcpServers.s.command").as_string()).starts_with(d.file("config.json") + ":"));
}

TEST_CASE("reload: keys that hold from the daemon's start to its end are named") {
  daemon_under_test d(config().server("s", {"--only", "echo"}));
  auto c = d.session();
  rewrite(d, config()
                 .server("s", {"--only", "echo"})
                 .top("limits", R"({"callers": 77})")
                 .top("http", R"({"address": "127.0.0.1:0"})")
                 .top("audit", "false")
                 .top("store", R"({"maxAgeDays": 3})"));
  const auto told = c.request("mcpbx/reload");
  REQUIRE_FALSE(told.failed());
  CHECK(json::serialize(told.get("result.fromNextStart")) == R"(["store.maxAgeDays","http.address","limits.callers"])");
  CHECK(d.logs("hold from the daemon's next start: store.maxAgeDays, http.address, limits.callers"));
}

TEST_CASE("reload: a run ends with the model that it began with, and the next one gets the new one") {
  const world places;
  const std::string path = R"({"path":")" + places.file("go") + "\"}";
  const model_process old(R"({"models":{"id":[{"calls":[{"name":"s__wait_for_file","arguments":)" + path +
                          R"(}]},{"text":"from the old model"}]}})");
  const model_process fresh(R"({"models":{"id":[{"text":"from the new model"}]}})");
  daemon_under_test d(config().server("s", {"--log", places.file("calls")}).model("m", old.entry()));
  d.wait_ready({"s"});
  auto c = d.session();
  const auto first = c.start("mcpbx/chat", R"({"input":"q","model":"m/id"})");
  REQUIRE(eventually([&] { return read_file(places.file("calls")).contains("call wait_for_file"); }));
  rewrite(d, config().server("s", {"--log", places.file("calls")}).model("m", fresh.entry()));
  REQUIRE_FALSE(c.request("mcpbx/reload").failed());
  CHECK(text_at(c.request("mcpbx/chat", R"({"input":"q","model":"m/id"})").value, "result.text") ==
        "from the new model");
  places.write("go", "");
  CHECK(text_at(c.wait(first).value, "result.text") == "from the old model");
}

TEST_CASE("reload: callers bound to a profile hear that its tools have changed") {
  const auto with = [](std::string_view deny) {
    return config()
        .server("s", {"--only", "echo,add"})
        .top("profiles", R"({"p":{"tools":{"deny":[)" + std::string(deny) + "]}}}");
  };
  daemon_under_test d(with(R"("s__add")"));
  d.wait_ready({"s"});
  auto c = d.session();
  REQUIRE_FALSE(c.request("mcpbx/hello", R"({"profile":"p"})").failed());
  CHECK(c.tool_names() == std::vector<std::string>{"s__echo"});
  c.notifications.clear();
  rewrite(d, with(R"("s__echo")"));
  REQUIRE_FALSE(c.request("mcpbx/reload").failed());
  c.wait_notification("notifications/tools/list_changed");
  CHECK(c.tool_names() == std::vector<std::string>{"s__add"});
  CHECK(c.call("s__echo").failed());
}

TEST_CASE("`mcpbx reload` prints the files in force, and the errors of a wrong one with status 2") {
  daemon_under_test d(config().server("s", {"--only", "echo"}));
  const auto ok = run_cli(d, {"reload"});
  CHECK(ok.status == 0);
  CHECK(ok.out == "in force: " + d.file("config.json") + "\n");
  CHECK(ok.err == "");
  d.write("config.json", R"({"mcpServer": {}})");
  const auto wrong = run_cli(d, {"reload"});
  CHECK(wrong.status == 2);
  CHECK(wrong.out == "");
  CHECK(wrong.err == "mcpbx: the configuration is wrong, and the one before stays in force:\n" + d.file("config.json") +
                         ":1:2: unknown key, in \"mcpServer\": did you mean \"mcpServers\"?\n`mcpbx edit` opens it\n");
  const auto as_json = run_cli(d, {"--json", "reload"});
  CHECK(as_json.status == 2);
  CHECK(text_at(parse(as_json.out), "error.message").contains("did you mean"));
}

TEST_CASE("`mcpbx reload` starts no daemon") {
  const world nobody;
  const auto r = run_cli(nobody, {"reload"});
  CHECK(r.status == 3);
  CHECK(r.err.starts_with("mcpbx: "));
}

TEST_CASE(
    "watch: a changed file is read again by itself, a wrong one is told in the log, and one that is right again "
    "counts") {
  const auto with = [](const char* name) { return config().server(name, {"--only", "echo"}).top("watch", "true"); };
  daemon_under_test d(with("first"));
  d.wait_ready({"first"});
  auto c = d.session();
  rewrite(d, with("second"));
  CHECK(d.logs("reading the configuration again: a file has changed"));
  CHECK(eventually([&] { return offers(c, "second__echo"); }));
  d.write("config.json", R"({"mcpServer": {}})");
  CHECK(d.logs("the configuration is wrong, and the one before stays in force"));
  // As editors do it: the new file takes the old one's name.
  d.write("config.json.new", with("third").str());
  std::filesystem::rename(d.file("config.json.new"), d.file("config.json"));
  CHECK(eventually([&] { return offers(c, "third__echo"); }));
}
