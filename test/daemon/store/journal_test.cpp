// The in-memory journal and the words that journals write.
#include "daemon/store/journal.hpp"

#include "daemon/store/records/record.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <exception>
#include <set>
#include <string>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon::store;
using namespace mcpbx::daemon::stored;
namespace asio = boost::asio;

namespace {

std::vector<run_record> two() {
  return {record::round_started{0, "m", true, 0}, record::cancel{}};
}

result<void> append(run_journal& to, std::vector<run_record> records) {
  asio::io_context context(1);
  result<void> outcome = fail(errc::internal, "did not finish");
  asio::co_spawn(
      context,
      [&]() -> asio::awaitable<void> {
        auto r = co_await to.append(std::move(records), true);
        outcome = std::move(r);
      },
      [](std::exception_ptr e) {
        if (e) std::rethrow_exception(e);
      });
  context.run();
  return outcome;
}

}  // namespace

TEST_CASE("memory_journal: keeps the records of each run in order when asked to") {
  memory_journal store(true);
  auto a = store.open_run("a");
  auto b = store.open_run("b");
  CHECK(append(*a, two()).has_value());
  CHECK(append(*b, {record::run_ended{}}).has_value());
  CHECK(append(*a, {record::run_ended{}}).has_value());
  REQUIRE(store.kept().size() == 2);
  CHECK(store.kept()[0].first == "a");
  const auto& records = *store.kept()[0].second;
  REQUIRE(records.size() == 3);
  CHECK(name_of(records[0]) == "round_started");
  CHECK(name_of(records[1]) == "cancel");
  CHECK(name_of(records[2]) == "run_ended");
  CHECK(store.kept()[1].second->size() == 1);
}

TEST_CASE("memory_journal: forgets records at once unless asked to keep them") {
  memory_journal store;
  auto kept = std::make_shared<providers::message>();
  std::weak_ptr<const providers::message> seen = kept;
  auto run = store.open_run("a");
  record::assistant reply;
  reply.message = std::move(kept);
  CHECK(append(*run, {std::move(reply)}).has_value());
  CHECK(seen.expired());
  CHECK(store.kept().empty());
}

TEST_CASE("L17: a journal that keeps nothing says so, and how to keep runs, to who asks for one") {
  memory_journal store;
  std::vector<std::string> said;
  const auto note = [&](const auto& answer) { said.push_back(answer ? "an answer" : answer.error().message); };
  store.find_ended("a", note);
  store.load_history("ses_1", note);
  store.list_sessions({}, note);
  store.read_session("ses_1", note);
  store.erase_session("ses_1", note);
  REQUIRE(said.size() == 5);
  CHECK(said[0].starts_with("no run is named \"a\", and those that have ended are not kept"));
  for (const auto& one : said)
    CHECK(one.ends_with("store.url is \"none\"; set it to \"sqlite:\", or take the key out"));
}

TEST_CASE("L11: every stop reason has its own word") {
  std::set<std::string_view> words;
  for (int i = 0; i <= static_cast<int>(stop_reason::repeated_calls); ++i)
    words.insert(daemon::stored::to_string(static_cast<stop_reason>(i)));
  const std::set<std::string_view> expected = {
      "final",          "max_rounds",   "consecutive_errors", "tool_error",  "timeout",        "token_budget",
      "call_budget",    "refused",      "truncated",          "cancelled",   "needs_approval", "caller_tools",
      "provider_error", "context_full", "store_error",        "interrupted", "repeated_calls"};
  CHECK(words == expected);
}

TEST_CASE("record: the journal's names of records are those of the table") {
  CHECK(name_of(record::run_started{}) == "run_started");
  CHECK(name_of(record::assistant{}) == "assistant");
  CHECK(name_of(record::model_failed{}) == "model_failed");
  CHECK(name_of(record::question{}) == "question");
  CHECK(name_of(record::answer{}) == "answer");
  CHECK(name_of(record::call_intent{}) == "call_intent");
  CHECK(name_of(record::call_result{}) == "call_result");
  CHECK(name_of(record::parked{}) == "parked");
  CHECK(name_of(record::caller_result{}) == "caller_result");
}
