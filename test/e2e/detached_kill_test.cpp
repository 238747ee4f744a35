// Detached runs while the daemon is killed again and again: what was acknowledged ends, each call has one result, and
// what may not be repeated is executed once at most (G3, G23, G24).
#include "test/e2e/harness/harness.hpp"

#include <doctest/doctest.h>

#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

using namespace mcpbx::e2e;

namespace {

std::string name_of(int run) {
  return "night-" + std::to_string(run);
}

/// Returns the text of a run's call, by which the server's log tells calls apart: `log` may not be repeated, `echo`
/// may.
std::string text_of(int run, char call) {
  return name_of(run) + call;
}

/// For each run two calls that may not be repeated and one that may, in two rounds, and an answer.
std::string script_of(int runs) {
  std::string models;
  for (int r = 0; r < runs; ++r) {
    const auto call = [&](const char* tool, char which) {
      return std::string(R"({"name":"s__)") + tool + R"(","arguments":{"text":)" + json_string(text_of(r, which)) +
             "}}";
    };
    models += (r == 0 ? "" : ",") + json_string(name_of(r)) + ":[{\"calls\":[" + call("log", 'a') + "," +
              call("echo", 'b') + "]},{\"calls\":[" + call("log", 'c') + "]},{\"text\":\"end of " + name_of(r) + "\"}]";
  }
  return "{\"models\":{" + models + "}}";
}

/// Counts the executions of each call in the server's log, by the call's text.
std::map<std::string, int> executions(const std::string& log) {
  std::map<std::string, int> all;
  for (std::size_t begin = 0, end; (end = log.find('\n', begin)) != std::string::npos; begin = end + 1) {
    const auto line = log.substr(begin, end - begin);
    if (const auto quote = line.find('"'); line.starts_with("call ") && quote != std::string::npos)
      ++all[line.substr(quote + 1, line.size() - quote - 2)];
  }
  return all;
}

/// The one result of each call in a run's messages, by what the call says.
std::map<std::string, std::string> results_in(const json::value& messages) {
  std::map<std::string, std::string> said, results;
  for (const auto& m : messages.as_array())
    for (const auto& block : at(m, "content").as_array()) {
      const auto type = text_at(block, "type"), id = text_at(block, "id");
      if (type == "tool_call") {
        CHECK(said.emplace(id, text_at(block, "arguments.text")).second);
      } else if (type == "tool_result") {
        REQUIRE(said.contains(id));
        CHECK(results.emplace(said[id], text_at(block, "result.content.0.text")).second);
      }
    }
  CHECK(results.size() == said.size());
  return results;
}

void check_ended(int run, const reply& r, std::map<std::string, int>& executed) {
  CAPTURE(r.line);
  CHECK(text_at(r.value, "result.stopReason") == "final");
  CHECK(text_at(r.value, "result.text") == "end of " + name_of(run));
  const auto results = results_in(r.get("result.messages"));
  CHECK(results.size() == 3);
  for (const auto& [call, result] : results) {
    const bool repeatable = call.ends_with('b');
    if (repeatable) {
      CHECK(result == call);
      CHECK(executed[call] >= 1);
    } else if (result == "logged") {
      CHECK(executed[call] == 1);
    } else {
      CHECK_MESSAGE(contains(result, "interrupted"), result);
    }
  }
}

}  // namespace

TEST_CASE("G3 G23 G24: detached runs end after SIGKILL at any point, and no call is made twice that may not be") {
  const char* more = std::getenv("MCPBX_KILLS");
  const int kills = more != nullptr ? std::atoi(more) : sanitized ? 20 : 100;
  model_process model(script_of(kills));
  daemon_under_test d(
      config().server("s", {"--log", "@DIR@/log"}, R"("tools":{"retry":["echo"]})").model("m", model.entry()));
  std::mt19937 random(20'261'122);
  std::uniform_int_distribution<int> kind(0, 3), lines(0, 24);
  std::set<int> acknowledged;
  int asked = 0;
  for (int k = 0; k < kills; ++k) {
    CAPTURE(k);
    {
      caller c = d.connect();
      // Sometimes what is killed is the going on itself.
      if (const int how = kind(random); how != 0 || k == 0) {
        const auto id = c.start("mcpbx/chat", R"({"input":"q","detach":true,"run":")" + name_of(asked) +
                                                  R"(","model":"m/)" + name_of(asked) + "\"}");
        ++asked;
        if (how != 1) {
          const auto begun = c.wait(id);
          REQUIRE_MESSAGE(!begun.failed(), begun.line);
          acknowledged.insert(asked - 1);
          (void)c.start("mcpbx/attach", R"({"run":")" + name_of(asked - 1) + "\"}");
          for (int left = lines(random); left > 0; --left)
            if (contains(c.line(), "\"id\":")) break;  // the response: the run has ended
        }
      }
      d.process().signal(SIGKILL);
    }
    CHECK(d.process().wait().signal == SIGKILL);
    d.start();
  }
  caller c = d.connect();
  for (int run = 0; run < asked; ++run) {
    CAPTURE(run);
    reply r;
    // The journal is read on its own thread: a run may not be there at once.
    const bool there = eventually(
        [&] {
          r = c.request("mcpbx/attach", R"({"run":")" + name_of(run) + "\"}");
          return !r.failed();
        },
        acknowledged.contains(run) ? 20 : 0);
    auto executed = executions(read_file(d.file("log")));
    for (const auto& [call, times] : executed)
      if (!call.ends_with('b')) CHECK_MESSAGE(times == 1, call);
    CHECK_MESSAGE((there || !acknowledged.contains(run)), r.line);
    if (there) check_ended(run, r, executed);
  }
  model.check_results();
}
