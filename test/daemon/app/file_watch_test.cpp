// Watched folders: bursts of events, other folders, and the end.
#include "daemon/app/file_watch.hpp"

#include "test/support/manual_time.hpp"
#include "test/support/temporary_directory.hpp"

#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <vector>

namespace file_watch_test {

using namespace mcpbx;
using mcpbx::daemon::app::file_watch;

struct rig {
  mcpbx::test::temporary_directory folder;
  boost::asio::io_context io;
  mcpbx::test::manual_time time;
  int changes = 0;
  async::lane disk{"test", 1};
  std::unique_ptr<file_watch> watch =
      std::make_unique<file_watch>(io.get_executor(), time, disk, [this] { ++changes; });

  /// Waits for the lane, and handles the events that the kernel has.
  void look() {
    std::promise<void> over;
    REQUIRE(disk.post([&] { over.set_value(); }).has_value());
    over.get_future().wait();
    io.restart();
    while (io.poll() > 0) io.restart();
  }
  void set_files(const std::vector<std::string>& files) {
    watch->set_files(files);
    look();
  }
  void advance(milliseconds by) {
    time.advance(by);
    look();
  }
};

TEST_CASE("watch: a burst of events is told once, after a pause") {
  rig r;
  r.set_files({r.folder / "config.json"});
  for (int i = 0; i < 5; ++i) {
    r.folder.write("config.json", std::to_string(i));
    r.look();
    r.advance(file_watch::quiet - milliseconds(1));
    CHECK(r.changes == 0);
  }
  r.advance(milliseconds(1));
  CHECK(r.changes == 1);
  r.advance(file_watch::longest);
  CHECK(r.changes == 1);
}

TEST_CASE("watch: events without a pause are told in bounded time") {
  rig r;
  r.set_files({r.folder / "config.json"});
  for (milliseconds passed(0); passed < file_watch::longest; passed += milliseconds(100)) {
    CHECK(r.changes == 0);
    r.folder.write("config.json", "x");
    r.look();
    r.advance(milliseconds(100));
  }
  CHECK(r.changes == 1);
}

TEST_CASE("watch: a file that takes the name is a change, and so is one behind a link") {
  rig r;
  const mcpbx::test::temporary_directory elsewhere;
  elsewhere.write("real.json", "1");
  std::filesystem::create_symlink(elsewhere / "real.json", r.folder / "config.json");
  r.set_files({r.folder / "config.json"});
  elsewhere.write("real.json", "2");
  r.look();
  r.advance(file_watch::quiet);
  CHECK(r.changes == 1);
  r.folder.write("other", "x");
  std::filesystem::rename(r.folder / "other", r.folder / "config.json");
  r.look();
  r.advance(file_watch::quiet);
  CHECK(r.changes == 2);
}

TEST_CASE("watch: rights that change are a change, and so is a folder that gives its name to another one") {
  rig r;
  const std::string inner = r.folder / "conf";
  std::filesystem::create_directory(inner);
  r.folder.write("conf/config.json", "1");
  r.set_files({inner + "/config.json"});
  std::filesystem::permissions(inner + "/config.json", std::filesystem::perms::owner_read);
  r.look();
  r.advance(file_watch::quiet);
  CHECK(r.changes == 1);
  std::filesystem::rename(inner, r.folder / "old");
  std::filesystem::create_directory(inner);
  r.look();
  r.advance(file_watch::quiet);
  CHECK(r.changes == 2);
  r.set_files({inner + "/config.json"});
  r.folder.write("conf/config.json", "2");
  r.look();
  r.advance(file_watch::quiet);
  CHECK(r.changes == 3);
}

TEST_CASE("watch: nothing is told of folders that are not watched any more, nor behind the end") {
  rig r;
  r.set_files({r.folder / "config.json"});
  r.folder.write("config.json", "1");
  r.look();
  r.set_files({});
  r.folder.write("config.json", "2");
  r.look();
  r.advance(file_watch::longest);
  CHECK(r.changes == 0);
  r.set_files({r.folder / "config.json", "/no/such/folder/x"});
  r.folder.write("config.json", "3");
  r.look();
  r.watch.reset();
  r.look();
  r.advance(file_watch::longest);
  CHECK(r.changes == 0);
}

TEST_CASE("watch: folders that cannot be looked up hold up nobody but the lane") {
  rig r;
  std::promise<void> mount;
  REQUIRE(r.disk.post([held = mount.get_future().share()] { held.wait(); }).has_value());
  r.watch->set_files({r.folder / "config.json"});  // returns although the lane is stuck
  r.watch->set_files({r.folder / "other/config.json"});
  r.watch->set_files({r.folder / "config.json"});
  mount.set_value();
  r.look();
  r.look();
  r.folder.write("config.json", "1");
  r.look();
  r.advance(file_watch::quiet);
  CHECK(r.changes == 1);
}

}  // namespace file_watch_test
