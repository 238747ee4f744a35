// Sessions of every kind of journal: what a run adds, what the next one is given, lists, deletion, retention, older
// files.
#include "test/daemon/store/sessions_fixture.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon::sqlite;
using namespace mcpbx::daemon::store;
using namespace mcpbx::daemon::stored;
using namespace mcpbx::daemon::test;
using namespace mcpbx::json;

TEST_CASE("L17: a session's history is what each of its runs added, in order and without system prompts") {
  folder f;
  {
    sessions_store s(f.file());
    REQUIRE(s.write("a", in_session("ses_1", 1)).has_value());
    REQUIRE(s.write("x", in_session("ses_2", 2)).has_value());
    REQUIRE(s.write("b", in_session("ses_1", 0, 4)).has_value());
  }
  sessions_store s(f.file());
  const auto all = s.load("ses_1");
  REQUIRE_MESSAGE(all.has_value(), (all ? "" : all.error().message));
  CHECK(told(*all) == std::vector<std::string>{"user question 1", "assistant thinking 1_0", "tool_results ",
                                               "assistant done 1", "user question 0", "assistant done 0"});
  CHECK(fault_of(*all) == "");
  const auto kept = s.read("ses_1").value();
  REQUIRE(kept.runs.size() == 2);
  CHECK((kept.runs[0].row.run == "a" && kept.runs[0].folded.messages.size() == 4 && kept.runs[0].folded.rounds == 2));
  CHECK((kept.runs[1].row.reason == "final" && kept.runs[1].folded.usage.input == 10));
  CHECK((kept.row.title == "question 1" && kept.row.runs == 2 && kept.row.model == "m" && kept.row.bytes > 500));
}

TEST_CASE("G42: a list of sessions has those of whoever asks, and the latest page of all on demand") {
  folder f;
  sessions_store s(f.file());
  const auto of = [](const std::string& session, int asked, const std::string& principal) {
    auto records = in_session(session, asked);
    std::get<record::run_started>(records.front()).principal = principal;
    return records;
  };
  REQUIRE(s.write("a", of("ses_1", 1, "uid:1000")).has_value());
  REQUIRE(s.write("b", of("ses_2", 2, "http")).has_value());
  REQUIRE(s.write("c", of("ses_3", 3, "")).has_value());
  REQUIRE(s.write("d", of("ses_4", 4, "server:files")).has_value());
  const auto ids = [&](session_query q) {
    std::vector<std::string> all;
    for (const auto& row : s.list(std::move(q)).value()) all.push_back(row.id);
    return all;
  };
  using names = std::vector<std::string>;
  CHECK(ids({}) == names{"ses_4", "ses_3", "ses_2", "ses_1"});
  CHECK(ids({.principal = "uid:1000"}) == names{"ses_3", "ses_1"});  // sessions without an owner are the person's
  CHECK(ids({.limit = 1, .principal = "uid:1000"}) == names{"ses_3"});
  CHECK(ids({.before = "ses_3", .principal = "uid:1000"}) == names{"ses_1"});
  CHECK(ids({.principal = "http"}) == names{"ses_2"});
  CHECK(ids({.before = "ses_4", .principal = "server:files"}).empty());
  CHECK(s.load("ses_2").value().principal == "http");
}

