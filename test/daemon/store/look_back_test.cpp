// Looking back through every kind of journal: counts by model, server, tool and day, and searches for words.
#include "mcp/redact/secret.hpp"
#include "test/daemon/store/sessions_fixture.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon::stored;
using namespace mcpbx::daemon::test;
using namespace mcpbx::redact;

namespace {

constexpr std::int64_t day = 86'400'000;

std::vector<run_record> run_that_says(const std::string& session, const std::string& question) {
  auto records = in_session(session, 1);
  std::get<record::run_started>(records.front()).messages = {providers::user_message(question)};
  return records;
}

}  // namespace

TEST_CASE("L17: usage is counted by model, server, tool and day, and only of runs since a time") {
  folder f;
  sessions_store s(f.file());
  REQUIRE(s.write("a", in_session("ses_1", 1)).has_value());
  s.time.advance(milliseconds(3 * day));
  REQUIRE(s.write("b", in_session("ses_2", 2)).has_value());
  const auto all = s.count().value();
  CHECK(all.next == 0);
  CHECK(all.report.total.runs == 2);
  CHECK(all.report.total.failed_runs == 0);
  CHECK(all.report.days.size() == 2);
  REQUIRE(all.report.models.contains("m"));
  const auto& of_model = all.report.models.at("m");
  CHECK(of_model.runs == 2);
  CHECK(of_model.model_calls == all.report.total.model_calls);
  CHECK(of_model.input_tokens > 0);
  CHECK(all.report.total.calls > 0);
  std::int64_t by_tool = 0, by_server = 0;
  for (const auto& [name, counts] : all.report.tools) by_tool += counts.calls;
  for (const auto& [name, counts] : all.report.servers) by_server += counts.calls;
  CHECK(by_tool == all.report.total.calls);
  CHECK(by_server == all.report.total.calls);
  CHECK(s.count({.since_ms = s.time.wall_ms() - day}).value().report.total.runs == 1);
}

TEST_CASE("L17: a look back goes page by page, and pages together are the whole") {
  folder f;
  sessions_store s(f.file());
  for (int i = 0; i < 7; ++i)
    REQUIRE(s.write("run" + std::to_string(i), in_session("ses_" + std::to_string(i), i)).has_value());
  const auto whole = s.count().value().report.total;
  CHECK(whole.runs == 7);
  for (const auto& size : {look_back{.most_runs = 2}, look_back{.most_bytes = 1}}) {
    usage_report sum;
    auto where = size;
    int pages = 0;
    do {
      const auto page = s.count(where).value();
      sum += page.report;
      where.before = page.next;
      REQUIRE(++pages < 10);
    } while (where.before != 0);
    CHECK(pages >= 4);
    CHECK((sum.total.runs == whole.runs && sum.total.input_tokens == whole.input_tokens));
    CHECK(sum.total.calls == whole.calls);
  }
}

TEST_CASE("L17: words are found in what was said, the latest run first, in any case and only all together") {
  folder f;
  sessions_store s(f.file());
  REQUIRE(s.write("a", run_that_says("ses_1", "first line\nA hotel in LISBON, please")).has_value());
  REQUIRE(s.write("b", run_that_says("ses_2", "hotel 100%_in Paris")).has_value());
  REQUIRE(s.write("c", run_that_says("ses_3", "one more hotel in lisbon")).has_value());
  const auto both = s.find("Hotel lisbon").value();
  REQUIRE(both.runs.size() == 2);
  CHECK((both.runs[0].session == "ses_3" && both.runs[1].session == "ses_1"));
  CHECK((both.runs[1].line == "A hotel in LISBON, please" && both.runs[1].role == "user" && both.runs[1].run == "a"));
  CHECK(both.next == 0);
  // Characters that mean something to a database are characters here.
  CHECK(s.find("100%_in").value().runs.size() == 1);
  CHECK(s.find("%").value().runs.size() == 1);
  CHECK(s.find("'; DROP TABLE runs; --").value().runs.empty());
  CHECK(s.find("thinking").value().runs.at(0).role == "assistant");
  const auto one = s.find("hotel", 1).value();
  CHECK((one.runs.size() == 1 && one.next != 0));
  CHECK(s.find("hotel", 5, {.before = one.next}).value().runs.size() == 2);
}

TEST_CASE("E3: a run is found by the trace id of its caller, and by no part of it") {
  folder f;
  sessions_store s(f.file());
  const std::string parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  auto records = run_that_says("ses_1", "hello");
  std::get<record::run_started>(records.front()).trace = {parent, "a=1"};
  REQUIRE(s.write("a", std::move(records)).has_value());
  REQUIRE(s.write("b", run_that_says("ses_2", "hello too")).has_value());
  for (const auto* words : {"0af7651916cd43dd8448eb211c80319c", "0AF7651916CD43DD8448EB211C80319C", parent.c_str()}) {
    const auto found = s.find(words).value();
    REQUIRE_MESSAGE(found.runs.size() == 1, words);
    CHECK((found.runs[0].run == "a" && found.runs[0].role == "trace" && found.runs[0].line == parent));
  }
  CHECK(s.find("00").value().runs.empty());
  CHECK(s.find("0af7651916cd43dd8448eb211c80319c hello").value().runs.empty());
}

TEST_CASE("E2: a search shows no secret, and does not find one either") {
  folder f;
  sessions_store s(f.file());
  redactor::add(secret("very-secret-word"));
  REQUIRE(s.write("a", run_that_says("ses_1", "my key is very-secret-word, keep it")).has_value());
  CHECK(s.find("very-secret-word").value().runs.empty());
  CHECK(s.find("secret").value().runs.empty());
  CHECK(s.find("keep key").value().runs.at(0).line == "my key is ***, keep it");
  redactor::clear();
}

TEST_CASE("L17: a look back makes no file, and a run that cannot be read is passed over") {
  folder f;
  sessions_store s(f.file());
  CHECK(s.count().value().report.total.runs == 0);
  CHECK(s.find("word").value().runs.empty());
}

TEST_CASE("L17: a report has a bounded number of names") {
  usage_report all;
  for (int i = 0; i < 3000; ++i) {
    const run_row row{i, "r", "", "", "model" + std::to_string(i), 0, 1, "final"};
    run_usage(row).count_into(all);
  }
  CHECK(all.models.size() == usage_report::most_names);
  CHECK(all.models.at("(others)").runs == 3000 - (usage_report::most_names - 1));
  CHECK(all.total.runs == 3000);
}
