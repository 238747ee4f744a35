// Names in the catalog, filters, and what a definition may not do (M4, G38, G44).
#include "test/e2e/harness/harness.hpp"

#include <doctest/doctest.h>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>

using namespace mcpbx::e2e;

namespace {

std::size_t count(const std::vector<std::string>& names, std::string_view name) {
  return static_cast<std::size_t>(std::ranges::count(names, name));
}

const std::set<std::string> odd_names{
    "a.b",
    "a_b",
    "a/b",
    "with space",
    "été",
    "__",
    "-",
    "a_name_that_is_longer_than_the_sixty_four_characters_that_model_providers_accept_1",
    "a_name_that_is_longer_than_the_sixty_four_characters_that_model_providers_accept_2"};

}  // namespace

TEST_CASE("G38: every tool is reachable under a name of its own, whatever it is called") {
  daemon_under_test d(config()
                          .server("a", {"--behave", "list-odd-names", "--only", "echo", "--tag", "server-a"})
                          .server("b", {"--only", "echo"})
                          .server("dup", {"--behave", "list-dup-names", "--only", "echo"})
                          .server("we.ird name", {"--only", "echo"})
                          .server("we__ird", {"--only", "echo"}));
  d.wait_ready({"a", "b", "dup", "we.ird name", "we__ird"});
  caller c = d.session();
  const auto names = c.tool_names();
  const std::set<std::string> unique(names.begin(), names.end());
  CHECK(unique.size() == names.size());
  CHECK(names.size() == odd_names.size() + 5);
  std::set<std::string> answered;
  for (const auto& name : names) {
    CHECK(name.size() <= 64);
    CHECK(name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") ==
          std::string::npos);
    const auto r = c.call(name, R"({"text":"echoed"})");
    CHECK_FALSE(r.failed());
    CHECK_FALSE(contains(r.line, "DUPLICATE"));
    if (name.starts_with("a__") && name != "a__echo") answered.insert(r.text());
  }
  CHECK(answered == odd_names);
  CHECK(d.logs("listed twice"));
}

TEST_CASE("G38: names are the same after a restart, whichever server is up first") {
  std::set<std::string> before;
  daemon_under_test d(config()
                          .server("one", {"--behave", "list-odd-names"})
                          .server("two", {"--behave", "list-odd-names"})
                          .server("three"));
  for (int round = 0; round < 3; ++round) {
    d.wait_ready({"one", "two", "three"});
    const auto names = d.session().tool_names();
    const std::set<std::string> now(names.begin(), names.end());
    if (round > 0) CHECK(now == before);
    before = now;
    CHECK(d.stop().status == 0);
    // The other way round in the file: only the order of the list may change.
    if (round == 0)
      d.write("config.json", config()
                                 .server("three")
                                 .server("two", {"--behave", "list-odd-names"})
                                 .server("one", {"--behave", "list-odd-names"})
                                 .str());
    d.start();
  }
}

TEST_CASE("G38: the list is in the order of the configuration") {
  daemon_under_test d(
      config().server("z", {"--only", "echo"}).server("a", {"--only", "echo"}).server("m", {"--only", "echo"}));
  d.wait_ready({"z", "a", "m"});
  CHECK(d.session().tool_names() == std::vector<std::string>{"z__echo", "a__echo", "m__echo"});
}

TEST_CASE("G38: plain names keep the first server's tool, and no server can take another's prefix") {
  daemon_under_test d(config()
                          .server("first", {"--only", "echo,add"})
                          .server("second", {"--only", "echo,env"})
                          .server("thief", {"--prefix", "first__", "--only", "echo"})
                          .top("toolNames", "\"plain\""));
  d.wait_ready({"first", "second", "thief"});
  caller c = d.session();
  const auto names = c.tool_names();
  CHECK(count(names, "echo") == 1);
  CHECK(count(names, "add") == 1);
  CHECK(count(names, "env") == 1);
  CHECK(count(names, "second__echo") == 1);
  CHECK(count(names, "first__echo") == 0);
  for (const auto& name : names) CHECK_FALSE(c.call(name, R"({"text":"x"})").failed());
}

