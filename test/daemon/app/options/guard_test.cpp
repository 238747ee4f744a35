// Options of pins and audit from a configuration.
#include "daemon/app/options/guard.hpp"

#include "test/daemon/app/loaded.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>

using namespace mcpbx;
using namespace mcpbx::daemon::options;
using namespace mcpbx::daemon::pins;
using mcpbx::daemon::test::loaded;

namespace {

conf::environment env_of(std::map<std::string, std::string> variables) {
  conf::environment env;
  for (auto& [name, value] : variables) env.values[name] = value;
  return env;
}

pin_mode mode_of(const std::string& entry) {
  return pin_options(loaded(R"({"mcpServers":{"s":)" + entry + "}}"), {}).servers.at(0).mode;
}

}  // namespace

TEST_CASE("G37: programs are watched, addresses are blocked, and the entry has the last word") {
  CHECK(mode_of(R"({"command":"x"})") == pin_mode::warn);
  CHECK(mode_of(R"({"url":"https://a.example/mcp"})") == pin_mode::block);
  CHECK(mode_of(R"({"command":"x","pin":"block"})") == pin_mode::block);
  CHECK(mode_of(R"({"command":"x","pin":"off"})") == pin_mode::off);
  CHECK(mode_of(R"({"url":"https://a.example/mcp","pin":"warn"})") == pin_mode::warn);
  CHECK(mode_of(R"({"command":"x","disabled":true})") == pin_mode::off);
}

TEST_CASE("G37: mcpbx's own tools need no pins when nothing is configured") {
  for (const auto& s : pin_options(loaded("{}"), {}).servers) CHECK(s.mode == pin_mode::off);
}

TEST_CASE("G37: where a server comes from is its entry's own text, without the values of references") {
  const auto o = pin_options(loaded(R"({"mcpServers":{
    "a":{"command":"x","args":["${env:TOKEN}","--y"]},"b":{"url":"https://a.example/mcp"}}})"),
                             env_of({{"XDG_STATE_HOME", "/state"}}));
  REQUIRE(o.path);
  CHECK(*o.path == "/state/mcpbx/pins.json");
  CHECK(o.servers.at(0).origin == R"({"args":["${env:TOKEN}","--y"],"command":"x","endpoint":""})");
  CHECK(o.servers.at(1).origin == R"({"args":[],"command":"","endpoint":"https://a.example/mcp"})");
  CHECK_FALSE(pin_options(loaded("{}"), {}).path);
}

TEST_CASE("G37 L19: names of variables and the folder are of where a server comes from, values and all else are not") {
  const auto origin = [](const std::string& more) {
    return pin_options(loaded(R"({"mcpServers":{"s":{"command":"x")" + more + "}}}"), {}).servers.at(0).origin;
  };
  CHECK(origin(R"(,"env":{"B":"1","A":"2"},"passEnv":["C","A"],"envFile":"~/e","cwd":"/srv")") ==
        R"({"args":[],"command":"x","cwd":"/srv","endpoint":"","env":["A","B","C"],"envFile":"~/e"})");
  CHECK(origin(R"(,"env":{"A":"1"})") == origin(R"(,"env":{"A":"2"})"));
  CHECK(origin(R"(,"maxRetries":1,"pin":"off","approve":["*"])") == origin(""));
}

TEST_CASE("G48: the audit is off, in the state directory, or where the configuration says") {
  const auto env = env_of({{"HOME", "/home/u"}});
  const auto path = [&](const std::string& text) {
    const auto o = audit_options(loaded(text), env);
    return o ? o->path.value_or("?") : "off";
  };
  CHECK(path("{}") == "off");
  CHECK(path(R"({"audit":false})") == "off");
  CHECK(path(R"({"audit":true})") == "/home/u/.local/state/mcpbx/audit.jsonl");
  CHECK(path(R"({"audit":"/var/log/calls"})") == "/var/log/calls");
  CHECK(path(R"({"audit":"~/calls"})") == "/home/u/calls");
  CHECK(path(R"({"audit":"calls"})") == "/home/u/calls");
  CHECK(audit_options(loaded(R"({"audit":true})"), env)->make_folder);
  CHECK_FALSE(audit_options(loaded(R"({"audit":"/x"})"), env)->make_folder);
}
