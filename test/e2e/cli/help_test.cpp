// The help of each verb shows an example, and the example runs as it stands there.
#include "test/e2e/harness/harness.hpp"

#include <doctest/doctest.h>

#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

using namespace mcpbx::e2e;

namespace {

using word_list = std::vector<std::string>;

/// Returns the verbs that `mcpbx help` lists.
word_list verbs_of(std::string_view help) {
  constexpr std::string_view head = "\nVerbs:\n";
  const auto begin = help.find(head) + head.size();
  std::istringstream lines{std::string(help.substr(begin, help.find("\n\n", begin) - begin))};
  word_list verbs;
  for (std::string line, verb; std::getline(lines, line);)
    if (std::istringstream(line) >> verb) verbs.push_back(verb);
  return verbs;
}

/// Returns the words behind `mcpbx` in the first example, without the remark behind two blanks.
word_list first_example(std::string_view help) {
  auto at = help.find("\nExample");
  if (at == help.npos) return {};
  at = help.find("mcpbx ", at);
  if (at == help.npos) return {};
  auto line = help.substr(at + 6, help.find('\n', at) - at - 6);
  line = line.substr(0, line.find("  "));
  if (line.ends_with(')')) line.remove_suffix(1);
  std::istringstream words{std::string(line)};
  word_list out;
  for (std::string word; words >> word;) out.push_back(word);
  return out;
}

}  // namespace

TEST_CASE("D4: the help of each verb has an example, which runs as it stands there") {
  daemon_under_test d(config()
                          .entry("toolbox", R"({"command": "mcpbx-toolbox"})")
                          .server("files", {"--only", "echo"})
                          .server("github", {"--only", "echo"})
                          .model("demo", R"({"api": "rehearsal"})")
                          .top("defaultModel", R"("demo")")
                          .top("profiles", R"({"reader": {}})"));
  d.wait_ready({"toolbox", "files", "github"});
  d.env.push_back("MCPBX_CONFIG=" + d.file("config.json"));
  d.env.push_back("EDITOR=true");
  REQUIRE(run_cli(d, {"ask", "--run", "nightly", "What is 6 * 7?"}).status == 0);
  // An example speaks of things that a test has not: the status then says that there is no such thing.
  const std::map<std::string, int> expected{{"auth", 5}, {"cancel", 5}, {"export", 5}, {"import", 5}};
  // These would write, or need a systemd.
  const std::map<std::string, std::string> instead{{"add", "--dry-run"}, {"service", "--help"}};
  for (const auto& verb : verbs_of(run_cli(d, {"help"}).out)) {
    if (verb == "help") continue;
    CAPTURE(verb);
    auto words = first_example(run_cli(d, {verb, "--help"}).out);
    REQUIRE_FALSE(words.empty());
    CHECK(words.front() == verb);
    if (const auto more = instead.find(verb); more != instead.end()) words.insert(words.begin() + 1, more->second);
    const auto r = run_cli(d, words);
    const auto status = expected.find(verb);
    CHECK_MESSAGE(r.status == (status == expected.end() ? 0 : status->second), r.out, r.err);
    if (verb == "stop") d.start();
  }
}
