// Calls of runs in the audit: told as their results are journalled.
#include "daemon/guard/audit/audited_journal.hpp"

#include "test/support/manual_time.hpp"
#include "test/support/temporary_directory.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <exception>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon::audit;
using namespace mcpbx::daemon::store;
using namespace mcpbx::daemon::stored;
using namespace mcpbx::json;
using namespace mcpbx::test;
namespace asio = boost::asio;

namespace {

class broken_journal final : public journal {
 public:
  std::optional<journal_trouble> trouble() const override { return journal_trouble{"full", 7}; }
  std::unique_ptr<run_journal> open_run(const std::string&) override { return std::make_unique<one>(); }

 private:
  struct one final : run_journal {
    asio::awaitable<result<void>> append(std::vector<run_record>, bool) override { co_return fail(errc::io, "full"); }
  };
};

/// Fails from its third append on.
class breaking_journal final : public journal {
 public:
  std::unique_ptr<run_journal> open_run(const std::string&) override { return std::make_unique<one>(); }

 private:
  struct one final : run_journal {
    asio::awaitable<result<void>> append(std::vector<run_record>, bool) override {
      if (++appends < 3) co_return result<void>();
      co_return fail(errc::io, "full");
    }
    int appends = 0;
  };
};

struct audited_run_rig {
  temporary_directory dir;
  asio::io_context io{1};
  manual_time time;
  audit_log log{io.get_executor(), time, {.path = result<std::string>(dir / "audit.jsonl")}};

  result<void> append(run_journal& to, std::vector<run_record> records) {
    result<void> outcome = fail(errc::internal, "did not finish");
    asio::co_spawn(
        io,
        [&]() -> asio::awaitable<void> {
          auto r = co_await to.append(std::move(records), false);
          outcome = std::move(r);
        },
        [](std::exception_ptr e) {
          if (e) std::rethrow_exception(e);
        });
    io.restart();
    io.run();
    return outcome;
  }
  /// tool, server, decision and end of each line.
  std::vector<std::string> lines() const {
    std::vector<std::string> found;
    std::ifstream in(dir / "audit.jsonl");
    for (std::string line; std::getline(in, line);) {
      const auto l = raw_json::parse(line);
      REQUIRE(l);
      found.push_back(member_text(*l, "run") + " " + member_text(*l, "principal") + " " + member_text(*l, "tool") +
                      " " + member_text(*l, "server") + " " + member_text(*l, "decision") + " " +
                      member_text(*l, "end") + " " + std::string(find_member(*l, "resultBytes").text()) +
                      (find_member(*l, "argumentsSha256") ? "" : " ?"));
    }
    return found;
  }
};

run_record asked(const std::vector<std::string>& ids) {
  auto m = std::make_shared<providers::message>();
  m->role = providers::role::assistant;
  for (const auto& id : ids) {
    providers::tool_call_block c;
    c.id = id;
    c.name = "tool_" + id;
    c.arguments = raw_json::literal("{}");
    m->blocks.emplace_back(std::move(c));
  }
  record::assistant r;
  r.message = std::move(m);
  return r;
}

run_record intended(const std::string& id) {
  record::call_intent i;
  i.call_id = id;
  i.name = "s__" + id;
  i.server = "s";
  return i;
}

run_record ended(const std::string& id, record::result_cause cause, bool is_error) {
  return record::call_result{id, raw_json::literal("{}"), is_error, cause, 1};
}

run_record begun() {
  record::run_started r;
  r.run = "r";
  r.principal = "uid:7";
  return r;
}

using words = std::vector<std::string>;
using cause = record::result_cause;

}  // namespace