TEST_CASE("L17: a session that is not there, or in use, is an error that says so") {
  folder f;
  sessions_store s(f.file());
  CHECK(s.load("ses_1").error().code == errc::not_found);
  CHECK(s.read("ses_1").error().code == errc::not_found);
  CHECK(s.erase("ses_1").error().code == errc::not_found);
  CHECK(s.list().value().empty());
  CHECK(std::filesystem::is_empty(f.path));  // looking makes no file

  auto records = in_session("ses_1", 1);
  auto run = s.journal.open_run("a");
  go(s.context, [&]() -> asio::awaitable<void> { co_await run->append({records[0]}, false); });
  s.turn();
  CHECK(s.list().value().front().running == "a");
  for (const auto& refused : {s.load("ses_1").error(), s.erase("ses_1").error()}) {
    CHECK(refused.code == errc::unavailable);
    CHECK(contains(refused.message, "in use by the run a"));
  }
  // The fence: a second run of the session is not begun, whatever its daemon believes.
  const auto second = s.write("b", in_session("ses_1", 0));
  REQUIRE_FALSE(second.has_value());
  CHECK(contains(second.error().message, "another run that is going on in this session"));

  run.reset();  // its run ended in memory; the next look closes it
  CHECK(told(s.load("ses_1").value()) == std::vector<std::string>{"user question 1"});
  CHECK(s.load("ses_9").error().code == errc::not_found);
  const auto place = on_postgres() ? "the journal postgresql://" : "the journal " + f.file() + "; `mcpbx sessions`";
  for (const auto& unknown : {s.load("ses_9").error(), s.read("ses_9").error(), s.erase("ses_9").error()})
    CHECK(unknown.message.starts_with("there is no session \"ses_9\" in " + place));
}

TEST_CASE("L17: of a deleted session no file of an open journal holds a word" * sqlite_only()) {
  folder f;
  sessions_store s(f.file());
  REQUIRE(s.write("a", in_session("ses_1", 1)).has_value());
  REQUIRE(s.write("z", in_session("ses_2", 2)).has_value());
  const auto files_with = [&](const std::string& words) {
    int found = 0;
    for (const auto& entry : std::filesystem::directory_iterator(f.path)) {
      std::ifstream in(entry.path(), std::ios::binary);
      const std::string all{std::istreambuf_iterator<char>(in), {}};
      found += contains(all, words) ? 1 : 0;
    }
    return found;
  };
  REQUIRE(files_with("question 1") > 0);
  CHECK(s.erase("ses_1").has_value());
  CHECK(files_with("question 1") == 0);
  CHECK(files_with("question 2") > 0);
}

TEST_CASE("L17: a session that was deleted while its next run began takes no more records") {
  folder f;
  sessions_store s(f.file());
  REQUIRE(s.write("a", in_session("ses_1", 1)).has_value());
  REQUIRE(s.write("z", in_session("ses_2", 1)).has_value());
  CHECK(s.erase("ses_1").has_value());
  CHECK(s.ids() == std::vector<std::string>{"ses_2"});
  const auto late = s.write("b", in_session("ses_1", 0, 4));
  REQUIRE_FALSE(late.has_value());
  CHECK(contains(late.error().message, "ses_1 was deleted"));
  CHECK(s.load("ses_1").error().code == errc::not_found);
  CHECK(s.load("ses_2").value().size() == 4);
}

TEST_CASE("L17: a run begins only behind the history that it was given") {
  folder f;
  sessions_store s(f.file());
  REQUIRE(s.write("a", in_session("ses_1", 1)).has_value());
  const auto before = s.load("ses_1").value();
  CHECK(before.last_run > 0);
  auto next = in_session("ses_1", 0, before.size()), late = next;
  for (auto* records : {&next, &late})
    std::get<record::run_started>(records->front()).inherited_after = before.last_run;
  REQUIRE(s.write("b", next).has_value());
  const auto refused = s.write("c", late);
  REQUIRE_FALSE(refused.has_value());
  CHECK(contains(refused.error().message, "ses_1 went on elsewhere a moment ago"));
  CHECK(refused.error().code == errc::unavailable);
  CHECK(s.read("ses_1").value().runs.size() == 2);
  CHECK(s.load("ses_1").value().last_run > before.last_run);
}

TEST_CASE("L17: of runs that begin in a session at once one goes on, and no other run fails for it") {
  folder f;
  {
    const auto file = opened(f.file());
    const auto place = [](const char* run) { return std::make_shared<run_place>(run_place{run}); };
    const auto first = [](const char* session) { return std::vector<run_record>{in_session(session, 0)[0]}; };
    REQUIRE(put(*file, batch_of(place("a"), first("ses_1"))).has_value());
    auto lost = put(*file, batch_of(place("b"), first("ses_1")));
    REQUIRE_FALSE(lost.has_value());
    CHECK(lost.error().code == errc::unavailable);
    CHECK(contains(lost.error().message, "another run that is going on in this session; wait for its end"));
    CHECK(put(*file, batch_of(place("c"), first("ses_2"))).has_value());
  }
  CHECK(contents(f.file()).size() == 2);
}

