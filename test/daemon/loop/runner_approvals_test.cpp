// Approvals within a process and over a restart. An approval is bound to the tool's server and the server's origin, to
// the definition and to the arguments.
#include "test/daemon/loop/next_process.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon::stored;
using namespace mcpbx::daemon::test;
using namespace mcpbx::json;

namespace {

const record::question& last_question(const std::vector<run_record>& records) {
  return std::get<record::question>(records.back());
}

/// Returns left_asking() and the approval, which was kept before the process ended.
std::vector<run_record> left_allowed() {
  auto records = left_asking();
  records.emplace_back(record::answer{last_question(records).id, raw_json::literal(R"({"approve":true})"), false});
  return records;
}

/// Returns the records of a run whose caller said "always" to the first call, up to the intent of the second.
std::vector<run_record> left_always() {
  fixture f;
  f.offer({"guarded"});
  f.model->script = {calls({call("a", "srv__guarded")}), calls({call("b", "srv__guarded")})};
  f.run(detached("long"));
  f.runs->answer("long", last_question(f.written()).id, raw_json::literal(R"({"approve":true,"always":true})"),
                 [](const result<void>&) {});
  f.settle();
  auto records = f.written();
  CHECK(f.server->params.size() == 2);
  const auto second = std::ranges::find_if(records, [](const run_record& r) {
    const auto* intent = std::get_if<record::call_intent>(&r);
    return intent != nullptr && intent->call_id == "b";
  });
  records.erase(second, records.end());
  return records;
}

/// The next process, with the number of its questions and calls.
struct gone_on : next_process {
  explicit gone_on(std::vector<run_record> records, const std::function<void(gone_on&)>& change = {}) {
    (void)random.next();  // the earlier process has used the first number
    offer({"guarded"});
    if (change) change(*this);
    model->script = {says("done")};
    resume(std::move(records));
    watcher.read(**runs->find("long"));
  }
  void approve(const std::string& question) {
    runs->answer("long", question, raw_json::literal(R"({"approve":true})"), [](const result<void>&) {});
    settle();
  }
  std::size_t asked() const { return watcher.of("question").size(); }
  std::size_t made() const { return server->params.size(); }
  caller watcher;
};

void another_command(gone_on& p) {
  p.origin = std::make_shared<std::string>("another command");
  p.offer({"guarded"});
}
void no_origin(gone_on& p) {
  p.origin.reset();
  p.offer({"guarded"});
}
void another_definition(gone_on& p) {
  p.tools.catalog =
      std::make_shared<mcp::catalogs::catalog>(std::vector<mcp::catalogs::entry_ptr>{p.changed("guarded")}, 99);
}

/// Returns the records with one byte replaced in the arguments of the call.
std::vector<run_record> other_arguments(std::vector<run_record> records) {
  for (auto& r : records)
    if (auto* said = std::get_if<record::assistant>(&r)) {
      auto copy = std::make_shared<providers::message>(*said->message);
      for (auto& block : copy->blocks)
        if (auto* c = std::get_if<providers::tool_call_block>(&block)) c->arguments = raw_json::own(R"({"of":"A"})");
      said->message = std::move(copy);
    }
  return records;
}

}  // namespace

TEST_CASE("L19 G39: a yes to a question of an earlier process holds where nothing changed, else the question is new") {
  const auto records = left_asking();
  const auto first = last_question(records).id;
  gone_on same(records);
  CHECK(same.asked() == 1);
  same.approve(first);
  CHECK(same.made() == 1);
  CHECK(same.asked() == 1);
  for (const auto change : {another_command, no_origin, another_definition}) {
    gone_on other(records, change);
    other.approve(first);
    CHECK(other.made() == 0);
    REQUIRE(other.asked() == 2);
    const auto second = find_member(*raw_json::parse(other.watcher.of("question")[1]), "question").as_string();
    REQUIRE(second);
    CHECK(*second != first);
    CHECK_FALSE(contains(other.watcher.of("question")[0], "has changed since you said yes"));
    CHECK(contains(other.watcher.of("question")[1], "has changed since you said yes"));
    other.approve(*second);
    CHECK(other.made() == 1);
  }
}

TEST_CASE("L19 G39: a yes that was given before a restart holds after it only where nothing changed") {
  for (const auto& records : {left_allowed(), left_always()}) {
    gone_on same(records);
    CHECK(same.made() == 1);
    CHECK(same.asked() == 0);
    for (const auto change : {another_command, no_origin, another_definition}) {
      gone_on other(records, change);
      CHECK(other.made() == 0);
      REQUIRE(other.asked() == 1);
      CHECK(contains(other.watcher.of("question")[0], "has changed since you said yes"));
    }
  }
}

TEST_CASE("L19: the question about a tool that has changed since the caller said always says that it has") {
  fixture f;
  f.offer({"guarded", "lookup"});
  f.server->tools["lookup"] = [&](const mcp::clients::server_call&) {
    f.tools.catalog =
        std::make_shared<mcp::catalogs::catalog>(std::vector<mcp::catalogs::entry_ptr>{f.changed("guarded")}, 99);
    return mcp::rpc::call_outcome{mcp::rpc::call_outcome::kind::result, text_result("updated"), {}};
  };
  f.model->script = {calls({call("a", "srv__guarded")}), calls({lookup("b")}), calls({call("c", "srv__guarded")}),
                     says("done")};
  const auto run = f.run();
  f.runs->answer(run, last_question(f.written()).id, raw_json::literal(R"({"approve":true,"always":true})"),
                 [](const result<void>&) {});
  f.settle();
  REQUIRE(f.caller_.of("question").size() == 2);
  CHECK_FALSE(contains(f.caller_.of("question")[0], "has changed since you said yes"));
  CHECK(contains(f.caller_.of("question")[1], "has changed since you said yes"));
}

TEST_CASE("G39: one byte of the arguments changed after the question, or after the yes: nothing is executed") {
  const auto asked = left_asking();
  gone_on later(other_arguments(asked));
  later.approve(last_question(asked).id);
  CHECK(later.made() == 0);
  CHECK(later.asked() == 2);
  gone_on allowed(other_arguments(left_allowed()));
  CHECK(allowed.made() == 0);
  CHECK(allowed.asked() == 1);
}

TEST_CASE("L19 G24: an answer to a question that an older mcpbx wrote, without the hashes, is asked for again") {
  auto records = left_allowed();
  auto& question = std::get<record::question>(records.at(records.size() - 2));
  question.tool_sha256.clear();
  question.arguments_sha256.clear();
  gone_on next(records);
  CHECK(next.made() == 0);
  CHECK(next.asked() == 1);
}

TEST_CASE("L19: a server that comes from somewhere else while the question is open is not called") {
  fixture f;
  f.offer({"guarded"});
  f.model->script = {calls({call("a", "srv__guarded")}), says("done")};
  const auto run = f.run();
  const auto question = last_question(f.written()).id;
  f.origin = std::make_shared<std::string>("another command");
  f.offer({"guarded"});
  f.runs->answer(run, question, raw_json::literal(R"({"approve":true})"), [](const result<void>&) {});
  f.settle();
  CHECK(f.server->params.empty());
  CHECK(contains(f.caller_.of("tool_result").at(0), "changed its definition of this tool, or where it comes from"));
  CHECK(f.caller_.member("stopReason") == "final");
}
