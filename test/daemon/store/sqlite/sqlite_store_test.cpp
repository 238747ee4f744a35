// The journal's SQLite file: made and refused.
#include "daemon/store/sqlite/sqlite_store.hpp"

#include "test/daemon/store/sessions_fixture.hpp"

#include <doctest/doctest.h>

#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

using namespace mcpbx;
using namespace mcpbx::daemon::sqlite;
using namespace mcpbx::daemon::store;
using namespace mcpbx::daemon::stored;
using namespace mcpbx::daemon::test;

namespace {

std::string refusal(sqlite_store::options o) {
  sqlite_store file(std::move(o));
  const auto opened = file.open();
  CHECK_FALSE(file.is_open() != opened.has_value());
  return opened ? "opened" : opened.error().message;
}

mode_t mode_of(const std::string& path) {
  struct stat s{};
  REQUIRE(::stat(path.c_str(), &s) == 0);
  return s.st_mode & 0777;
}

constexpr const char* gone = "was moved, deleted or replaced while it was in use; put it back, or what comes next ";

std::vector<std::string> names_in(const std::string& path) {
  std::vector<std::string> names;
  for (const auto& [row, records] : contents(path)) names.push_back(row.run);
  return names;
}

}  // namespace

TEST_CASE("sqlite file: the files are readable by their user only" * sqlite_only()) {
  folder f;
  const auto path = f.path + "/made/deep/journal.db";
  CHECK(contains(refusal({.path = path}), "cannot be opened for writing"));
  const auto before = ::umask(0);
  sqlite_store file({.path = path, .make_folder = true});
  REQUIRE(file.open().has_value());
  CHECK(put(file, batch_of(std::make_shared<run_place>(run_place{"r"}), run_of(1))).has_value());
  ::umask(before);
  CHECK(mode_of(path) == 0600);
  CHECK(mode_of(path + "-wal") == 0600);
  CHECK(mode_of(f.path + "/made/deep") == 0700);
}

TEST_CASE("sqlite file: a newer version and a file of somebody else are refused untouched" * sqlite_only()) {
  folder f;
  CHECK(refusal({.path = f.file()}) == "opened");
  with_plain_sql(f.file(), "UPDATE schema SET version=5");
  CHECK(contains(refusal({.path = f.file()}), "is of version 5 and this mcpbx knows versions up to 4"));
  const auto foreign = f.path + "/foreign.db";
  with_plain_sql(foreign, "CREATE TABLE theirs(x)");
  CHECK(contains(refusal({.path = foreign}), "belongs to another program"));
  const auto junk = f.path + "/junk.db";
  std::ofstream(junk) << std::string(5'000, 'j');
  CHECK(contains(refusal({.path = junk}), "damaged or no SQLite file"));
  CHECK(contains(refusal({.path = f.path}), "cannot be opened for writing"));
}

TEST_CASE("sqlite file: a run of more records than have places takes no place of the next" * sqlite_only()) {
  folder f;
  sqlite_store file({.path = f.file()});
  REQUIRE(file.open().has_value());
  const auto records = run_of(1);
  const auto first = std::make_shared<run_place>(run_place{"first"}),
             next = std::make_shared<run_place>(run_place{"next"});
  REQUIRE(put(file, batch_of(first, {records[0]})).has_value());
  REQUIRE(put(file, batch_of(next, {records[0], records[1]})).has_value());
  first->next_seq = (1 << 24) - 1;
  CHECK(put(file, batch_of(first, {records[1]})).has_value());
  CHECK(contains(put(file, batch_of(first, {records[1]})).error().message, "takes 16777216 records of a run"));
  CHECK(file.records(next->id).value().size() == 2);
}

TEST_CASE("sqlite file: one that another process has open is refused until that one ends" * sqlite_only()) {
  folder f;
  pipe_pair ready, go_on;
  const auto pid = in_child([&] {
    go_on.close(1);
    sqlite_store file({.path = f.file()});
    if (!file.open() || !put(file, batch_of(std::make_shared<run_place>(run_place{"r"}), run_of(0)))) ::_exit(1);
    ready.say("open");
    go_on.line();
  });
  CHECK(ready.line() == "open");
  CHECK(contains(refusal({.path = f.file(), .busy_ms = 10}), "is in use by another process"));
  go_on.close(1);
  CHECK(end_of(pid) == 0);
  CHECK(refusal({.path = f.file(), .busy_ms = 10}) == "opened");
}

TEST_CASE("sqlite file: one that may not be made or written to is an error with its mend" * sqlite_only()) {
  folder f;
  const auto said_to_nobody = [&] {
    pipe_pair said;
    const auto pid = in_child([&] {
      if (::geteuid() == 0 && ::setresuid(65534, 65534, 65534) != 0) ::_exit(1);  // root may write everywhere
      said.say(refusal({.path = f.file()}));
    });
    auto message = said.line();
    CHECK(end_of(pid) == 0);
    return message;
  };
  const auto refused = [](const std::string& message) {
    return contains(message, "cannot be opened for writing (Permission denied); make it and its folder writable");
  };
  REQUIRE(::chmod(f.path.c_str(), 0555) == 0);
  auto message = said_to_nobody();
  CHECK_MESSAGE(refused(message), message);
  REQUIRE(::chmod(f.path.c_str(), 0755) == 0);
  CHECK(refusal({.path = f.file()}) == "opened");
  REQUIRE(::chmod(f.file().c_str(), 0444) == 0);
  message = said_to_nobody();
  CHECK_MESSAGE(refused(message), message);
}

TEST_CASE("sqlite file: want of descriptors is told as that" * sqlite_only()) {
  folder f;
  CHECK(refusal({.path = f.file()}) == "opened");
  pipe_pair said;
  const auto pid = in_child([&] {
    const rlimit none{0, 0};
    if (::setrlimit(RLIMIT_NOFILE, &none) != 0) ::_exit(1);
    said.say(refusal({.path = f.file()}));
  });
  const auto message = said.line();
  CHECK_MESSAGE(contains(message, "cannot be opened (Too many open files); raise the daemon's limit"), message);
  CHECK(end_of(pid) == 0);
}

TEST_CASE("G25: a journal that was deleted while it was in use says so once, and what comes next makes a new one" *
          sqlite_only()) {
  folder f;
  {
    sessions_store s(f.file());
    REQUIRE(s.write("a", in_session("ses_1", 1)).has_value());
    for (const char* end : {"", "-wal"}) REQUIRE(std::filesystem::remove(f.file() + end));
    const auto refused = s.write("b", in_session("ses_2", 1));
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().code == errc::io);
    CHECK(contains(refused.error().message, "the journal " + f.file() + " " + gone));
    CHECK(s.write("c", in_session("ses_3", 1)).has_value());
    CHECK(s.ids() == std::vector<std::string>{"ses_3"});
    REQUIRE(std::filesystem::remove(f.file()));
    CHECK(contains(s.list().error().message, gone));
    CHECK(s.ids().empty());
    CHECK(s.load("ses_3").error().code == errc::not_found);
    CHECK(s.write("d", in_session("ses_4", 1)).has_value());
  }
  CHECK(names_in(f.file()) == std::vector<std::string>{"d"});
}

