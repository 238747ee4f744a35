// Nothing outside the given folders can be opened, whichever way the kernel offers.
#include "daemon/toolbox/folders.hpp"

#include "daemon/toolbox/files.hpp"
#include "test/daemon/toolbox/folder_fixture.hpp"
#include "test/support/contains.hpp"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

using namespace mcpbx::toolbox;
using mcpbx::test::contains;
namespace fs = std::filesystem;

namespace {

std::string refusal(const folders& f, std::string_view path) {
  const auto place = open_regular(f, path);
  return place ? "opened" : place.error().message;
}

}  // namespace

TEST_CASE("folders: both ways of opening refuse links and ways out alike") {
  const temporary_folder t;
  t.write("in/a.txt", "a");
  t.write("outside.txt", "secret");
  fs::create_symlink(t.path("outside.txt"), t.path("in/link"));
  fs::create_symlink("a.txt", t.path("in/inner_link"));
  fs::create_directory_symlink(t.path(), t.path("in/up"));
  fs::create_directory_symlink(".", t.path("in/self"));
  const descriptor root(::open(t.path("in").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  for (const auto way : {open_way::best, open_way::stepwise}) {
    CAPTURE(static_cast<int>(way));
    const auto open = [&](const char* path, int flags = O_RDONLY) {
      return open_beneath(root.get(), path, flags, way);
    };
    const descriptor file(open("a.txt")), folder(open("", O_RDONLY | O_DIRECTORY)),
        dot(open(".", O_RDONLY | O_DIRECTORY));
    CHECK(file);
    CHECK(folder);
    CHECK(dot);
    CHECK((::fcntl(file.get(), F_GETFD) & FD_CLOEXEC) != 0);
    CHECK(open("link") == -ELOOP);
    CHECK(open("link", O_PATH) == -ELOOP);
    CHECK(open("inner_link") == -ELOOP);
    CHECK(open("up/outside.txt") == -ELOOP);
    CHECK(open("self/a.txt") == -ELOOP);
    CHECK(open("../outside.txt") == -EXDEV);
    CHECK(open("self/../../outside.txt") < 0);
    CHECK(open("/etc/passwd") == -EXDEV);
    CHECK(open("nobody") == -ENOENT);
    CHECK(open("a.txt/b") == -ENOTDIR);
  }
}

TEST_CASE("folders: paths are refused in words") {
  const temporary_folder t;
  t.write("in/a.txt", "a");
  t.write("in/sub/b.txt", "b");
  t.write("in-but-not/c.txt", "c");
  fs::create_symlink("/etc/passwd", t.path("in/link"));
  REQUIRE(::mkfifo(t.path("in/pipe").c_str(), 0600) == 0);
  const auto f = folders::open({t.path("in")});
  REQUIRE(f.has_value());
  CHECK(refusal(*f, "a.txt") == "opened");
  CHECK(refusal(*f, "./sub//b.txt") == "opened");
  CHECK(refusal(*f, t.path("in/sub/b.txt")) == "opened");
  CHECK(contains(refusal(*f, "../in-but-not/c.txt"), "holds \"..\""));
  CHECK(contains(refusal(*f, "sub/../a.txt"), "holds \"..\""));
  CHECK(
      contains(refusal(*f, t.path("in-but-not/c.txt")), "lies outside the folders that can be read: " + t.path("in")));
  CHECK(contains(refusal(*f, "/etc/passwd"), "lies outside"));
  CHECK(contains(refusal(*f, "/"), "lies outside"));
  CHECK(contains(refusal(*f, "link"), "links are not followed"));
  CHECK(contains(refusal(*f, "pipe"), "is a pipe, not a file"));
  CHECK(contains(refusal(*f, "sub"), "is a folder, not a file; list_files"));
  CHECK(contains(refusal(*f, ""), "is a folder, not a file"));
  CHECK(contains(refusal(*f, "nobody"), "does not exist in " + t.path("in")));
  CHECK(contains(refusal(*f, std::string_view("a.txt\0.png", 10)), "NUL"));
  CHECK(contains(refusal(*f, std::string(5000, 'x')), "too long"));
  CHECK(contains(refusal(*f, "a\x1B[31m"), "does not exist"));
  CHECK_FALSE(contains(refusal(*f, "a\x1B[31m"), "\x1B"));
}

TEST_CASE("folders: a relative path is looked for in each folder, in their order") {
  const temporary_folder t;
  t.write("one/a.txt", "1");
  t.write("two/a.txt", "2");
  t.write("two/b.txt", "2");
  const auto f = folders::open({t.path("one"), t.path("two")});
  REQUIRE(f.has_value());
  CHECK(f->open_path("a.txt", O_RDONLY)->shown() == t.path("one/a.txt"));
  CHECK(f->open_path("b.txt", O_RDONLY)->shown() == t.path("two/b.txt"));
  CHECK(f->names() == t.path("one") + ", " + t.path("two"));
}

TEST_CASE("folders: a link that the user gave is followed once, and both of its names work") {
  const temporary_folder t;
  t.write("real/a.txt", "1");
  fs::create_directory_symlink(t.path("real"), t.path("alias"));
  const auto f = folders::open({t.path("alias")});
  REQUIRE(f.has_value());
  CHECK(f->open_path(t.path("alias/a.txt"), O_RDONLY)->shown() == t.path("real/a.txt"));
  CHECK(f->open_path(t.path("real/a.txt"), O_RDONLY).has_value());
}

TEST_CASE("folders: what is no folder is refused at the start") {
  const temporary_folder t;
  t.write("a.txt", "1");
  CHECK(contains(folders::open({t.path("nobody")}).error().message, "No such file"));
  CHECK(contains(folders::open({t.path("a.txt")}).error().message, "is no folder"));
  CHECK(folders::open({})->empty());
}

TEST_CASE("folders: binary is told from text") {
  CHECK_FALSE(is_binary(""));
  CHECK_FALSE(is_binary("plain text\n"));
  CHECK_FALSE(is_binary("gr\xC3\xBC\xC3\x9F dich\n"));
  CHECK_FALSE(is_binary("a line of Latin-1 with one \xFC in it"));
  CHECK(is_binary(std::string_view("PK\x03\x04\0\0", 6)));
  CHECK(is_binary("\xFF\xD8\xFF\xE0\x80\x81\x82\x83\x84\x85\x86\x87\x88"));
}