TEST_CASE("G48: every call of a run is in the audit before its result counts, whatever became of it") {
  audited_run_rig rig;
  auto kept = std::make_unique<memory_journal>(true);
  const auto& records = kept->kept();
  audited_journal journal(std::move(kept), rig.log, rig.time);
  auto run = journal.open_run("r");
  REQUIRE(rig.append(*run, {begun()}));
  REQUIRE(rig.append(*run, {asked({"a", "b", "c", "d", "e"})}));
  REQUIRE(rig.append(*run, {intended("a"), intended("b"), ended("c", cause::unknown_tool, true), intended("e")}));
  CHECK(rig.lines() == words{"r uid:7 tool_c  unknown error 0"});
  REQUIRE(rig.append(*run, {ended("b", cause::server, true)}));
  REQUIRE(rig.append(
      *run, {ended("a", cause::server, false), ended("d", cause::refused, true), ended("e", cause::timed_out, true)}));
  CHECK(rig.lines() == words{"r uid:7 tool_c  unknown error 0", "r uid:7 s__b s called tool_error 2",
                             "r uid:7 s__a s called result 2", "r uid:7 tool_d  refused error 0",
                             "r uid:7 s__e s called failed 0"});
  CHECK(records.at(0).second->size() == 10);
}

TEST_CASE("G48: a run that goes on after a restart has its calls in the audit, too") {
  audited_run_rig rig;
  audited_journal journal(std::make_unique<memory_journal>(), rig.log, rig.time);
  auto run = journal.open_run("r");
  REQUIRE(rig.append(*run, {ended("a", cause::interrupted, true), intended("b"), ended("b", cause::server, false)}));
  CHECK(rig.lines() == words{"r    called failed 0 ?", "r  s__b s called result 2 ?"});
}

TEST_CASE("G48: calls that recovery closes are in the audit, those that had ended before not again") {
  audited_run_rig rig;
  const auto closed = audit_of_closed_runs(rig.io.get_executor(), rig.log, rig.time);
  closed({begun(), asked({"a", "b", "c"}), intended("a"), intended("b"), ended("a", cause::server, false)},
         {ended("b", cause::interrupted, true), ended("c", cause::interrupted, true), record::run_ended{}});
  CHECK(rig.lines().empty());
  closed({begun()}, {record::run_ended{}});
  closed({}, {});
  rig.io.restart();
  rig.io.run();
  CHECK(rig.lines() == words{"r uid:7 s__b s called failed 0", "r uid:7 tool_c  refused failed 0"});
}

TEST_CASE("G48: calls are in the audit although the journal fails, and its error is passed on") {
  audited_run_rig rig;
  audited_journal journal(std::make_unique<broken_journal>(), rig.log, rig.time);
  auto run = journal.open_run("r");
  CHECK_FALSE(rig.append(*run, {asked({"a"}), intended("a")}));
  const auto done = rig.append(*run, {ended("a", cause::server, false)});
  REQUIRE_FALSE(done);
  CHECK(done.error().message == "full");
  CHECK(rig.lines() == words{"r  s__a s called result 2"});
}

TEST_CASE(
    "G48: calls that are at their server when the journal fails are in the audit, those that did not leave are not") {
  audited_run_rig rig;
  audited_journal journal(std::make_unique<breaking_journal>(), rig.log, rig.time);
  auto run = journal.open_run("r");
  REQUIRE(rig.append(*run, {begun(), asked({"a", "b", "c", "d"})}));
  REQUIRE(rig.append(*run, {intended("a"), intended("b"), intended("c")}));
  CHECK_FALSE(rig.append(*run, {ended("b", cause::server, false), intended("d")}));
  run.reset();  // its run has ended in memory
  rig.io.restart();
  rig.io.run();
  CHECK(rig.lines() ==
        words{"r uid:7 s__b s called result 2", "r uid:7 s__a s called failed 0", "r uid:7 s__c s called failed 0"});
}

TEST_CASE("G49: the trouble of the journal is told through the audited one") {
  audited_run_rig rig;
  CHECK(audited_journal(std::make_unique<broken_journal>(), rig.log, rig.time).trouble().value().since_ms == 7);
  CHECK_FALSE(audited_journal(std::make_unique<memory_journal>(), rig.log, rig.time).trouble().has_value());
}
