// The journal in PostgreSQL: made and refused, and what becomes of it when the connection or the server goes away.
#include "daemon/store/postgres/postgres_store.hpp"

#include "mcp/redact/secret.hpp"
#include "test/daemon/store/postgres_proxy.hpp"
#include "test/daemon/store/sessions_fixture.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon::postgres;
using namespace mcpbx::daemon::store;
using namespace mcpbx::daemon::stored;
using namespace mcpbx::daemon::test;
using namespace mcpbx::redact;
using outage = postgres_proxy::fault;

namespace {

std::string refusal(postgres_store::options o) {
  postgres_store file(std::move(o));
  const auto opened = file.open();
  return opened ? "opened" : opened.error().message;
}

postgres_store::options behind(const postgres_proxy& proxy, const std::string& schema) {
  auto o = in_schema(schema);
  o.url = [url = proxy.url()] { return result<std::string>(url); };
  return o;
}

// Ends every connection that holds one of the schema's locks, as a server does that is restarted, and waits for it.
void end_connections(const std::string& schema) {
  with_plain_sql(schema,
                 "SELECT pg_terminate_backend(pid, 10000) FROM pg_locks WHERE locktype = 'advisory' AND pid <> "
                 "pg_backend_pid() AND objid::bigint IN (SELECT number FROM daemons)");
}

std::string store_error(sessions_store& s, const std::string& run, std::vector<run_record> records) {
  const auto done = s.write(run, std::move(records));
  return done ? "written" : done.error().message;
}

// Until the append is answered, or an attempt of it has failed and the next one is waited for.
void attempt(sessions_store& s, const std::optional<result<void>>& answer) {
  s.context.restart();
  while (!answer && s.time.armed() < 2) s.context.run_one();
}

}  // namespace

TEST_CASE("postgres file: a newer version and a schema of somebody else are refused untouched" * postgres_only()) {
  folder f, g, h;
  CHECK(refusal(in_schema(f.file())) == "opened");
  with_plain_sql(f.file(), "UPDATE schema_version SET version=3");
  CHECK(contains(refusal(in_schema(f.file())), "is of version 3 and this mcpbx knows versions up to 2"));
  with_plain_sql(g.file(), "CREATE SCHEMA " + g.file() + "; CREATE TABLE " + g.file() + ".theirs(x int)");
  CHECK(contains(refusal(in_schema(g.file())), "of another program"));
  with_plain_sql(h.file(), "CREATE SCHEMA " + h.file());
  CHECK(refusal(in_schema(h.file())) == "opened");
}

TEST_CASE("G24: daemons that start at once make the schema once" * postgres_only()) {
  folder f;
  std::vector<pid_t> all;
  for (int i = 0; i < 6; ++i)
    all.push_back(in_child([&, i] {
      if (refusal(in_schema(f.file(), "daemon " + std::to_string(i))) != "opened") ::_exit(1);
    }));
  for (const auto pid : all) CHECK(end_of(pid) == 0);
}

TEST_CASE("postgres file: a database that is not in UTF-8, or lets nothing be made, is refused with the mend" *
          postgres_only()) {
  folder f;
  const auto& pq = *libpq::load().value();
  {
    auto c = postgres_connection::open(pq, {.url = database()});
    REQUIRE(c.has_value());
    REQUIRE((*c)->execute("CREATE DATABASE in_latin1 ENCODING 'LATIN1' TEMPLATE template0").has_value());
    (*c)->execute("CREATE ROLE plain LOGIN");
  }
  const auto at = [&](std::string url) {
    auto o = in_schema(f.file());
    o.url = [url = std::move(url)] { return result<std::string>(url); };
    return refusal(std::move(o));
  };
  const std::string host = std::string(database()).substr(std::string(database()).find('?'));
  CHECK(contains(at("postgresql://mcpbx@/in_latin1" + host), "has the encoding LATIN1 and must have UTF8"));
  CHECK(contains(at("postgresql://plain@/postgres" + host), "CREATE SCHEMA " + f.file() + " AUTHORIZATION"));
  CHECK(contains(at("postgresql://mcpbx@/nonesuch" + host), "cannot be reached"));
}

