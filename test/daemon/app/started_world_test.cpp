// Tests of changes since a daemon's start, and of the link by which the daemon is found.
#include "daemon/app/started_world.hpp"

#include "daemon/app/callers/running_link.hpp"
#include "mcp/socket/unix_socket.hpp"
#include "test/support/contains.hpp"
#include "test/support/manual_time.hpp"
#include "test/support/temporary_directory.hpp"

#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon::app;
using namespace mcpbx::daemon::callers;
using namespace mcpbx::test;
namespace fs = std::filesystem;

namespace {

using names = std::vector<std::string>;

struct configured {
  configured() {
    fs::create_directories(dir / "mcpbx/config.d");
    fs::permissions(dir / "mcpbx", fs::perms::owner_all);
    fs::permissions(dir / "mcpbx/config.d", fs::perms::owner_all);
    write("config.json", R"({"models":{"m":{"api":"openai-chat","model":"x","apiKey":"${env:SOME_KEY}"}}})");
    env.values["XDG_CONFIG_HOME"] = dir.path();
  }
  void write(const std::string& name, const std::string& text) { dir.write("mcpbx/" + name, text); }
  std::string path(const std::string& name) const { return dir / ("mcpbx/" + name); }
  started_world begin() const {
    auto loaded = conf::load_files(env, options);
    REQUIRE(loaded.ok());
    return {env, options, loaded.config, loaded.read, true};
  }
  temporary_directory dir;
  conf::environment env;
  conf::file_options options{.flag = {}, .system_directory = "/nonexistent", .user = {}};
};

}  // namespace

TEST_CASE("cli: the variables of a configuration are those that its references name") {
  CHECK(variables_in(R"("a":"${env:KEY}-${HOME}-${X:-y}","b":"${file:~/k}${cmd:pass show}$${no}${}${1a}${env:})") ==
        names{"KEY", "HOME", "X", "no"});
  CHECK(variables_in("${").empty());
  CHECK(variables_in("${unclosed").empty());
}

TEST_CASE("cli: a file that is replaced while it is being read counts as changed") {
  configured c;
  const auto loaded = conf::load_files(c.env, c.options);
  c.write("config.json", "{}");
  started_world world(c.env, c.options, loaded.config, loaded.read, true);
  CHECK(world.files()->changed() == names{c.path("config.json")});
}

TEST_CASE("cli: a file that is new or another one or gone is told, one that was only written again is not") {
  configured c;
  auto world = c.begin();
  CHECK(world.variables() == names{"SOME_KEY"});
  CHECK(world.files()->changed().empty());
  c.write("config.json", R"({"models":{"m":{"api":"openai-chat","model":"x","apiKey":"${env:SOME_KEY}"}}})");
  CHECK(world.files()->changed().empty());
  c.write("config.d/a.json", "{}");
  CHECK(world.files()->changed() == names{c.path("config.d/a.json")});
  fs::remove(c.path("config.d/a.json"));
  CHECK(world.files()->changed().empty());
  c.write("config.json", R"({"models":{}})");
  CHECK(world.files()->changed() == names{c.path("config.json")});
  fs::remove(c.path("config.json"));
  CHECK(world.files()->changed() == names{c.path("config.json")});
}

TEST_CASE("cli: without a configuration the keys of the defaults count, and so does a file that appears") {
  configured c;
  fs::remove(c.path("config.json"));
  auto world = c.begin();
  CHECK(world.variables() == names{"ANTHROPIC_API_KEY", "OPENAI_API_KEY"});
  c.write("config.json", "{}");
  CHECK(world.files()->changed() == names{c.path("config.json")});
}

TEST_CASE(
    "G42: a daemon of the same user at another place is found by its link, a link that leads nowhere is taken over") {
  temporary_directory dir;
  conf::environment env;
  env.values["HOME"] = dir.path();
  const std::string link = dir / ".local/state/mcpbx/running", first = dir / "first", second = dir / "second";
  fs::create_directories(dir / ".local/state/mcpbx");
  REQUIRE(mcp::socket::set_link(link, dir / "gone"));
  boost::asio::io_context io;
  mcpbx::test::manual_time time;
  auto mine = running_link::take(env, first);
  REQUIRE(mine);
  auto listener = mcp::socket::unix_listener::open(io.get_executor(), time, first);
  REQUIRE(listener);
  mine->show();
  CHECK(fs::read_symlink(link) == first);
  const auto other = running_link::take(env, second);
  REQUIRE_FALSE(other);
  CHECK(contains(other.error().message, "already runs at " + first));
  CHECK(fs::read_symlink(link) == first);
  CHECK(running_link::take(env, first));  // the lock of the socket decides there
  CHECK(fs::read_symlink(link) == first);
  // It goes with its daemon, unless it is another one's by then.
  REQUIRE(mcp::socket::set_link(link, second));
  *mine = running_link();
  CHECK(fs::read_symlink(link) == second);
}