TEST_CASE("L17: a title is the first line that a user says, cut, with a blank for a tab or a control character") {
  record::run_started r;
  const auto titled = [&](std::string text) {
    r.messages = {providers::system_message("be short"), providers::user_message(std::move(text))};
    return title_of(r);
  };
  CHECK(titled("\n\ttab\tnew\x01one\r\nsecond") == "tab new one");
  CHECK(titled("zero\xe2\x80\x8bwidth") == "zerowidth");
  CHECK(titled(std::string(90, 'x')) == std::string(77, 'x') + "...");
  CHECK(titled(" \n") == "");
}

TEST_CASE("sessions: the list has the latest used first and goes on page by page") {
  folder f;
  sessions_store s(f.file());
  for (int n = 0; n < 5; ++n) REQUIRE(s.write("a", in_session("ses_" + std::to_string(n), 0)).has_value());
  REQUIRE(s.write("b", in_session("ses_1", 0, 2)).has_value());
  CHECK(s.ids() == std::vector<std::string>{"ses_1", "ses_4", "ses_3", "ses_2", "ses_0"});
  const auto page = s.list({2, "ses_4"}).value();
  REQUIRE(page.size() == 2);
  CHECK((page[0].id == "ses_3" && page[1].id == "ses_2"));
}

TEST_CASE("sessions: retention by age and by size takes the longest unused, never the latest and never one in use") {
  folder f;
  auto o = rules();
  o.keep.max_age_ms = 1'000;
  {
    sessions_store s(f.file(), o);
    REQUIRE(s.write("a", in_session("ses_1", 0)).has_value());
    auto open = s.journal.open_run("u");
    const auto records = in_session("ses_2", 0);
    go(s.context, [&]() -> asio::awaitable<void> { co_await open->append({records[0]}, false); });
    s.turn();
    s.time.advance(milliseconds(3'700'000));
    REQUIRE(s.write("b", in_session("ses_3", 0)).has_value());
    CHECK(s.ids() == std::vector<std::string>{"ses_3", "ses_2"});
    s.time.advance(milliseconds(3'700'000));
    CHECK(s.ids() == std::vector<std::string>{"ses_3", "ses_2"});
  }
  o.keep.max_age_ms = 0;
  o.keep.max_bytes = 20'000;
  sessions_store s(f.file(), o);
  for (int n = 4; n < 30; ++n) REQUIRE(s.write("c", in_session("ses_" + std::to_string(n), 2)).has_value());
  const auto left = s.list().value();
  std::int64_t bytes = 0;
  for (const auto& row : left) bytes += row.bytes;
  CHECK(left.front().id == "ses_29");
  CHECK(left.size() > 1);
  CHECK(bytes < 25'000);
  CHECK(s.load("ses_3").error().code == errc::not_found);
}

TEST_CASE("sessions: one with a run that cannot be read is shown and not gone on with") {
  folder f;
  {
    sessions_store s(f.file());
    REQUIRE(s.write("a", in_session("ses_1", 1)).has_value());
    REQUIRE(s.write("b", in_session("ses_1", 0, 4)).has_value());
  }
  with_plain_sql(f.file(), "UPDATE records SET body='{\"v\":1,\"type\":\"dream\"}' WHERE run=1 AND seq=2");
  sessions_store s(f.file());
  const auto refused = s.load("ses_1").error();
  CHECK(refused.code == errc::io);
  CHECK(contains(refused.message, "its run a cannot be read (record 2: a record has the unknown type \"dream\")"));
  const auto kept = s.read("ses_1").value();
  REQUIRE(kept.runs.size() == 2);
  CHECK((!kept.runs[0].damage.empty() && kept.runs[1].folded.messages.size() == 2));
  CHECK(s.erase("ses_1").has_value());
}

TEST_CASE("sessions: a run of which records are missing says so, and those around it are read") {
  folder f;
  {
    sessions_store s(f.file());
    for (const auto* run : {"a", "b", "c", "d"}) REQUIRE(s.write(run, in_session("ses_1", 1)).has_value());
  }
  with_plain_sql(f.file(), "DELETE FROM records WHERE run IN (1, 4) OR (run = 3 AND seq = 2)");
  sessions_store s(f.file());
  const auto runs = s.read("ses_1").value().runs;
  REQUIRE(runs.size() == 4);
  CHECK((runs[0].damage == "it has no records" && runs[3].damage == "it has no records"));
  CHECK((runs[1].damage.empty() && runs[1].folded.messages.size() == 4));
  CHECK((runs[2].damage == "record 2 is missing" && runs[2].folded.messages.empty()));
}

TEST_CASE("L17: a run that has ended is found by its name, with what it inherited") {
  folder f;
  sessions_store s(f.file());
  REQUIRE(s.write("a", in_session("ses_1", 1)).has_value());
  REQUIRE(s.write("b", in_session("ses_1", 0, 4)).has_value());
  const auto find = [&](const std::string& run) {
    return s.ask<std::vector<run_record>>([&](auto then) { s.journal.find_ended(run, then); });
  };
  const auto found = find("b").value();
  const auto& first = std::get<record::run_started>(found.front());
  CHECK(first.inherited.size() == 4);
  CHECK(conversation_of(first).size() == 6);
  CHECK(fold(found, found.size()).facts().ended);
  CHECK(find("c").error().code == errc::not_found);
}

TEST_CASE("L17: runs that are to go on are handed over once, and their journals go on behind the last record") {
  folder f;
  const auto whole = in_session("ses_1", 2, 4);
  {
    std::vector<std::unique_ptr<run_journal>> open;  // outlive the store: nobody closes them, as when it is killed
    sessions_store s(f.file());
    REQUIRE(s.write("a", in_session("ses_1", 1)).has_value());
    for (int n : {2, 5}) {
      auto records = n == 2 ? whole : in_session("ses_5", 5);
      records.resize(4);
      open.push_back(s.journal.open_run(std::to_string(n)));
      go(s.context, [&]() -> asio::awaitable<void> { co_await write_run(*open.back(), records); });
      s.turn();
    }
  }
  auto o = rules();
  o.rules.goes_on = [](const auto& records) {
    return std::get<record::run_started>(records.front()).session == "ses_1";
  };
  std::vector<std::string> closed;
  o.rules.closed = [&](const auto& before, const auto& closing) {
    closed.push_back(std::get<record::run_started>(before.front()).run + " " + std::to_string(before.size()) + " " +
                     std::string(name_of(closing.back())));
  };
  {
    sessions_store s(f.file(), o);
    const auto take = [&] {
      return s.ask<std::vector<unfinished_run>>([&](auto then) { s.journal.take_unfinished(then); });
    };
    auto runs = take();
    REQUIRE(runs.has_value());
    REQUIRE(runs->size() == 1);
    auto& one = runs->front();
    CHECK((one.run == "2" && one.session == "ses_1" && one.records.size() == 5));
    CHECK(std::holds_alternative<record::taken_over>(one.records.back()));
    CHECK(std::get<record::run_started>(one.records.front()).inherited.size() == 4);
    CHECK(take().value().empty());
    CHECK(closed == std::vector<std::string>{"5 4 run_ended"});  // G48: the audit is told so
    CHECK(s.load("ses_1").error().code == errc::unavailable);
    go(s.context, [&]() -> asio::awaitable<void> {
      std::vector<run_record> rest(whole.begin() + 4, whole.end());
      auto done = co_await write_run(*one.journal, rest);
      CHECK(done.has_value());
    });
    s.turn();
    CHECK(s.load("ses_1").value().size() == 4 + 6);
  }
  const auto all = contents(f.file());
  REQUIRE(all.size() == 3);
  auto gone_on = whole;
  gone_on.insert(gone_on.begin() + 4, record::taken_over{});
  CHECK(texts_of(all[1].second) == texts_of(gone_on));
  CHECK(all[2].first.reason == "interrupted");
}

TEST_CASE("G24: a run that has no end yet is never told as one that is not there, or as an older one of its name") {
  folder f;
  auto records = in_session("ses_2", 2);
  records.resize(2);
  const auto find = [](sessions_store& s, const std::string& run) {
    return s.ask<std::vector<run_record>>([&](auto then) { s.journal.find_ended(run, then); });
  };
  {
    std::unique_ptr<run_journal> open;  // outlives the store: nobody closes the run, as when it is killed
    sessions_store s(f.file());
    REQUIRE(s.write("a", in_session("ses_1", 1)).has_value());
    open = s.journal.open_run("a");
    go(s.context, [&]() -> asio::awaitable<void> { co_await write_run(*open, records); });
    s.turn();
    CHECK(find(s, "a").error().code == errc::unavailable);
  }
  auto o = rules();
  o.rules.goes_on = [](const auto&) { return true; };
  {
    sessions_store s(f.file(), std::move(o));
    const auto found = find(s, "a");
    REQUIRE_FALSE(found.has_value());
    CHECK(found.error().code == errc::unavailable);
    CHECK(contains(found.error().message, "the run a has no end yet in the journal "));
    CHECK(contains(found.error().message, "; ask again later"));
    CHECK(find(s, "b").error().code == errc::not_found);
  }
  sessions_store s(f.file());
  const auto closed = find(s, "a");
  REQUIRE(closed.has_value());
  CHECK(closed->size() > records.size());
}

TEST_CASE("G24: a run that cannot go on, for want of what its session held before, is closed, and the store works") {
  folder f;
  {
    std::unique_ptr<run_journal> open;  // outlives the store: nobody closes the run, as when it is killed
    sessions_store s(f.file());
    REQUIRE(s.write("a", in_session("ses_1", 1)).has_value());
    auto records = in_session("ses_1", 1, 4);
    records.resize(2);
    open = s.journal.open_run("b");
    go(s.context, [&]() -> asio::awaitable<void> { co_await write_run(*open, records); });
    s.turn();
  }
  with_plain_sql(f.file(), "UPDATE records SET body='{' WHERE run=1 AND seq=1");
  auto o = rules();
  o.rules.goes_on = [](const auto&) { return true; };
  sessions_store s(f.file(), std::move(o));
  const auto runs = s.ask<std::vector<unfinished_run>>([&](auto then) { s.journal.take_unfinished(then); });
  REQUIRE_MESSAGE(runs.has_value(), (runs ? "" : runs.error().message));
  CHECK(runs->empty());
  CHECK(s.write("c", in_session("ses_2", 0)).has_value());
  const auto kept = s.read("ses_1").value().runs;
  REQUIRE(kept.size() == 2);
  CHECK((!kept[0].damage.empty() && kept[1].row.reason == "interrupted"));
  CHECK(s.load("ses_1").error().code == errc::io);
}

TEST_CASE("G24: a file of the first version is brought up to date, each of its runs in a session of its own" *
          sqlite_only()) {
  folder f;
  const auto quote = [](const std::string& text) {
    std::string out = "'";
    for (const char c : text) out += c == '\'' ? std::string("''") : std::string(1, c);
    return out + "'";
  };
  std::string sql =
      "PRAGMA application_id=1835229816; CREATE TABLE schema(version INTEGER NOT NULL); INSERT INTO schema VALUES(1);"
      "CREATE TABLE runs(id INTEGER PRIMARY KEY AUTOINCREMENT, run TEXT NOT NULL, session TEXT NOT NULL, principal "
      "TEXT "
      "NOT NULL, model TEXT NOT NULL, started_ms INTEGER NOT NULL, ended_ms INTEGER, reason TEXT);"
      "CREATE INDEX runs_by_name ON runs(run); CREATE INDEX runs_unfinished ON runs(id) WHERE ended_ms IS NULL;"
      "CREATE TABLE records(run INTEGER NOT NULL REFERENCES runs(id), seq INTEGER NOT NULL, at_ms INTEGER NOT NULL, "
      "body TEXT NOT NULL, PRIMARY KEY(run, seq));"
      "INSERT INTO runs VALUES(1,'one','','uid:1','m',10,20,'final'); INSERT INTO runs "
      "VALUES(2,'two','','uid:1','m',30,NULL,NULL);";
  auto texts = texts_of(run_of(1));
  for (std::size_t i = 0; i < texts.size(); ++i)
    for (int run : {1, 2})
      if (run == 1 || i < 3)
        sql += "INSERT INTO records VALUES(" + std::to_string(run) + "," + std::to_string(i) + ",11," +
               quote(texts[i]) + ");";
  with_plain_sql(f.file(), sql);
  sessions_store s(f.file());
  const auto rows = s.list().value();
  REQUIRE(rows.size() == 2);
  CHECK(s.read(rows[1].id).value().runs.front().damage.empty());
  CHECK(rows[0].id.starts_with("ses_"));
  CHECK(rows[0].id.size() == 20);
  CHECK((rows[0].runs == 1 && rows[0].running.empty() && rows[0].bytes > 0));
  CHECK(s.load(rows[1].id).value().size() == 4);
  CHECK(fault_of(s.load(rows[0].id).value()) == "");  // recovery closed it
}

TEST_CASE("G25: a session that cannot be opened is an error with the mend, until it can" * sqlite_only()) {
  folder f;
  {
    sessions_store s(f.file());
    REQUIRE(s.write("a", in_session("ses_1", 0)).has_value());
  }
  sessions_store s(f.file());
  {
    sqlite_store other({.path = f.file()});
    REQUIRE(other.open().has_value());
    CHECK(contains(s.load("ses_1").error().message, "is in use by another process"));
    CHECK(contains(s.list().error().message, "is in use by another process"));
  }
  CHECK(s.load("ses_1").value().size() == 2);
}

TEST_CASE("sessions: more requests than may wait are refused at once, the others are answered") {
  folder f;
  auto o = rules();
  o.max_reads = 2;
  sessions_store s(f.file(), o);
  std::vector<std::string> answers;
  for (int i = 0; i < 5; ++i)
    s.journal.list_sessions({}, [&](result<std::vector<session_row>> rows) {
      answers.push_back(rows ? "rows" : std::string(mcpbx::to_string(rows.error().code)));
    });
  s.turn();
  CHECK(std::ranges::count(answers, "rows") == 3);  // one was being read
  CHECK(std::ranges::count(answers, "limit") == 2);
}

TEST_CASE(
    "F8 L14 L19: the next run of a session is given its latest terms, its results to read on, and what names mean") {
  folder f;
  sessions_store s(f.file());
  auto records = in_session("ses_1", 1);
  auto& first = std::get<record::run_started>(records.front());
  first.profile = "careful";
  first.limits.max_result_bytes = 100;
  first.asked_limits = raw_json::literal(R"({"maxRounds":2})");
  for (auto& r : records)
    if (auto* said = std::get_if<record::assistant>(&r)) said->tools = {{"s__a_b", "s", "a.b"}};
  REQUIRE(s.write("a", std::move(records)).has_value());
  REQUIRE(s.write("b", in_session("ses_1", 0, 4)).has_value());
  const auto next = s.load("ses_1");
  REQUIRE_MESSAGE(next.has_value(), (next ? "" : next.error().message));
  CHECK((next->terms.profile.empty() && next->terms.limits.empty()));  // run b was asked for nothing
  REQUIRE(next->results.size() == 1);
  CHECK(next->results[0].call_id == "b1_0");
  CHECK(contains(next->results[0].result.text(), std::string(300, 'x')));
  CHECK(next->tools == std::vector<record::meant_tool>{{"s__a_b", "s", "a.b"}});

  auto third = in_session("ses_1", 0, next->size());
  std::get<record::run_started>(third.front()).profile = "careful";
  REQUIRE(s.write("c", std::move(third)).has_value());
  CHECK(s.load("ses_1")->terms.profile == "careful");
}
