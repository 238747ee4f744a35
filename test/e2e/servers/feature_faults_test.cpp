// Tool servers that break the protocol in what is more than a tool's answer: questions, rounds, tasks, prompts,
// subscriptions. Each fault of the scripted server is started before callers of both eras: nothing hangs, and the
// caller is told what the table says.
#include "test/e2e/harness/harness.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

using namespace mcpbx::e2e;

namespace {

/// One fault that shows in a call.
struct row {
  std::string tool, arguments;
  bool modern = false;      ///< the server is one
  std::string fault;        ///< of --behave, or ""
  bool is_error = false;    ///< the caller gets an error
  std::string words;        ///< in the answer
  std::string to_new = {};  ///< in the answer to a new caller, if that is another one; it is a result then
};

const std::vector<row>& rows() {
  static const std::vector<row> all{
      {"ask_many", R"({"n":3})", false, "", false, R"({\"action\":\"decline\"} {\"action\":\"decline\"})"},
      {"ask_too_late", "{}", false, "", false, "answered"},
      {"ask_and_take_back", "{}", false, "", false, "never mind"},
      {"ask_twice_with_one_id", "{}", false, "", false, "decline"},
      {"forged_answers", "{}", false, "", false, "right"},
      {"forged_answers", "{}", true, "", false, "right"},
      {"ask_for_ever", "{}", true, "", true, "asked for input more than 8 times", R"("resultType":"input_required")"},
      {"state_only", R"({"n":3})", true, "", false, "rounds: 3", R"("requestState":"1")"},
      {"slow_task", R"({"looks":2})", false, "", false, "task done"},
      {"slow_task", R"({"looks":1,"then":"ask"})", false, "", false, "decline"},
      {"slow_task", R"({"looks":1})", false, "task-forever", true, "its task still runs"},
      {"slow_task", R"({"looks":1})", false, "task-gone", true, "Task not found"},
      {"slow_task", R"({"looks":1})", false, "task-no-result", true, "gives no result"},
      {"change_nothing", R"({"kind":"prompts"})", false, "", false, "said that prompts have changed"},
      {"change_nothing", R"({"kind":"resources"})", true, "", false, "said that resources have changed"},
      {"update_resource", R"({"n":5000})", false, "", false, "updated scripted://text"},
      {"update_resource", R"({"n":5000})", true, "", false, "updated scripted://text"},
  };
  return all;
}

/// Returns the answer to a request of revision 2026-07-28, as its line.
std::string ask_new(caller& c, std::string_view method, std::string members) {
  if (!members.empty()) members += ',';
  return c
      .request(method, "{" + members +
                           R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
                           R"("io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},)"
                           R"("io.modelcontextprotocol/clientCapabilities":{}}})")
      .line;
}

}  // namespace

TEST_CASE("G4 G13: a server that asks, makes tasks or tells of changes wrongly harms only its own calls") {
  config cfg;
  for (std::size_t i = 0; i < rows().size(); ++i) {
    config::words words{"--era", rows()[i].modern ? "modern" : "legacy", "--offer", "prompts,resources,tasks,questions",
                        "--log", "@DIR@/log-" + std::to_string(i)};
    if (!rows()[i].fault.empty()) words.insert(words.end(), {"--behave", rows()[i].fault});
    cfg.server("f" + std::to_string(i), words, R"("callTimeoutMs":300,"callHardTimeoutMs":600)");
  }
  cfg.server("good");
  daemon_under_test d(cfg);
  caller old = d.session(), modern = d.connect(), neighbour = d.session();
  CHECK(eventually([&] { return neighbour.state("good") == "ready"; }));
  for (std::size_t i = 0; i < rows().size(); ++i) {
    const row& f = rows()[i];
    const std::string server = "f" + std::to_string(i), tool = server + "__" + f.tool;
    CAPTURE(f.tool);
    CAPTURE(f.fault);
    CAPTURE(f.modern);
    REQUIRE(eventually([&] { return neighbour.state(server) == "ready"; }));
    const reply told = old.call(tool, f.arguments);
    CHECK_MESSAGE(contains(told.line, f.words), told.line);
    CHECK_MESSAGE(told.failed() == f.is_error, told.line);
    const std::string again = ask_new(modern, "tools/call", R"("name":")" + tool + R"(","arguments":)" + f.arguments);
    CHECK_MESSAGE(contains(again, f.to_new.empty() ? f.words : f.to_new), again);
    CHECK_MESSAGE(contains(again, "\"error\":") == (f.is_error && f.to_new.empty()), again);
    CHECK_FALSE(contains(told.line + again, "WRONG"));
    if (f.is_error && f.fault != "task-gone") CHECK_MESSAGE(contains(told.message(), "\"" + server + "\""), told.line);
    // The same server and its neighbour go on, and no answer went to a later request.
    for (int n = 0; n < 9; ++n) CHECK(old.call(server + "__echo", R"({"text":"mine"})").text() == "mine");
    CHECK(neighbour.call("good__echo", R"({"text":"fine"})").text() == "fine");
  }
  // A question behind the answer is refused with a sentence.
  const auto late = std::ranges::find(rows(), "ask_too_late", &row::tool) - rows().begin();
  CHECK(eventually([&] {
    const auto log = read_file(d.file("log-" + std::to_string(late)));
    return contains(log, "late question: ") && contains(log, "while a call is open");
  }));
}

