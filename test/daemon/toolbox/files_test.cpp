// The file tools through the server: what they show, what they refuse, where they stop.
#include "test/daemon/toolbox/protocol_fixture.hpp"
#include "test/support/contains.hpp"

#include <boost/json.hpp>
#include <doctest/doctest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

using namespace mcpbx::toolbox;
using mcpbx::test::contains;
namespace fs = std::filesystem;

TEST_CASE("list_files: shows type, name and size, sorted, links as links") {
  const temporary_folder t;
  t.write("b.txt", "12345");
  t.write("a/inner.txt", "x");
  fs::create_symlink("/etc", t.path("c"));
  REQUIRE(::mkfifo(t.path("d").c_str(), 0600) == 0);
  t.write("e\x1B[31m\n", "");
  client c({t.path()});
  c.open();
  const auto list = c.call("list_files", boost::json::object());
  CHECK(list.text.starts_with(t.path() + "\nfolder  a\nfile  b.txt  5 bytes\nlink  c\npipe  d\nfile  e"));
  CHECK_FALSE(contains(list.text, "\x1B"));
  CHECK(c.call("list_files", boost::json::value{{"path", "a"}}).text == t.path("a") + "\nfile  inner.txt  1 bytes\n");
  CHECK(c.call("list_files", boost::json::value{{"path", "c"}}).failed);
  CHECK(contains(c.call("list_files", boost::json::value{{"path", "b.txt"}}).text, "no folder"));
  fs::create_directory(t.path("empty"));
  CHECK(contains(c.call("list_files", boost::json::value{{"path", "empty"}}).text, "(empty)"));
}

TEST_CASE("list_files: long lists are cut with a word about it") {
  const temporary_folder t;
  for (int i = 0; i < 1005; ++i) t.write("f" + std::to_string(i), "");
  client c({t.path()});
  c.open();
  const auto list = c.call("list_files", boost::json::object());
  REQUIRE(list.notes.size() == 1);
  CHECK(list.notes[0].starts_with("5 more entries"));
}

TEST_CASE("list_files: several folders are listed by name") {
  const temporary_folder one, two;
  client c({one.path(), two.path()});
  c.open();
  CHECK(c.call("list_files", boost::json::object()).text == "folder  " + one.path() + "\nfolder  " + two.path() + "\n");
}

TEST_CASE("read_file: reads all, or some lines") {
  const temporary_folder t;
  t.write("a.txt", "one\ntwo\nthree\nfour");
  client c({t.path()});
  c.open();
  const auto read = [&](std::int64_t offset, std::int64_t limit) {
    return c.call("read_file", boost::json::value{{"path", "a.txt"}, {"offset", offset}, {"limit", limit}});
  };
  CHECK(c.call("read_file", boost::json::value{{"path", "a.txt"}}).text == "one\ntwo\nthree\nfour");
  CHECK(c.call("read_file", boost::json::value{{"path", t.path("a.txt")}}).notes.empty());
  CHECK(read(2, 2).text == "two\nthree\n");
  REQUIRE(read(2, 2).notes.size() == 1);
  CHECK(read(2, 2).notes[0] == "There is more: go on with offset 4.");
  CHECK(read(4, 1).text == "four");
  CHECK(read(4, 9).notes.empty());
  CHECK(read(5, 1).text == "\"a.txt\" has only 4 lines.");
  CHECK(read(5, 1).failed);
  CHECK(contains(read(0, 1).text, "\"offset\" must be a whole number from 1"));
  CHECK(contains(read(1, -1).text, "not -1."));
  CHECK(contains(c.call("read_file", boost::json::value{{"path", "a.txt"}, {"offset", "2"}}).text, "not a text."));
}

TEST_CASE("read_file: a trailing line feed is no line of its own") {
  const temporary_folder t;
  t.write("a.txt", "one\ntwo\n");
  t.write("empty.txt", "");
  client c({t.path()});
  c.open();
  CHECK(c.call("read_file", boost::json::value{{"path", "a.txt"}, {"offset", 3}}).text ==
        "\"a.txt\" has only 2 lines.");
  CHECK(c.call("read_file", boost::json::value{{"path", "a.txt"}, {"limit", 2}}).notes.empty());
  CHECK(c.call("read_file", boost::json::value{{"path", "empty.txt"}}).text == "The file is empty.");
}

TEST_CASE("read_file: stops at 256 KiB with whole lines and says where to go on") {
  const temporary_folder t;
  std::string big;
  for (int i = 1; i <= 40000; ++i) big += "line " + std::to_string(i) + "\n";
  t.write("big.txt", big);
  t.write("one-line.txt", std::string(300 << 10, 'x'));
  client c({t.path()});
  c.open();
  std::string all;
  std::int64_t offset = 1;
  for (int rounds = 0; rounds < 10; ++rounds) {
    const auto part = c.call("read_file", boost::json::value{{"path", "big.txt"}, {"offset", offset}});
    REQUIRE_FALSE(part.failed);
    CHECK(part.text.size() <= 256 << 10);
    CHECK(part.text.ends_with('\n'));
    all += part.text;
    if (part.notes.empty()) break;
    offset = std::stoll(part.notes[0].substr(part.notes[0].rfind(' ') + 1));
  }
  CHECK(all == big);
  const auto cut = c.call("read_file", boost::json::value{{"path", "one-line.txt"}});
  CHECK(cut.text.size() == 256 << 10);
  REQUIRE(cut.notes.size() == 1);
  CHECK(contains(cut.notes[0], "longer than 256 KiB"));
}

