// Units of systemd, and what `mcpbx service` does with a systemd that a test plays.
#include "daemon/cli/service/user_service.hpp"

#include "daemon/cli/service/unit_files.hpp"
#include "test/support/contains.hpp"
#include "test/support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::cli::service;
using mcpbx::test::contains;

namespace {

std::string read(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// A person with a home and a systemd that notes its orders.
struct person {
  const test::temporary_directory home;
  std::vector<std::string> orders;
  std::string path = "/home/u/.local/bin:/usr/bin";
  bool manager = true;
  std::string refuses;  // the order that fails
  std::string properties =
      "Id=mcpbx.socket\nLoadState=loaded\nActiveState=active\nUnitFileState=enabled\n"
      "FragmentPath=/u/mcpbx.socket\n\nId=mcpbx.service\nActiveState=active\nMainPID=42\n";

  user_service service(const std::string& program = "/opt/mcpbx dir/mcpbxd", std::vector<std::string> packaged = {}) {
    conf::environment env;
    env.values = {{"HOME", home.path()}, {"PATH", path}};
    return {env,
            [this](const std::vector<std::string>& words) -> command_end {
              if (!manager) return {1, "Failed to connect to bus\n"};
              if (words.front() == "show") return {0, properties};
              orders.push_back(words.front() + (words.size() > 1 ? " " + words.back() : ""));
              if (words.front() == refuses) return {1, "first\nUnit is masked.\n"};
              return {0, ""};
            },
            program, std::move(packaged)};
  }
  std::string unit(const std::string& name) const { return home.path() + "/.config/systemd/user/" + name; }
};

}  // namespace

TEST_CASE("O6: enable writes units for a program that is no package, and lets systemd listen") {
  person p;
  const auto written = p.service().enable();
  REQUIRE(written);
  CHECK(*written ==
        std::vector<std::string>{p.unit("mcpbx.socket"), p.unit("mcpbx.service"), p.unit("mcpbx.service.d/path.conf")});
  CHECK(p.orders == std::vector<std::string>{"daemon-reload", "reset-failed mcpbx.service", "enable mcpbx.socket"});
  CHECK(contains(read(p.unit("mcpbx.service")),
                 "\nExecStart=\"/opt/mcpbx dir/mcpbxd\"\nExecReload=\"/opt/mcpbx dir/mcpbx\" reload\n"));
  CHECK(contains(read(p.unit("mcpbx.service.d/path.conf")), "\nEnvironment=\"PATH=/home/u/.local/bin:/usr/bin\"\n"));
  CHECK(p.service().enable()->empty());  // nothing has changed
  const auto removed = p.service().disable();
  REQUIRE(removed);
  CHECK(removed->size() == 3);
  CHECK_FALSE(std::filesystem::exists(p.unit("mcpbx.socket")));
  CHECK_FALSE(std::filesystem::exists(p.unit("mcpbx.service.d")));
}

TEST_CASE("service: with units of a package only the PATH is written") {
  person p;
  const test::temporary_directory packaged;
  packaged.write("mcpbx.socket", "[Socket]\n");
  CHECK(*p.service("/usr/bin/mcpbxd", {packaged.path()}).enable() ==
        std::vector<std::string>{p.unit("mcpbx.service.d/path.conf")});
  CHECK(p.service("/opt/mcpbxd", {packaged.path()}).enable()->size() == 2);  // another program than the package's
}

TEST_CASE("service: a unit that mcpbx did not write is left alone, and nothing else is written") {
  person p;
  std::filesystem::create_directories(p.unit("mcpbx.service.d"));
  std::ofstream(p.unit("mcpbx.service")) << "[Service]\nExecStart=/bin/mine\n";
  const auto refused = p.service().enable();
  REQUIRE_FALSE(refused);
  CHECK(contains(refused.error().message, "mcpbx.service is not from mcpbx, so it is left alone"));
  CHECK_FALSE(std::filesystem::exists(p.unit("mcpbx.socket")));
  CHECK(p.orders.empty());
  CHECK(p.service().disable()->empty());
  CHECK(read(p.unit("mcpbx.service")) == "[Service]\nExecStart=/bin/mine\n");
}

TEST_CASE("service: without systemd nothing is written, and the error says that none is needed") {
  person p;
  p.manager = false;
  for (const auto& got : {p.service().enable(), p.service().disable()}) {
    REQUIRE_FALSE(got);
    CHECK(got.error().code == errc::unavailable);
    CHECK(contains(got.error().message, "mcpbx needs none"));
  }
  CHECK_FALSE(p.service().state().manager);
  CHECK_FALSE(std::filesystem::exists(p.home.path() + "/.config"));
}

TEST_CASE("service: an order that systemd refuses is an error with its last words") {
  person p;
  p.refuses = "enable";
  const auto refused = p.service().enable();
  REQUIRE_FALSE(refused);
  CHECK(contains(refused.error().message, "`systemctl --user enable --now mcpbx.socket` failed: Unit is masked."));
}

TEST_CASE("service: the state is read from what systemd shows") {
  person p;
  auto s = p.service().state();
  CHECK(s.manager);
  CHECK(s.socket_enabled == "enabled");
  CHECK(s.socket == "active");
  CHECK(s.pid == "42");
  CHECK(s.file == "/u/mcpbx.socket");
  p.properties =
      "Id=mcpbx.socket\nLoadState=not-found\nActiveState=inactive\nUnitFileState=\n\nId=mcpbx.service\n"
      "ActiveState=inactive\nMainPID=0\n";
  s = p.service().state();
  CHECK(s.manager);
  CHECK(s.socket_enabled == "");
  CHECK(s.pid == "");
  p.properties = "garbage";
  CHECK(p.service().state().socket == "");
}

TEST_CASE("service: the path of a program and PATH are no specifier, no variable and no second word") {
  CHECK(unit_program("/a b/%h/$HOME\"\\") == "\"/a b/%%h/$HOME\\\"\\\\\"");
  CHECK(contains(path_drop_in("/a%b:/c$d\"").text, "Environment=\"PATH=/a%%b:/c$d\\\"\"\n"));
}

TEST_CASE(
    "service: units wait for the socket, tell when they are ready, and do not start a wrong configuration again") {
  for (const auto& units : {user_units("/usr/bin/mcpbxd"), system_units("/usr/bin/mcpbxd")}) {
    REQUIRE(units.size() == 2);
    CHECK(contains(units[0].text, "\nSocketMode=0600\n"));
    for (const auto* line : {"\nType=notify\n", "\nWatchdogSec=60\n", "\nDelegate=yes\n", "\nKillMode=mixed\n",
                             "\nRestartPreventExitStatus=2 78 203\n", "\nNoNewPrivileges=yes\n"})
      CHECK_MESSAGE(contains(units[1].text, line), line);
    CHECK(contains(
        units[1].text,
        "\nRequires=" +
            units[0].name.substr(0, units[0].name.find('.')).append(units[0].name.starts_with("mcpbx@") ? "%i" : "") +
            ".socket\n"));
  }
}

TEST_CASE("service: a path that would end a line of a unit is never written into one") {
  person p;
  const auto refused = p.service("/opt/x\rExecStartPre=/bin/evil\n/mcpbxd").enable();
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == errc::config);
  CHECK_FALSE(std::filesystem::exists(p.unit("mcpbx.service")));
  CHECK(p.orders.empty());
  p.path = "/usr/bin:/x\rExecStartPre=/bin/evil";
  REQUIRE(p.service().enable());
  CHECK_FALSE(std::filesystem::exists(p.unit("mcpbx.service.d/path.conf")));
}