TEST_CASE("G25: a journal that was moved away while it was in use is whole where it is now, and so is the new one" *
          sqlite_only()) {
  folder f;
  const auto aside = f.path + "/aside.db";
  {
    sessions_store s(f.file());
    REQUIRE(s.write("a", in_session("ses_1", 1)).has_value());
    std::filesystem::rename(f.file(), aside);  // its log stays behind
    CHECK(contains(s.list().error().message, gone));
    CHECK(s.write("b", in_session("ses_2", 1)).has_value());
    CHECK(names_in(aside) == std::vector<std::string>{"a"});
    std::filesystem::rename(aside, f.file());
    CHECK(contains(s.write("c", in_session("ses_3", 1)).error().message, gone));
    CHECK(s.ids() == std::vector<std::string>{"ses_1"});
  }
  CHECK(names_in(f.file()) == std::vector<std::string>{"a"});
}

TEST_CASE(
    "G23: a run whose file went takes no more records, and none of a run that has its id in the new file changes" *
    sqlite_only()) {
  folder f;
  const auto records = in_session("ses_1", 1);
  {
    sessions_store s(f.file());
    auto run = s.journal.open_run("a"), next = s.journal.open_run("b");
    const auto append = [&](run_journal& to, const std::vector<run_record>& what) {
      result<void> done;
      go(s.context, [&]() -> asio::awaitable<void> { done = co_await to.append(what, false); });
      s.turn();
      return done;
    };
    REQUIRE(append(*run, {records[0], records[1]}).has_value());
    REQUIRE(std::filesystem::remove(f.file()));
    CHECK(append(*run, {records[2]}).has_value());  // into nothing, but its end will be looked after
    CHECK(contains(s.list().error().message, gone));
    REQUIRE(append(*next, {in_session("ses_2", 1)[0]}).has_value());
    CHECK(contains(append(*run, {records[3]}).error().message,
                   "has not got the run's earlier records, because another file is there now; begin the run anew"));
    run.reset();
    CHECK(s.ids() == std::vector<std::string>{"ses_2"});
    CHECK(append(*next, {records[1]}).has_value());
    CHECK(s.list().value().front().running == "b");
  }
  const auto all = contents(f.file());
  REQUIRE(all.size() == 1);
  CHECK((all[0].first.run == "b" && all[0].second.size() == 2));
}

TEST_CASE("G23: a journal whose log alone was deleted keeps what was in it, and has one again" * sqlite_only()) {
  folder f;
  {
    sessions_store s(f.file());
    REQUIRE(s.write("a", in_session("ses_1", 1)).has_value());
    REQUIRE(std::filesystem::remove(f.file() + "-wal"));
    CHECK(s.write("b", in_session("ses_2", 1)).has_value());
    CHECK(std::filesystem::exists(f.file() + "-wal"));
  }
  CHECK(names_in(f.file()) == std::vector<std::string>{"a", "b"});
}
