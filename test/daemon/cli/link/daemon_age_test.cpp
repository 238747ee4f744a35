// Tests of the detection of an outdated daemon.
#include "daemon/cli/link/daemon_age.hpp"

#include <doctest/doctest.h>

#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <map>
#include <string>

using namespace mcpbx;
using namespace mcpbx::cli::link;
using namespace mcpbx::json;

namespace {

variable_source from(const std::map<std::string, std::string>& values) {
  return [values](std::string_view name) -> std::optional<std::string> {
    const auto found = values.find(std::string(name));
    return found == values.end() ? std::nullopt : std::optional(found->second);
  };
}

std::string news(const std::string& hello, const std::map<std::string, std::string>& here,
                 const std::map<std::string, std::string>& there) {
  return what_is_new(*raw_json::parse(hello), from(here), from(there)).text;
}

}  // namespace

TEST_CASE("cli: a key that is exported here and not there is new, one that is only there is not") {
  const std::string hello = R"({"variables":["A_KEY","B_KEY"],"configuration":[],"changedFiles":[]})";
  CHECK(news(hello, {{"A_KEY", "1"}}, {{"A_KEY", "1"}, {"B_KEY", "2"}}) == "");
  CHECK(news(hello, {{"OTHER", "1"}}, {}) == "");
  CHECK(news(hello, {{"A_KEY", ""}}, {}) == "");
  CHECK(news(hello, {{"A_KEY", "secret"}}, {}) == "A_KEY is not what the daemon was started with");
  CHECK(news(hello, {{"A_KEY", "x"}, {"B_KEY", "y"}}, {{"A_KEY", "z"}}) ==
        "A_KEY, B_KEY are not what the daemon was started with");
  // Unreadable variables give no claim, and an older daemon reports nothing.
  CHECK(what_is_new(*raw_json::parse(hello), from({{"A_KEY", "1"}}), nullptr).text == "");
  CHECK(news(R"({"version":"0.1.0"})", {{"A_KEY", "1"}}, {}) == "");
}

TEST_CASE("cli: files that have changed are named, and a configuration that the daemon does not read") {
  CHECK(news(R"({"changedFiles":["/c.json"]})", {}, {}) == "/c.json has changed since the daemon read it");
  CHECK(news(R"({"changedFiles":["/a","/b"]})", {}, {}) == "/a, /b have changed since the daemon read them");
  CHECK(what_is_new(*raw_json::parse(R"({"changedFiles":["/c.json"]})"), from({}), from({})).reload_helps);
  const std::string hello = R"({"configuration":["/etc/mcpbx/config.json"],"changedFiles":[]})";
  CHECK(news(hello, {{"MCPBX_CONFIG", "/etc/mcpbx/config.json"}}, {}) == "");
  CHECK(news(hello, {{"MCPBX_CONFIG", "/etc/../etc/mcpbx/config.json"}}, {}) == "");
  CHECK(news(hello, {{"MCPBX_CONFIG", "/mine.json"}}, {}) ==
        "the daemon does not read /mine.json, which MCPBX_CONFIG names");
}

TEST_CASE("cli: the variables of a process are read where they may be") {
  const auto mine = variables_of(::getpid());
  REQUIRE(mine);
  CHECK((*mine)("PATH").has_value());
  CHECK_FALSE((*mine)("NO_SUCH_VARIABLE_AT_ALL").has_value());
  CHECK_FALSE(variables_of(-1));
  CHECK_FALSE(variables_of(0x7fffffff));
}

TEST_CASE("cli: a socket of systemd is known by the name of the process that made it") {
  std::array<int, 2> ends{};
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
  const daemon_connection link(ends[0]);
  std::array<char, 16> before{};
  ::prctl(PR_GET_NAME, before.data());
  CHECK_FALSE(is_socket_of_systemd(link));
  ::prctl(PR_SET_NAME, "systemd");
  CHECK(is_socket_of_systemd(link));
  ::prctl(PR_SET_NAME, "systemd-helper");
  CHECK_FALSE(is_socket_of_systemd(link));
  ::prctl(PR_SET_NAME, before.data());
  ::close(ends[1]);
}
