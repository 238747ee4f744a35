// Several daemons at one PostgreSQL journal: history is shared, a run belongs to one of them.
#include "test/daemon/store/sessions_fixture.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon::postgres;
using namespace mcpbx::daemon::store;
using namespace mcpbx::daemon::stored;
using namespace mcpbx::daemon::test;
using namespace mcpbx::json;
using namespace mcpbx::redact;

namespace {

std::unique_ptr<run_store> file_of(const std::string& schema, const std::string& owner,
                                   milliseconds abandoned_after = milliseconds(0)) {
  auto o = in_schema(schema, owner);
  o.abandoned_after = abandoned_after;
  return std::make_unique<postgres_store>(std::move(o));
}

/// One that has begun a run of a session, and goes on with it.
struct busy_daemon : sessions_store {
  busy_daemon(const std::string& schema, const std::string& owner, lane_journal::options o = rules())
      : sessions_store(file_of(schema, owner), std::move(o)) {}
  result<void> begin(const std::string& name, std::vector<run_record> records) {
    run = journal.open_run(name);
    return append(std::move(records));
  }
  result<void> append(std::vector<run_record> records) {
    result<void> done;
    go(context, [&]() -> asio::awaitable<void> { done = co_await run->append(std::move(records), true); });
    turn();
    return done;
  }
  std::optional<std::string> owner(const std::string& name) {
    return ask<std::optional<std::string>>([&](auto then) { journal.find_owner(name, then); }).value();
  }
  std::unique_ptr<run_journal> run;
};

std::vector<run_record> part(const std::vector<run_record>& all, std::size_t from, std::size_t to) {
  return {all.begin() + static_cast<std::ptrdiff_t>(from), all.begin() + static_cast<std::ptrdiff_t>(to)};
}

}  // namespace

TEST_CASE("L17 O5: daemons share sessions, and one goes on where another ended" * postgres_only()) {
  folder f;
  busy_daemon one(f.file(), "one"), two(f.file(), "two");
  REQUIRE(one.write("a", in_session("ses_1", 1)).has_value());
  REQUIRE(two.write("b", in_session("ses_2", 0)).has_value());
  CHECK(one.ids() == std::vector<std::string>{"ses_2", "ses_1"});
  CHECK(two.ids() == one.ids());
  const auto history = two.load("ses_1").value();
  auto next = in_session("ses_1", 0, history.size());
  std::get<record::run_started>(next.front()).inherited_after = history.last_run;
  CHECK(two.write("c", next).has_value());
  CHECK(one.load("ses_1").value().size() == history.size() + 2);
  CHECK(one.erase("ses_2").has_value());
  CHECK(two.ids() == std::vector<std::string>{"ses_1"});
}

TEST_CASE("L17: a run and its session belong to one daemon, and the others say to which" * postgres_only()) {
  folder f;
  busy_daemon one(f.file(), "one"), two(f.file(), "two");
  const auto records = in_session("ses_1", 1);
  REQUIRE(one.begin("a", part(records, 0, 2)).has_value());
  CHECK(two.owner("a") == "the daemon one");
  CHECK_FALSE(one.owner("a").has_value());
  CHECK_FALSE(two.owner("b").has_value());
  const auto row = two.list().value().front();
  CHECK((row.running == "a" && row.owner == "the daemon one"));
  CHECK(one.list().value().front().owner.empty());
  for (const auto& refused : {two.load("ses_1").error(), two.erase("ses_1").error()}) {
    CHECK(refused.code == errc::unavailable);
    CHECK(contains(refused.message,
                   "in use by the run a, owned by the daemon one; wait for its end, or cancel it there"));
  }
  // The fences, for one that did not look.
  const auto same_session = two.write("b", in_session("ses_1", 0)).error();
  CHECK(same_session.code == errc::unavailable);
  CHECK(contains(same_session.message, "another run that is going on in this session"));
  const auto same_name = two.write("a", in_session("ses_9", 0)).error();
  CHECK(same_name.code == errc::unavailable);
  CHECK(contains(same_name.message, "another run of this name"));
  postgres_store behind_its_back(in_schema(f.file(), "three"));
  REQUIRE(behind_its_back.open().has_value());
  const std::vector<std::string> id{"ses_1"};
  CHECK(behind_its_back.erase(id).error().code == errc::unavailable);

  CHECK(one.append(part(records, 2, records.size())).has_value());
  CHECK_FALSE(two.owner("a").has_value());
  CHECK(two.load("ses_1").value().size() == 4);
}