TEST_CASE("G25: a database that cannot be reached is asked again after pauses, and no password is told" *
          postgres_only()) {
  folder f;
  int asked = 0;
  bool there = false;
  time_point now{};
  auto o = in_schema(f.file());
  o.url = [&] {
    ++asked;
    return result<std::string>(there ? std::string(database())
                                     : "postgresql://me:hush-hush@/talk?host=" + f.path + "/hush-hush");
  };
  o.now = [&] { return now; };
  postgres_store file(std::move(o));
  for (int i = 0; i < 3; ++i) {
    const auto refused = file.open();
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().code == errc::io);
    CHECK(contains(refused.error().message, "cannot be reached"));
  }
  CHECK(asked == 1);
  now += milliseconds(100);
  CHECK_FALSE(file.open().has_value());
  now += milliseconds(199);
  CHECK_FALSE(file.open().has_value());
  CHECK(asked == 2);
  for (int i = 0; i < 20; ++i) {
    now += milliseconds(5'000);
    CHECK_FALSE(file.open().has_value());
  }
  CHECK(asked == 22);
  there = true;
  now += milliseconds(5'000);
  CHECK(file.open().has_value());
  redactor::clear();
}

TEST_CASE("G25: a password does not come back in what the server says" * postgres_only()) {
  folder f;
  auto o = in_schema(f.file());
  o.url = [&] { return result<std::string>("postgresql://mcpbx:hush-hush@/hush-hush?host=" + f.path + "/hush-hush"); };
  const auto said = refusal(std::move(o));
  CHECK(contains(said, "cannot be reached"));
  CHECK_FALSE(contains(said.substr(said.find('(')), "hush-hush"));
  redactor::clear();
}

TEST_CASE("G25: a connection that ended between two uses is made anew, and the run goes on" * postgres_only()) {
  folder f;
  sessions_store s(f.file());
  auto run = s.journal.open_run("a");
  const auto records = in_session("ses_1", 2);
  for (const auto& one : records) {
    result<void> done;
    go(s.context, [&]() -> asio::awaitable<void> { done = co_await run->append({one}, false); });
    s.turn();
    CHECK_MESSAGE(done.has_value(), (done ? "" : done.error().message));
    end_connections(f.file());
  }
  CHECK(s.read("ses_1").value().runs[0].row.reason == "final");
}

TEST_CASE("G25: an append of a run in whose midst the connection goes is made again, and the run goes on" *
          postgres_only()) {
  for (const auto how : {outage::begin_dropped, outage::commit_dropped, outage::answer_dropped})
    for (const std::size_t size : {std::size_t{1}, std::size_t{2}}) {
      CAPTURE(static_cast<int>(how));
      CAPTURE(size);
      folder f;
      postgres_proxy proxy;
      sessions_store s(std::make_unique<postgres_store>(behind(proxy, f.file())));
      auto run = s.journal.open_run("a");
      const auto records = in_session("ses_1", 1);
      for (std::size_t from = 0; from < records.size(); from += size) {
        if (from > 0) proxy.set(how);
        std::optional<result<void>> done;
        std::vector<run_record> part(
            records.begin() + static_cast<std::ptrdiff_t>(from),
            records.begin() + static_cast<std::ptrdiff_t>(std::min(from + size, records.size())));
        go(s.context, [&]() -> asio::awaitable<void> { done = co_await run->append(std::move(part), true); });
        attempt(s, done);
        CHECK(done.has_value() == (from == 0));
        s.time.advance(milliseconds(500));
        attempt(s, done);
        REQUIRE(done.has_value());
        CHECK_MESSAGE(done->has_value(), (*done ? "" : done->error().message));
      }
      run.reset();
      const auto all = s.ask<std::vector<run_record>>([&](auto then) { s.journal.find_ended("a", then); }).value();
      CHECK(texts_of(all) == texts_of(records));
      CHECK(s.read("ses_1").value().runs[0].row.reason == "final");
    }
}

TEST_CASE("G25: a run whose database stays away ends after 30 s, or earlier where it may not wait so long" *
          postgres_only()) {
  for (const auto patience : {milliseconds(12'000), milliseconds(30'000), milliseconds(60'000)}) {
    CAPTURE(patience.count());
    folder f;
    auto o = in_schema(f.file());
    bool away = false;
    o.url = [&away]() -> result<std::string> {
      if (away) return fail(errc::io, "the database is away");
      return database();
    };
    sessions_store s(std::make_unique<postgres_store>(std::move(o)));
    auto run = s.journal.open_run("a");
    run->wait_at_most(patience);
    const auto records = in_session("ses_1", 2);
    std::optional<result<void>> first, second;
    go(s.context, [&]() -> asio::awaitable<void> { first = co_await run->append({records[0], records[1]}, true); });
    s.turn();
    REQUIRE(first->has_value());
    away = true;
    end_connections(f.file());
    go(s.context, [&]() -> asio::awaitable<void> { second = co_await run->append({records[2]}, false); });
    const auto longest = std::min(patience, milliseconds(30'000));
    const auto since = s.time.wall_ms();
    for (milliseconds waited{0}; waited < longest; waited += milliseconds(500)) {
      attempt(s, second);
      CHECK_FALSE(second.has_value());
      REQUIRE(s.journal.trouble().has_value());  // G49
      CHECK(contains(s.journal.trouble()->problem, "the database is away"));
      CHECK(s.journal.trouble()->since_ms == since);
      s.time.advance(milliseconds(500));
    }
    s.turn();
    REQUIRE(second.has_value());
    REQUIRE_FALSE(second->has_value());
    CHECK(second->error().code == errc::io);
    CHECK(contains(second->error().message, "the database is away"));
    // The next run is kept as soon as the database is there, and this one is closed.
    run.reset();
    CHECK(contains(store_error(s, "b", in_session("ses_2", 0)), "the database is away"));
    away = false;
    std::string said = "the database is away";
    while (contains(said, "away")) said = store_error(s, "b", in_session("ses_2", 0));  // behind the pause of connects
    CHECK(said == "written");
    CHECK_FALSE(s.journal.trouble().has_value());
    CHECK(s.read("ses_1").value().runs[0].row.reason == "store_error");
  }
}

TEST_CASE("G23: a run whose unsynced records a server lost does not go on behind the gap" * postgres_only()) {
  folder f;
  sessions_store s(f.file());
  auto run = s.journal.open_run("a"), other = s.journal.open_run("b");
  const auto records = in_session("ses_1", 2), others = in_session("ses_2", 2);
  const auto append = [&](run_journal& to, std::vector<run_record> what) {
    result<void> done;
    go(s.context, [&]() -> asio::awaitable<void> { done = co_await to.append(std::move(what), false); });
    s.turn();
    return done;
  };
  REQUIRE(append(*run, {records[0], records[1], records[2]}).has_value());
  REQUIRE(append(*other, {others[0], others[1]}).has_value());
  with_plain_sql(f.file(), "DELETE FROM records WHERE run=1 AND seq=2");
  end_connections(f.file());
  const auto lost = append(*run, {records[3]});
  REQUIRE_FALSE(lost.has_value());
  CHECK(contains(lost.error().message, "lost the latest records of the run"));
  CHECK(append(*other, {others[2]}).has_value());
  run.reset();
  CHECK(fault_of(s.load("ses_1").value()) == "");
}

TEST_CASE("G23: a start without an answer to its commit is not acknowledged, and closed whatever became of it" *
          postgres_only()) {
  for (const auto how : {outage::commit_dropped, outage::answer_dropped}) {
    const bool kept = how == outage::answer_dropped;
    CAPTURE(kept);
    folder f;
    postgres_proxy proxy;
    sessions_store s(std::make_unique<postgres_store>(behind(proxy, f.file())));
    REQUIRE(store_error(s, "x", in_session("ses_0", 0)) == "written");
    auto run = s.journal.open_run("a");
    result<void> done;
    proxy.set(how);
    go(s.context, [&]() -> asio::awaitable<void> { done = co_await run->append(in_session("ses_1", 1), true); });
    s.turn();
    REQUIRE_FALSE(done.has_value());
    CHECK(contains(done.error().message, "whether the last records are in it is not known"));
    run.reset();
    // The same name and the same session are free for the next run at once.
    CHECK(store_error(s, "a", in_session("ses_1", 0)) == "written");
    const auto rows = s.read("ses_1").value().runs;
    CHECK(rows.size() == (kept ? 2 : 1));
    for (const auto& one : rows) CHECK((one.row.ended_ms > 0 && one.damage.empty()));
    CHECK(rows.front().row.reason == "final");
    CHECK(fault_of(s.load("ses_1").value()) == "");
  }
}

TEST_CASE("postgres file: names and ids with a NUL find nothing but themselves" * postgres_only()) {
  folder f;
  sessions_store s(f.file());
  REQUIRE(store_error(s, "a", in_session("ses_1", 1)) == "written");
  CHECK(s.load(std::string("ses_1\0x", 7)).error().code == errc::not_found);
  CHECK(s.read("ses_1' OR 'a'='a").error().code == errc::not_found);
  CHECK(s.load("ses_1").has_value());
}

TEST_CASE("G24 G25: runs that are to go on are kept until the database takes a write" * postgres_only()) {
  folder f;
  auto left = in_session("ses_1", 2);
  left.resize(3);
  REQUIRE(put(*opened(f.file()), batch_of(std::make_shared<run_place>(run_place{"night"}), left)).has_value());
  with_plain_sql(f.file(),
                 "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION USING "
                 "ERRCODE = ''disk_full'', MESSAGE = ''no space left on device''; END'; CREATE TRIGGER full_disk "
                 "BEFORE UPDATE ON daemons FOR EACH ROW EXECUTE FUNCTION full_disk()");
  auto o = rules();
  o.rules.goes_on = [](const auto&) { return true; };
  sessions_store s(f.file(), std::move(o));
  const auto take = [&] {
    return s.ask<std::vector<unfinished_run>>([&](auto then) { s.journal.take_unfinished(then); });
  };
  for (int i = 0; i < 3; ++i) {
    const auto refused = take();
    REQUIRE_FALSE(refused.has_value());
    CHECK(contains(refused.error().message, "no space left on device"));
  }
  with_plain_sql(f.file(), "DROP TRIGGER full_disk ON daemons");
  const auto taken = take();
  REQUIRE_MESSAGE(taken.has_value(), (taken ? "" : taken.error().message));
  REQUIRE(taken->size() == 1);
  left.emplace_back(record::taken_over{});
  CHECK(texts_of(taken->front().records) == texts_of(left));
  CHECK(take().value().empty());
}
