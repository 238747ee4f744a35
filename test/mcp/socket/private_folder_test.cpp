// The folder of a private daemon: removed by its maker, by the daemon, or by the next maker.
#include "mcp/socket/private_folder.hpp"

#include "test/support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

using namespace mcpbx;
using namespace mcpbx::mcp::process;
using namespace mcpbx::mcp::socket;
namespace fs = std::filesystem;

namespace {

struct place {
  test::temporary_directory parent;

  /// Makes the remains of a killed maker and a killed daemon.
  std::string leftover(const std::string& name) const {
    const std::string path = parent / name;
    REQUIRE(::mkdir(path.c_str(), 0700) == 0);
    for (const char* file : {"mcpbx.sock", "mcpbx.sock.lock", "mcpbxd.log"}) std::ofstream(path + "/" + file) << "x";
    return path;
  }
  std::size_t count() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(parent.path()), fs::directory_iterator()));
  }
};

}  // namespace

TEST_CASE("private_folder: it is for its user alone, and gone with the one who made it") {
  const place p;
  {
    auto folder = private_folder::make(p.parent.path());
    REQUIRE(folder.has_value());
    CHECK(fs::status(folder->path()).permissions() == fs::perms::owner_all);
    std::ofstream(folder->log()) << "x";
    std::ofstream(folder->socket()) << "x";
    private_folder moved = std::move(*folder);
    CHECK(fs::exists(moved.socket()));
  }
  CHECK(p.count() == 0);
  const auto none = private_folder::make(p.parent / "missing");
  REQUIRE_FALSE(none.has_value());
  CHECK(none.error().message.find(p.parent / "missing") != std::string::npos);
}

TEST_CASE("private_folder: the next maker sweeps what dead ones left, and nothing else") {
  const place p;
  p.leftover("mcpbx-standalone-aaaaaa");
  REQUIRE(::mkdir((p.parent / "mcpbx-standalone-bbbbbb").c_str(), 0700) == 0);
  const auto held = private_folder::make(p.parent.path());
  REQUIRE(held.has_value());
  CHECK(p.count() == 1);

  // A maker that lives, a daemon that outlived its maker, a folder of another kind, one that others may enter, one with
  // something of the user's, a link, a file.
  const std::string stopping = p.leftover("mcpbx-standalone-cccccc");
  const unique_fd daemon(::open((stopping + "/mcpbx.sock.lock").c_str(), O_RDWR | O_CLOEXEC));
  REQUIRE(::flock(daemon.get(), LOCK_EX | LOCK_NB) == 0);
  const std::string other = p.leftover("mcpbx-other-aaaaaa");
  const std::string open = p.leftover("mcpbx-standalone-dddddd");
  fs::permissions(open, fs::perms::owner_all | fs::perms::group_exec);
  const std::string used = p.leftover("mcpbx-standalone-eeeeee");
  std::ofstream(used + "/notes.txt") << "x";
  fs::create_directory_symlink(other, p.parent / "mcpbx-standalone-ffffff");
  p.parent.write("mcpbx-standalone-gggggg", "x");
  const auto next = private_folder::make(p.parent.path());
  REQUIRE(next.has_value());
  CHECK(fs::exists(held->path()));
  CHECK(fs::exists(stopping + "/mcpbx.sock"));
  CHECK(fs::exists(other + "/mcpbx.sock"));
  CHECK(fs::exists(open + "/mcpbx.sock"));
  CHECK(fs::exists(used + "/notes.txt"));
  CHECK(fs::is_symlink(p.parent / "mcpbx-standalone-ffffff"));
  CHECK(fs::exists(p.parent / "mcpbx-standalone-gggggg"));
}

TEST_CASE("private_folder: a daemon removes it by its path, and only what such a folder holds") {
  const place p;
  const std::string folder = p.leftover("mcpbx-standalone-aaaaaa");
  std::ofstream(folder + "/notes.txt") << "x";
  remove_private_folder(folder);
  CHECK(fs::exists(folder + "/notes.txt"));
  CHECK_FALSE(fs::exists(folder + "/mcpbx.sock"));
  fs::remove(folder + "/notes.txt");
  remove_private_folder(folder);
  CHECK(p.count() == 0);
  remove_private_folder(folder);
}
