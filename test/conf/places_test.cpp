// Where the socket and the state are.
#include "conf/places.hpp"

#include <doctest/doctest.h>

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