TEST_CASE("G15: prompts that are malformed or never end cost their own server's list only") {
  config cfg;
  for (const std::string era : {"legacy", "modern"})
    for (const std::string fault : {"prompts-endless-cursor", "prompts-bad"})
      cfg.server(fault.substr(8, 3) + "_" + era, {"--era", era, "--offer", "prompts", "--behave", fault});
  cfg.server("good", {"--offer", "prompts"});
  daemon_under_test d(cfg);
  d.wait_ready({"end_legacy", "end_modern", "bad_legacy", "bad_modern", "good"});
  caller old = d.session(), modern = d.connect();
  for (const std::string& listed : {old.request("prompts/list").line, ask_new(modern, "prompts/list", "")}) {
    CHECK(contains(listed, R"("name":"good__greet")"));
    for (const std::string server : {"bad_legacy", "bad_modern"}) {
      CHECK(count_of(listed, "\"name\":\"" + server + "__greet\"") == 1);
      CHECK(count_of(listed, "\"name\":\"" + server + "__ask_prompt\"") == 1);
    }
    CHECK_FALSE(contains(listed, "has no name"));
  }
  for (const std::string server : {"end_legacy", "end_modern"}) {
    CHECK(old.server(server).at("prompts").as_int64() == 1'000);
    CHECK(d.logs("tool server \"" + server + "\": prompts/list has more than 1000 pages; the others are left out"));
    CHECK(old.call(server + "__echo", R"({"text":"mine"})").text() == "mine");
  }
}

TEST_CASE("M5: a server that refuses or forgets subscriptions and levels of logs keeps its calls") {
  config cfg;
  cfg.server("deaf", {"--era", "modern", "--offer", "resources", "--behave", "listen-no-ack"});
  cfg.server("picky", {"--era", "modern", "--offer", "resources", "--behave", "listen-no-resources"});
  cfg.server("closes", {"--era", "modern", "--offer", "resources", "--behave", "listen-close"});
  cfg.server("level", {"--offer", "resources", "--log", "@DIR@/level.log", "--behave", "set-level-error"});
  daemon_under_test d(cfg);
  d.wait_ready({"deaf", "picky", "closes", "level"});
  caller c = d.session();
  // The level is the caller's own; the server's refusal changes nothing for it.
  CHECK_FALSE(c.request("logging/setLevel", R"({"level":"warning"})").failed());
  CHECK(eventually([&] { return contains(read_file(d.file("level.log")), "level warning"); }));
  const auto subscribe = [&](std::string_view server) {
    return c.request("resources/subscribe", R"({"uri":"mcpbx://)" + std::string(server) + R"(/scripted://text"})");
  };
  const reply refused = subscribe("picky");
  CHECK_MESSAGE(refused.failed(), refused.line);
  CHECK_FALSE(subscribe("level").failed());
  // It counts as subscribed, as far as anybody knows: the subscription is made again whenever it ends.
  CHECK_FALSE(subscribe("closes").failed());
  for (const std::string server : {"deaf", "picky", "closes", "level"})
    CHECK(c.call(server + "__echo", R"({"text":"mine"})").text() == "mine");
}