TEST_CASE("L17: a daemon that starts closes its own runs and leaves those of others alone" * postgres_only()) {
  folder f;
  busy_daemon one(f.file(), "one");
  const auto records = in_session("ses_1", 1);
  REQUIRE(one.begin("a", part(records, 0, 2)).has_value());
  {
    postgres_store killed(in_schema(f.file(), "two"));
    REQUIRE(killed.open().has_value());
    const auto left = in_session("ses_2", 1);
    REQUIRE(put(killed, batch_of(std::make_shared<run_place>(run_place{"b"}), part(left, 0, 3))).has_value());
  }
  busy_daemon two(f.file(), "two");
  CHECK(fault_of(two.load("ses_2").value()) == "");
  CHECK(two.read("ses_2").value().runs.front().row.reason == "interrupted");
  CHECK(two.list().value().back().running == "a");
  CHECK(one.append(part(records, 2, records.size())).has_value());
}

TEST_CASE(
    "L17: runs of a daemon that is gone are closed by another, those of one that is there, or was a moment ago, are "
    "not" *
    postgres_only()) {
  folder f;
  const auto leave = [&](postgres_store& by, const std::string& run, const std::string& session) {
    REQUIRE(by.open().has_value());
    const auto records = in_session(session, 1);
    REQUIRE(put(by, batch_of(std::make_shared<run_place>(run_place{run}), part(records, 0, 3))).has_value());
  };
  postgres_store gone(in_schema(f.file(), "gone")), there(in_schema(f.file(), "there"));
  leave(gone, "a", "ses_1");
  leave(there, "b", "ses_2");
  busy_daemon us(f.file(), "us");
  CHECK(contains(us.load("ses_1").error().message, "owned by the daemon gone"));
  gone.close();
  sessions_store patient(file_of(f.file(), "patient", milliseconds(3'600'000)));
  CHECK(contains(patient.load("ses_1").error().message, "owned by the daemon gone"));
  CHECK(fault_of(us.load("ses_1").value()) == "");
  CHECK(us.read("ses_1").value().runs.front().row.reason == "interrupted");
  CHECK(contains(us.load("ses_2").error().message, "owned by the daemon there"));
  // Should it come back it finds that its run has ended, and cannot add to it.
  REQUIRE(gone.open().has_value());
  CHECK(gone.unfinished_runs().value().empty());
  auto late = std::make_shared<run_place>(run_place{"a", 1, 3});
  CHECK(contains(put(gone, batch_of(late, {record::cancel{}})).error().message, "another daemon went on with the run"));
}

TEST_CASE("L17 G24 O5: a run of a daemon that is gone goes on in another one, which that daemon cannot write into" *
          postgres_only()) {
  folder f;
  const auto records = in_session("ses_1", 1);
  busy_daemon paused(f.file(), "paused");
  REQUIRE(paused.begin("a", part(records, 0, 3)).has_value());
  auto o = rules();
  o.rules.goes_on = [](const auto&) { return true; };
  sessions_store us(file_of(f.file(), "us"), std::move(o));
  const auto take = [&] {
    return us.ask<std::vector<unfinished_run>>([&](auto then) { us.journal.take_unfinished(then); }).value();
  };
  CHECK(take().empty());  // it is connected
  with_plain_sql(f.file(),
                 "SELECT pg_terminate_backend(pid, 10000) FROM pg_locks WHERE locktype = 'advisory' AND objid::bigint "
                 "IN (SELECT number FROM daemons WHERE id = 'paused')");
  // A question about its session does not close what goes on.
  CHECK(us.load("ses_1").error().code == errc::unavailable);
  auto taken = take();
  REQUIRE(taken.size() == 1);
  REQUIRE(taken[0].records.size() == 4);
  const auto* fence = std::get_if<record::taken_over>(&taken[0].records.back());
  REQUIRE(fence != nullptr);
  CHECK((fence->by == "the daemon us" && !fence->power_lost));
  CHECK(take().empty());
  // The other one wakes before the new owner has written anything of its own.
  const auto late = paused.append(part(records, 3, 4));
  REQUIRE_FALSE(late.has_value());
  CHECK(late.error().code == errc::not_found);
  CHECK(contains(late.error().message, "another daemon went on with the run"));
  result<void> done = fail(errc::internal, "nothing");
  go(us.context, [&]() -> asio::awaitable<void> {
    done = co_await taken[0].journal->append(part(records, 3, records.size()), true);
  });
  us.turn();
  CHECK(done.has_value());
  CHECK(us.read("ses_1").value().runs.front().row.reason == "final");
}