TEST_CASE("G38: a plain name stays with the server that had it first, wherever a newcomer stands in the file") {
  const auto entry = [](config c) {
    return c.server("b", {"--only", "echo,add"}, R"("pin":"off")")
        .top("toolNames", "\"plain\"")
        .top("profiles", R"({"p":{"tools":{"deny":["echo"]}}})");
  };
  daemon_under_test d(entry(config()));
  d.wait_ready({"b"});
  CHECK(d.session().tool_names() == std::vector<std::string>{"echo", "add"});
  CHECK(d.stop().status == 0);
  d.write("config.json", entry(config().server("a", {"--only", "echo,env", "--tag", "thief"}, R"("pin":"off")")).str());
  d.start();
  d.wait_ready({"a", "b"});
  caller c = d.session();
  CHECK(c.tool_names() == std::vector<std::string>{"a__echo", "env", "echo", "add"});
  CHECK(contains(c.request("mcpbx/tools", R"({"name":"echo"})").line, R"("server":"b")"));
  // A name that a profile denies is denied for both servers.
  caller narrow = d.session();
  CHECK_FALSE(narrow.request("mcpbx/hello", R"({"profile":"p"})").failed());
  CHECK(narrow.tool_names() == std::vector<std::string>{"env", "add"});
  CHECK(narrow.call("a__echo", R"({"text":"x"})").failed());
  CHECK(narrow.call("echo", R"({"text":"x"})").failed());
}

TEST_CASE("G38: while who had a plain name first cannot be read, nobody has one") {
  daemon_under_test d(config().server("b", {"--only", "echo"}, R"("pin":"off")").top("toolNames", "\"plain\""));
  d.wait_ready({"b"});
  CHECK(d.session().tool_names() == std::vector<std::string>{"echo"});
  CHECK(d.stop().status == 0);
  const auto file = d.file(".local/state/mcpbx/pins.json");
  const auto good = read_file(file);
  CHECK(contains(good, R"("echo":[{"server":"b","tool":"echo"}])"));
  d.write(".local/state/mcpbx/pins.json", good.substr(0, 30));
  d.start();
  d.wait_ready({"b"});
  CHECK(d.session().tool_names() == std::vector<std::string>{"b__echo"});
  CHECK(contains(run_cli(d, {"servers"}).out, "plain names are given to whom had them first"));
}

TEST_CASE("G38: no server can have the prefix that is mcpbx's own") {
  daemon_under_test d(config().server("mcpbx", {"--only", "echo"}));
  d.wait_ready({"mcpbx"});
  caller c = d.session();
  const auto names = c.tool_names();
  REQUIRE(names.size() == 1);
  CHECK_FALSE(names[0].starts_with("mcpbx__"));
  CHECK(c.call(names[0], R"({"text":"reached"})").text() == "reached");
}

TEST_CASE("M4: allow, deny and rename of an entry decide what is listed and what can be called") {
  daemon_under_test d(
      config().server("s", {}, R"("tools":{"allow":["e*","add"],"deny":["env","error"],"rename":{"echo":"say"}})"));
  d.wait_ready({"s"});
  caller c = d.session();
  CHECK(c.tool_names() == std::vector<std::string>{"s__say", "s__add", "s__exit-in-call", "s__exit-after-answer"});
  CHECK(c.call("s__say", R"({"text":"renamed"})").text() == "renamed");
  for (const std::string_view name : {"s__echo", "s__env", "s__error", "s__raw"}) CHECK(c.call(name).code() == -32602);
}

TEST_CASE("G44: no shell sees the configuration, and environment and arguments arrive as they are") {
  const std::string nasty = "$(touch @DIR@/pwned) `touch @DIR@/pwned`; touch @DIR@/pwned | & > < * ? ~ \\ ' #";
  daemon_under_test d(config().server("s", {"--name", nasty}, R"("env":{"NASTY":)" + json_string(nasty) + "}"));
  caller c = d.session();
  CHECK(text_at(c.call("s__env").get("result.structuredContent"), "NASTY") == d.filled(nasty));
  for (const pid_t pid : d.tagged())
    CHECK(contains(read_file("/proc/" + std::to_string(pid) + "/cmdline"), d.filled(nasty)));
  CHECK_FALSE(std::filesystem::exists(d.file("pwned")));
}

TEST_CASE(
    "G44 F8: a schema that refers to the network is passed on to callers, told models without it, and never fetched") {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  REQUIRE(::bind(listener, reinterpret_cast<const sockaddr*>(&address), size) == 0);
  REQUIRE(::listen(listener, 8) == 0);
  REQUIRE(::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  const auto port = std::to_string(ntohs(address.sin_port));
  daemon_under_test d(config().server("s", {"--behave", "list-ref-net=" + port}));
  d.wait_ready({"s"});
  caller c = d.session();
  CHECK(contains(c.request("tools/list").line, R"({"$ref":"http://127.0.0.1:)" + port + "/schema.json\"}"));
  CHECK(c.call("s__ref_net", R"({"a":1})").text() == "ref_net");
  const auto shown = run_cli(d, {"tools", "s__ref_net", "--format", "openai"});
  CHECK(contains(shown.out, "which is not known here"));
  CHECK(contains(shown.err, "The tool \"s__ref_net\" is offered with changes: inputSchema.properties.a.$ref: "));
  CHECK(::accept(listener, nullptr, nullptr) < 0);
  ::close(listener);
}
