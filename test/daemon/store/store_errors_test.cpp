// Tests of a store's errors: the cause, the name of the store, and the fix behind a semicolon.
#include "test/daemon/store/sessions_fixture.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon::core;
using namespace mcpbx::daemon::store;
using namespace mcpbx::daemon::stored;
using namespace mcpbx::daemon::test;

namespace {

template <class T>
void check_refused(const result<T>& r, const std::string& what, const std::string& mend) {
  CAPTURE(what);
  REQUIRE_FALSE(r.has_value());
  const auto& said = r.error().message;
  CAPTURE(said);
  CHECK(contains(said, what));
  CHECK(contains(said, "the journal "));
  CHECK(contains(said, "; " + mend));
}

result<std::vector<run_record>> ended(sessions_store& s, const std::string& run) {
  return s.ask<std::vector<run_record>>([&](auto then) { s.journal.find_ended(run, then); });
}

}  // namespace

TEST_CASE("G25: a store that does not take a run's records says what to do instead") {
  folder f;
  {
    const auto file = opened(f.file());
    const auto records = in_session("ses_1", 1);
    auto ours = std::make_shared<run_place>(run_place{"a"});
    REQUIRE(put(*file, batch_of(ours, {records[0], records[1]})).has_value());
    auto theirs = std::make_shared<run_place>(run_place{"a", ours->id, 1});
    check_refused(put(*file, batch_of(theirs, {records[1]})), "went on with the run", "begin a new one");
    REQUIRE(put(*file, batch_of(ours, {record::run_ended{}})).has_value());
  }
  {
    sessions_store s(f.file());
    REQUIRE(s.erase("ses_1").has_value());
    auto run = s.journal.open_run("b");
    const auto records = in_session("ses_1", 0, 4);
    const auto append = [&](std::size_t which) {
      result<void> done;
      go(s.context, [&]() -> asio::awaitable<void> { done = co_await run->append({records[which]}, false); });
      s.turn();
      return done;
    };
    check_refused(append(0), "the session ses_1 was deleted", "begin a new one");
    check_refused(append(1), "earlier records of this run could not be written", "begin a new run");
  }
  with_plain_sql(f.file(), "DROP TABLE records");
  sessions_store s(f.file());
  check_refused(s.write("c", in_session("ses_2", 0)), " failed",
                on_postgres() ? "see the log of the database server" : "the next run opens it anew");
}

TEST_CASE("G25: a store that has not got what is asked for says what there is") {
  folder f;
  {
    sessions_store s(f.file());
    check_refused(ended(s, "a"), "no run named \"a\" has ended", "`mcpbx sessions` lists");
    REQUIRE(s.write("a", in_session("ses_1", 1)).has_value());
    REQUIRE(s.write("b", in_session("ses_1", 0, 3)).has_value());
    const auto fewer = ended(s, "b");
    check_refused(fewer, " began with 3 messages of its session ses_1, and now the journal ",
                  "`mcpbx sessions show ses_1` shows what is left");
    check_refused(fewer, " has 4", "`mcpbx sessions show ses_1` shows what is left");
  }
  with_plain_sql(f.file(), "UPDATE records SET body='{' WHERE run=1 AND seq=1");
  sessions_store s(f.file());
  check_refused(ended(s, "a"), "the run a in the journal ", "begin a new one");
  CHECK(contains(ended(s, "a").error().message, "cannot be read (record 1: a record is no JSON: "));
}

TEST_CASE("G25: what goes wrong in the middle of the lane's work is an error of whom it was done for, with the store") {
  folder f;
  {
    const auto file = opened(f.file());
    REQUIRE(put(*file, batch_of(std::make_shared<run_place>(run_place{"a"}), {in_session("ses_1", 1)[0]})).has_value());
  }
  bool short_of_memory = true;
  sessions_store s(f.file(), rules([&](const auto& records, bool same_process) {
                     if (short_of_memory) throw std::bad_alloc();
                     return recovery_of(records, same_process);
                   }));
  const std::string what = "could not be used (std::bad_alloc)", mend = "see to the daemon's memory";
  check_refused(s.load("ses_1"), what, mend);
  check_refused(s.write("b", in_session("ses_2", 0)), what, mend);
  short_of_memory = false;
  CHECK(s.load("ses_1").has_value());
}
