// The audit of a whole daemon: every answered call is in the file, in order, however the daemon ends (G48).
#include "test/e2e/harness/harness.hpp"

#include <doctest/doctest.h>

#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace mcpbx::e2e;

namespace {

config audited() {
  return config().server("s", {"--only", "echo,fail,error"}).top("audit", R"("@DIR@/audit.jsonl")");
}

/// `killed_while_writing`: the last record may be cut short; it is not among those returned.
std::vector<json::value> records(const world& w, bool killed_while_writing = false) {
  std::vector<json::value> all;
  const std::string text = read_file(w.file("audit.jsonl"));
  CHECK((killed_while_writing || text.empty() || text.back() == '\n'));
  for (std::size_t begin = 0, end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
    all.push_back(parse(text.substr(begin, end - begin)));
  return all;
}

/// tool, decision and end.
std::string told(const json::value& r) {
  return text_at(r, "tool") + " " + text_at(r, "decision") + " " + text_at(r, "end");
}

/// The params of call number `i`, and what the audit is to have of it.
std::pair<std::string, std::string> mixed(int i) {
  const std::string n = std::to_string(i);
  switch (i % 5) {
    case 0:
      return {R"({"name":"s__echo","arguments":{"text":")" + n + "\"}}", "s__echo called result"};
    case 1:
      return {R"({"name":"s__fail","arguments":{"text":")" + n + "\"}}", "s__fail called tool_error"};
    case 2:
      return {R"({"name":"s__error","arguments":{}})", "s__error called error"};
    case 3:
      return {R"({"name":"refused_)" + n + R"(","arguments":[]})", "refused_" + n + " refused error"};
    default:
      return {R"({"name":"unknown_)" + n + R"("})", "unknown_" + n + " unknown error"};
  }
}

}  // namespace

TEST_CASE("G48: 1,000 mixed calls are 1,000 records in order, also after SIGKILL") {
  daemon_under_test d(audited());
  d.wait_ready({"s"});
  caller c = d.session();
  std::vector<std::string> expected;
  for (int i = 0; i < 1000; ++i) {
    const auto [params, record] = mixed(i);
    const auto answer = c.request("tools/call", params);
    CHECK(answer.failed() == (i % 5 >= 2));
    expected.push_back(record);
  }
  // No time to write anything after the last answer.
  CHECK(d.stop(SIGKILL).signal == SIGKILL);
  std::vector<std::string> found;
  const auto all = records(d);
  for (const auto& r : all) found.push_back(told(r));
  CHECK(found == expected);
  const auto& first = all.at(0);
  CHECK(text_at(first, "server") == "s");
  CHECK(text_at(first, "principal") == "uid:" + std::to_string(::getuid()));
  CHECK(text_at(first, "pid") == std::to_string(::getpid()));
  CHECK(text_at(first, "argumentsSha256").size() == 64);
  CHECK(text_at(first, "argumentsSha256") != text_at(all.at(5), "argumentsSha256"));
  CHECK(text_at(all.at(2), "argumentsSha256") == text_at(all.at(7), "argumentsSha256"));
  CHECK(std::stoi(text_at(first, "resultBytes")) > 20);
  CHECK(text_at(first, "time").size() == 24);
  CHECK((static_cast<unsigned>(std::filesystem::status(d.file("audit.jsonl")).permissions()) & 0777U) == 0600U);
}

TEST_CASE("G48: of calls that are open when the daemon is killed every answered one is there") {
  for (const int answered : {1, 57, 400}) {
    CAPTURE(answered);
    daemon_under_test d(audited());
    d.wait_ready({"s"});
    caller c = d.session();
    std::vector<std::int64_t> ids;
    for (int i = 0; i < 500; ++i) ids.push_back(c.start("tools/call", mixed(i).first));
    std::multiset<std::string> seen;
    for (int i = 0; i < answered; ++i) {
      c.wait(ids[static_cast<std::size_t>(i)]);
      seen.insert(mixed(i).second);
    }
    CHECK(d.stop(SIGKILL).signal == SIGKILL);
    std::multiset<std::string> kept;
    for (const auto& r : records(d, true)) kept.insert(told(r));
    for (const auto& one : seen) CHECK(kept.count(one) >= seen.count(one));
  }
}

TEST_CASE("G48: calls of the CLI and of runs are in the same file, with who made them") {
  model_process model;
  daemon_under_test d(audited().model("m", model.entry()).top("defaultModel", "\"m\""));
  d.wait_ready({"s"});
  CHECK(run_cli(d, {"call", "s__echo", "text=x"}).status == 0);
  CHECK(run_cli(d, {"ask", "-m", R"(m/rounds-2 s__echo {"text":"t"})", "question"}).status == 0);
  CHECK(run_cli(d, {"ask", "-m", R"(m/rounds-1 s__nope {"text":"t"})", "question"}).status == 0);
  const auto all = records(d);
  REQUIRE(all.size() == 4);
  CHECK(told(all[0]) == "s__echo called result");
  CHECK(text_at(all[0], "name") == "mcpbx");
  CHECK(text_at(all[0], "run") == "");
  CHECK(told(all[1]) == "s__echo called result");
  CHECK(text_at(all[1], "run").starts_with("run_"));
  CHECK(text_at(all[1], "run") == text_at(all[2], "run"));
  CHECK(text_at(all[1], "principal") == "uid:" + std::to_string(::getuid()));
  CHECK(told(all[3]) == "s__nope unknown error");
  const auto status = run_cli(d, {"--json", "status"});
  CHECK(contains(status.out, R"("records":4,"lost":0)"));
}

TEST_CASE("G48: a file that cannot be written stops no call and is told in log and status") {
  daemon_under_test d(config().server("s", {"--only", "echo"}).top("audit", R"("@DIR@/no/such/folder/audit.jsonl")"));
  d.wait_ready({"s"});
  caller c = d.session();
  for (int i = 0; i < 3; ++i) CHECK(c.call("s__echo", R"({"text":"x"})").text() == "x");
  const auto status = c.request("mcpbx/status");
  CHECK(text_at(status.value, "result.audit.lost") == "3");
  CHECK(contains(text_at(status.value, "result.audit.problem"), "no/such/folder"));
  CHECK(d.stop().status == 0);
  CHECK(count_of(d.log(), "calls are missing in the audit") == 1);
}

TEST_CASE("G48: the audit is off unless the configuration turns it on") {
  daemon_under_test d(config().server("s", {"--only", "echo"}));
  d.wait_ready({"s"});
  caller c = d.session();
  CHECK(c.call("s__echo", R"({"text":"x"})").text() == "x");
  CHECK(text_at(c.request("mcpbx/status").value, "result.audit") == "");
  CHECK_FALSE(std::filesystem::exists(d.file(".local/state/mcpbx/audit.jsonl")));
}
