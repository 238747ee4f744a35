// Tests of the paths of socket and state.
#include "conf/places.hpp"

#include <doctest/doctest.h>

#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

using namespace mcpbx::conf;

namespace {

environment with(std::map<std::string, std::string, std::less<>> values) {
  return {std::move(values)};
}

}  // namespace

TEST_CASE("places: the socket is where the first of flag or variable or runtime directory or home says") {
  const auto all = with({{"MCPBX_SOCKET", "/s"}, {"XDG_RUNTIME_DIR", "/run/u"}, {"HOME", "/h"}});
  CHECK(*socket_path(all, "rel/f") == "rel/f");
  CHECK(*socket_path(all) == "/s");
  CHECK(*socket_path(with({{"MCPBX_SOCKET", ""}, {"XDG_RUNTIME_DIR", "/run/u"}, {"HOME", "/h"}})) ==
        "/run/u/mcpbx/mcpbx.sock");
  CHECK(*socket_path(with({{"XDG_RUNTIME_DIR", "relative"}, {"HOME", "/h"}})) == "/h/.local/state/mcpbx/mcpbx.sock");
  CHECK(socket_path(with({})).error().message.ends_with("give one with --socket or MCPBX_SOCKET"));
  CHECK_FALSE(default_socket(all));
  CHECK_FALSE(default_socket(with({}), "/x"));
  CHECK(default_socket(with({{"HOME", "/h"}})));
}

TEST_CASE("places: a socket's path that is too long for the system is refused") {
  CHECK(socket_path(with({}), "/" + std::string(106, 'a')));
  const auto refused = socket_path(with({}), "/" + std::string(107, 'a'));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("108 bytes") != std::string::npos);
}

TEST_CASE("places: state and configuration follow the XDG variables") {
  CHECK(*state_directory(with({{"XDG_STATE_HOME", "/st"}, {"HOME", "/h"}})) == "/st/mcpbx");
  CHECK(*state_directory(with({{"HOME", "/h"}})) == "/h/.local/state/mcpbx");
  CHECK_FALSE(state_directory(with({})));
  CHECK(*user_config_directory(with({{"XDG_CONFIG_HOME", "/c"}, {"HOME", "/h"}})) == "/c/mcpbx");
  CHECK(*user_config_directory(with({{"HOME", "/h"}})) == "/h/.config/mcpbx");
  CHECK_FALSE(user_config_directory(with({})));
}

TEST_CASE("places: what a host has dropped is as the login has it, unless HOME is another one") {
  const login_places login{"/home/me", "/run/user/7"};
  const auto socket = [&](std::map<std::string, std::string, std::less<>> values) {
    return *socket_path(with_places(environment{std::move(values)}, login));
  };
  const std::filesystem::path usual = "/run/user/7/mcpbx/mcpbx.sock";
  CHECK(socket({{"HOME", "/home/me"}, {"XDG_RUNTIME_DIR", "/run/user/7"}}) == usual);
  CHECK(socket({{"HOME", "/home/me"}}) == usual);
  CHECK(socket({}) == usual);
  CHECK(socket({{"HOME", "/home/me"}, {"XDG_RUNTIME_DIR", ""}}) == usual);
  CHECK(socket({{"HOME", "/tmp/other"}}) == "/tmp/other/.local/state/mcpbx/mcpbx.sock");
  CHECK(socket({{"HOME", "/tmp/other"}, {"XDG_RUNTIME_DIR", "/tmp/run"}}) == "/tmp/run/mcpbx/mcpbx.sock");
  CHECK(*socket_path(with_places(environment{}, {"/home/me", ""})) == "/home/me/.local/state/mcpbx/mcpbx.sock");
}

TEST_CASE("places: the link to a running daemon is where whoever lost XDG_STATE_HOME looks too") {
  using paths = std::vector<std::filesystem::path>;
  CHECK(running_links(with({{"HOME", "/h"}})) == paths{"/h/.local/state/mcpbx/running"});
  CHECK(running_links(with({{"HOME", "/h"}, {"XDG_STATE_HOME", "/s"}})) ==
        paths{"/h/.local/state/mcpbx/running", "/s/mcpbx/running"});
  CHECK(running_links(with({{"HOME", "/h"}, {"XDG_STATE_HOME", "/h/.local/state"}})).size() == 1);
  CHECK(running_links(with({})).empty());
}

TEST_CASE("places: a runtime directory of somebody else or open to others is none") {
  char name[] = "/tmp/mcpbx-run-XXXXXX";
  REQUIRE(::mkdtemp(name) != nullptr);
  const std::filesystem::path run = name, mine = run / std::to_string(::geteuid());
  CHECK(login_places_of(::geteuid(), run).runtime_directory.empty());
  std::filesystem::create_directory(mine);
  std::filesystem::permissions(mine, std::filesystem::perms::owner_all);
  CHECK(login_places_of(::geteuid(), run).runtime_directory == mine);
  std::filesystem::permissions(mine, std::filesystem::perms::all);
  CHECK(login_places_of(::geteuid(), run).runtime_directory.empty());
  std::filesystem::remove_all(mine);
  std::filesystem::create_directory_symlink("/tmp", mine);
  CHECK(login_places_of(::geteuid(), run).runtime_directory.empty());
  std::filesystem::remove_all(run);
}