TEST_CASE("G24: a run that another daemon took before this one handed it out stays there, and holds up no other" *
          postgres_only()) {
  folder f;
  {
    postgres_store before(in_schema(f.file(), "us"));
    REQUIRE(before.open().has_value());
    for (const auto* run : {"a", "b"})
      REQUIRE(put(before, batch_of(std::make_shared<run_place>(run_place{run}),
                                   part(in_session(std::string("ses_") + run, 1), 0, 3)))
                  .has_value());
  }
  auto o = rules();
  o.rules.goes_on = [](const auto&) { return true; };
  sessions_store us(file_of(f.file(), "us", milliseconds(3'600'000)), std::move(o));
  REQUIRE(us.list().has_value());  // it knows of both, and has handed out none
  with_plain_sql(
      f.file(),
      "INSERT INTO daemons(id, label) VALUES('other', 'the other one'); UPDATE runs SET owner = (SELECT number "
      "FROM daemons WHERE id = 'other') WHERE run = 'a'");
  const auto taken = us.ask<std::vector<unfinished_run>>([&](auto then) { us.journal.take_unfinished(then); });
  REQUIRE_MESSAGE(taken.has_value(), (taken ? "" : taken.error().message));
  REQUIRE(taken->size() == 1);
  CHECK(taken->front().run == "b");
}

TEST_CASE("G24: a run that another daemon takes over after its server was started anew has lost what was not synced" *
          postgres_only()) {
  for (const bool calls_synced : {false, true}) {
    CAPTURE(calls_synced);
    folder f;
    {
      postgres_store gone(in_schema(f.file(), "gone"));
      REQUIRE(gone.open().has_value());
      auto batch = batch_of(std::make_shared<run_place>(run_place{"a"}), part(in_session("ses_1", 1), 0, 3));
      batch.calls_synced = calls_synced;
      REQUIRE(put(gone, std::move(batch)).has_value());
    }
    with_plain_sql(f.file(), "UPDATE runs SET boot='before' WHERE boot IS NOT NULL");
    auto o = rules();
    o.rules.goes_on = [](const auto&) { return true; };
    sessions_store us(file_of(f.file(), "us"), std::move(o));
    const auto taken =
        us.ask<std::vector<unfinished_run>>([&](auto then) { us.journal.take_unfinished(then); }).value();
    REQUIRE(taken.size() == 1);
    CHECK(std::get<record::taken_over>(taken[0].records.back()).power_lost == !calls_synced);
  }
}

TEST_CASE(
    "G48: calls of a daemon that is gone for good are told to the audit once, by the daemon that closes its runs" *
    postgres_only()) {
  folder f;
  const auto leave = [&](const std::string& owner, const std::string& run, const std::string& session) {
    auto file = std::make_unique<postgres_store>(in_schema(f.file(), owner));
    REQUIRE(file->open().has_value());
    // One of its two calls has its result, the other one is at its server.
    REQUIRE(put(*file, batch_of(std::make_shared<run_place>(run_place{run}), part(in_session(session, 1), 0, 6)))
                .has_value());
    return file;
  };
  std::vector<std::string> told;
  const auto listening = [&](const std::string& who) {
    auto o = rules();
    o.rules.closed = [&told, who](const auto& before, const auto& closing) {
      std::string line = who + ": " + std::get<record::run_started>(before.front()).session;
      for (const auto& r : before)
        if (std::holds_alternative<record::call_intent>(r)) line += " intent";
      for (const auto& r : closing)
        if (const auto* done = std::get_if<record::call_result>(&r))
          line += " " + done->call_id + " " + std::string(to_string(done->cause));
      told.push_back(line + " " + std::string(name_of(closing.back())));
    };
    return o;
  };
  auto gone = leave("gone", "a", "ses_1");
  busy_daemon us(f.file(), "us", listening("us"));
  CHECK(contains(us.load("ses_1").error().message, "owned by the daemon gone"));
  CHECK(told.empty());
  gone.reset();
  // A request for the session closes the run behind it.
  CHECK(us.load("ses_1").has_value());
  const std::vector<std::string> once{"us: ses_1 intent intent a1_0 interrupted run_ended"};
  CHECK(told == once);
  CHECK(us.load("ses_1").has_value());
  CHECK(us.erase("ses_1").has_value());
  CHECK(told == once);
  // So does who starts.
  leave("gone too", "b", "ses_2").reset();
  told.clear();
  busy_daemon later(f.file(), "later", listening("later"));
  CHECK(later.load("ses_2").has_value());
  CHECK(us.load("ses_2").has_value());
  CHECK(told == std::vector<std::string>{"later: ses_2 intent intent a1_0 interrupted run_ended"});
}

TEST_CASE("L17: two daemons with one identity do not run at the same time" * postgres_only()) {
  folder f;
  auto o = in_schema(f.file());
  o.lock_limit = milliseconds(50);
  postgres_store one(in_schema(f.file())), two(o);
  REQUIRE(one.open().has_value());
  const auto refused = two.open();
  REQUIRE_FALSE(refused.has_value());
  CHECK(contains(refused.error().message, "another daemon with the same state directory (the daemon us)"));
  one.close();
  postgres_store three(o);
  CHECK(three.open().has_value());
}