TEST_CASE("read_file: refuses what it must in words") {
  const temporary_folder t;
  t.write("in/bin", std::string("\x7F\x45LF\0\0\0", 7));
  t.write("in/late.bin", std::string(5000, 'a') + std::string(1, '\0'));
  t.write("out.txt", "secret");
  fs::create_symlink("../out.txt", t.path("in/link"));
  REQUIRE(::mkfifo(t.path("in/pipe").c_str(), 0600) == 0);
  client c({t.path("in")});
  c.open();
  const auto refused = [&](std::string_view path) {
    const auto r = c.call("read_file", boost::json::value{{"path", path}});
    CHECK(r.failed);
    CHECK_FALSE(contains(r.text, "secret"));
    return r.text;
  };
  CHECK(contains(refused("bin"), "is a binary file"));
  CHECK(contains(refused("late.bin"), "is a binary file"));
  CHECK(contains(refused("link"), "links are not followed"));
  CHECK(contains(refused("../out.txt"), "holds \"..\""));
  CHECK(contains(refused(t.path("out.txt")), "lies outside"));
  CHECK(contains(refused("pipe"), "is a pipe"));
  CHECK(contains(refused(std::string_view("a\0b", 3)), "NUL"));
  CHECK(contains(refused("/dev/zero"), "lies outside"));
}

TEST_CASE("file_info: tells what is there, never of links") {
  const temporary_folder t;
  t.write("a.txt", "12345");
  REQUIRE(::chmod(t.path("a.txt").c_str(), 0640) == 0);
  fs::create_symlink("a.txt", t.path("link"));
  client c({t.path()});
  c.open();
  const auto info = c.call("file_info", boost::json::value{{"path", "a.txt"}});
  CHECK(info.structured.at("type") == "file");
  CHECK(info.structured.at("size") == 5);
  CHECK(info.structured.at("mode") == "0640");
  CHECK(info.structured.at("path").as_string() == t.path("a.txt"));
  CHECK(c.call("file_info", boost::json::value{{"path", "."}}).structured.at("type") == "folder");
  CHECK(c.call("file_info", boost::json::value{{"path", "link"}}).failed);
}

TEST_CASE("search_files: finds names by part or pattern") {
  const temporary_folder t;
  t.write("src/Main.cpp", "int main() {}\n");
  t.write("src/deep/util.cpp", "");
  t.write("docs/main.md", "");
  t.write(".hidden/main.cpp", "");
  client c({t.path()});
  c.open();
  const auto find = [&](std::string_view name) {
    return c.call("search_files", boost::json::value{{"name", name}}).text;
  };
  CHECK(find("main") == t.path("docs/main.md") + "\n" + t.path("src/Main.cpp") + "\n");
  CHECK(find("*.CPP") == t.path("src/Main.cpp") + "\n" + t.path("src/deep/util.cpp") + "\n");
  CHECK(find("src/*/*.cpp") == t.path("src/deep/util.cpp") + "\n");
  CHECK(find("deep") == t.path("src/deep/") + "\n");
  CHECK(find("nobody") == "Nothing was found.");
  CHECK(c.call("search_files", boost::json::value{{"name", "main"}, {"caseSensitive", true}}).text ==
        t.path("docs/main.md") + "\n");
  CHECK(contains(c.call("search_files", boost::json::value{{"name", "main.cpp"}, {"hidden", true}}).text,
                 ".hidden/main.cpp"));
  CHECK(c.call("search_files", boost::json::value{{"name", "main"}, {"path", "src"}}).text ==
        t.path("src/Main.cpp") + "\n");
  CHECK(c.call("search_files", boost::json::value{{"name", "main"}, {"path", "/"}}).failed);
  CHECK(c.call("search_files", boost::json::object()).failed);
}

TEST_CASE("search_files: finds text in files, never behind links or in pipes") {
  const temporary_folder t;
  t.write("in/a.txt", "first\nthe Needle here\nlast needle\n");
  t.write("in/b.md", "needle");
  t.write("in/bin", std::string("needle\0", 7));
  t.write("out/c.txt", "needle outside");
  fs::create_directory_symlink(t.path("out"), t.path("in/linked"));
  fs::create_directory_symlink(".", t.path("in/loop"));
  REQUIRE(::mkfifo(t.path("in/pipe").c_str(), 0600) == 0);
  client c({t.path("in")});
  c.open();
  CHECK(c.call("search_files", boost::json::value{{"text", "needle"}}).text ==
        t.path("in/a.txt") + ":2: the Needle here\n" + t.path("in/a.txt") + ":3: last needle\n" + t.path("in/b.md") +
            ":1: needle\n");
  CHECK(c.call("search_files", boost::json::value{{"text", "needle"}, {"name", "*.md"}}).text ==
        t.path("in/b.md") + ":1: needle\n");
  const auto limited = c.call("search_files", boost::json::value{{"text", "needle"}, {"maxResults", 2}});
  REQUIRE(limited.notes.size() == 1);
  CHECK(contains(limited.notes[0], "more than 2 results"));
  CHECK(c.call("search_files", boost::json::value{{"text", "two\nlines"}}).failed);
}

TEST_CASE("search_files: long lines and many matches are cut") {
  const temporary_folder t;
  t.write("long.txt", std::string(10'000, 'x') + "needle" + std::string(10'000, 'y'));
  std::string many;
  for (int i = 0; i < 50; ++i) many += "needle\n";
  t.write("many.txt", many);
  client c({t.path()});
  c.open();
  const auto found = c.call("search_files", boost::json::value{{"text", "needle"}}).text;
  CHECK(contains(found, "xneedley"));
  CHECK(found.size() < 5'000);
  CHECK(contains(found, "many.txt: more matches"));
}
