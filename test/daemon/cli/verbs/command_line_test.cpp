// The command line without a daemon: help, versions, wrong words, and what comes later.
#include "daemon/cli/cli.hpp"
#include "daemon/cli/verbs/verbs.hpp"
#include "mcp/json/json_writer.hpp"
#include "test/support/captured_output.hpp"
#include "test/support/contains.hpp"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iostream>
#include <set>
#include <string>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::json;
using mcpbx::test::contains;

namespace {

struct outcome {
  int status;
  std::string out, err;
};

outcome run(std::vector<std::string> words) {
  words.insert(words.begin(), "mcpbx");
  std::vector<char*> argv;
  for (auto& w : words) argv.push_back(w.data());
  const test::captured_output captured;
  const int status = cli::program::run(static_cast<int>(argv.size()), argv.data());
  return {status, captured.out(), captured.err()};
}

}  // namespace

TEST_CASE("command line: the version and the help are on stdout and succeed") {
  CHECK(run({"--version"}).out == "mcpbx " MCPBX_VERSION "\n");
  for (const auto& words : {std::vector<std::string>{"--help"}, {"help"}, {"-h"}}) {
    const auto r = run(words);
    CHECK(r.status == 0);
    for (const auto& verb : cli::verbs::all_verbs()) CHECK(contains(r.out, std::string("\n  ") + verb.name + " "));
    for (const auto& verb : cli::verbs::later_verbs())
      CHECK_FALSE(contains(r.out, "\n  " + std::string(verb.name) + " "));
    CHECK(contains(r.out, "\nLater versions: " + std::string(cli::verbs::later_verbs().front().name)));
    CHECK(r.err == "");
  }
  CHECK(contains(run({"ask", "--help"}).out, "--max-rounds"));
  CHECK(run({"help", "ask"}).out == run({"ask", "--help"}).out);
  CHECK(run({"help", "ask"}).status == 0);
  CHECK(run({"help", "aks"}).status == 2);
}

TEST_CASE("command line: verbs are in the order of their places, the usual ones first") {
  std::vector<std::string> names;
  for (const auto& verb : cli::verbs::all_verbs()) names.emplace_back(verb.name);
  REQUIRE(names.size() >= 14);
  CHECK(names.front() == "ask");
  CHECK(std::ranges::is_sorted(cli::verbs::all_verbs(), {}, &cli::verb::place));
  for (std::size_t i = 0; i < 14; ++i) CHECK(cli::verbs::all_verbs()[i].place < cli::verb{}.place);
}

TEST_CASE("command line: each verb has a name of its own and a page of help") {
  std::set<std::string> names{"help"};
  for (const auto& verb : cli::verbs::all_verbs()) {
    CAPTURE(verb.name);
    CHECK(names.insert(verb.name).second);
    const auto r = run({verb.name, "--help"});
    CHECK(r.status == 0);
    CHECK(contains(r.out, verb.summary));
    CHECK(contains(r.out, verb.more));
    CHECK(r.err == "");
  }
  for (const auto& verb : cli::verbs::later_verbs()) CHECK(names.insert(std::string(verb.name)).second);
}

TEST_CASE("E1: help that a full disk does not take is no success") {
  for (const char* word : {"help", "--help", "--version"}) {
    CAPTURE(word);
    std::string program = "mcpbx", text = word;
    std::array<char*, 2> argv{program.data(), text.data()};
    const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC), nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    int status = 0;
    {
      const test::replaced_output replaced(full, nowhere);
      status = cli::program::run(static_cast<int>(argv.size()), argv.data());
      std::cout.clear();
    }
    CHECK(status == 1);
    ::close(full);
    ::close(nowhere);
  }
}

TEST_CASE("command line: without a verb the help is shown and the status is 2") {
  CHECK(run({}).status == 2);
  CHECK(contains(run({}).out, "ask"));
}

TEST_CASE("command line: what comes later says so in one sentence and exits 2") {
  const std::vector<std::vector<std::string>> table{{"answer", "x"}, {"--socket", "/x", "answer"}};
  for (const auto& words : table) {
    CAPTURE(words.front());
    const auto r = run(words);
    CHECK(r.status == 2);
    CHECK(contains(r.err, "comes in a later version of mcpbx"));
    CHECK(r.err.find('\n') == r.err.size() - 1);
    CHECK(r.out == "");
  }
}

TEST_CASE("command line: --input takes three words") {
  CHECK(run({"call", "x", "--input", "perhaps"}).status == 2);
  CHECK(run({"ask", "--input", "yes", "q"}).status == 2);
}

TEST_CASE("command line: pins has words of its own") {
  CHECK(contains(run({"pins", "--help"}).out, "accept"));
  CHECK(contains(run({"pins", "accept", "--help"}).out, "--sha256"));
  CHECK(run({"pins", "show"}).status == 2);
  CHECK(run({"pins", "accept"}).status == 2);
  CHECK(run({"pins", "forget", "x"}).status == 2);
}

TEST_CASE("command line: wrong words are named with the nearest right one") {
  CHECK(run({"aks", "hi"}).err == "mcpbx: there is no verb `aks` (did you mean \"ask\"?); `mcpbx help` lists them\n");
  CHECK(run({"aks", "hi"}).status == 2);
  CHECK(run({"ask"}).status == 2);
  CHECK(run({"ask", "--max-rounds", "-3", "hi"}).status == 2);
  for (const auto* wrong : {"1.5", "x", "100001"})
    CHECK(contains(run({"ask", "--max-rounds", wrong, "hi"}).err,
                   "--max-rounds: \"" + std::string(wrong) + "\" is no whole number from 0 to 100000; see"));
  CHECK(contains(run({"attach", "--after", "-1", "a"}).err, "--after: \"-1\" is no whole number from 0 on"));
  CHECK(run({"ask", "--status", "loud", "hi"}).status == 2);
  CHECK(run({"ask", "  "}).err ==
        "mcpbx: there is no question; write it behind `ask`, or `-` to read it from standard input; see `mcpbx ask "
        "--help`\n");
  CHECK(
      run({"tools", "--format", "yaml"}).err ==
      "mcpbx: there is no format `yaml`; write mcp, openai, openai-chat, openai-responses, anthropic, gemini, ollama, "
      "dial, azure or react, see `mcpbx tools --help`\n");
  CHECK(run({"ask", "-c", "-s", "id", "hi"}).err == "mcpbx: write -s ID or -c, not both; see `mcpbx ask --help`\n");
  CHECK(contains(run({"sessions", "export", "x"}).err, "did you mean `mcpbx export`?"));
  CHECK(run({"sessions", "shwo", "x"}).err ==
        "mcpbx: `sessions` knows no `shwo` (did you mean \"show\"?); see `mcpbx sessions --help`\n");
  for (const auto& words : std::vector<std::vector<std::string>>{{"ask", "--results", "-"},
                                                                 {"ask", "--results", "-", "--run", "r", "hi"},
                                                                 {"ask", "--schema", "{", "hi"},
                                                                 {"ask", "--client-tools", "/no/such", "hi"},
                                                                 {"attach", "r", "--after", "-1"},
                                                                 {"sessions", "show"},
                                                                 {"sessions", "rm"},
                                                                 {"sessions", "resume"},
                                                                 {"sessions", "list", "x"},
                                                                 {"sessions", "show", "x", "text"},
                                                                 {"sessions", "show", "x", "--format", "xml"},
                                                                 {"sessions", "--limit", "0"}}) {
    const auto r = run(words);
    CHECK(r.status == 2);
    CHECK(r.err.find('\n') == r.err.size() - 1);
  }
  const auto both = run({"call", "x", "a=1", "--args", "{}"});
  CHECK(both.status == 2);
  CHECK(both.err == "mcpbx: give the arguments as key=value or with --args, not both; see `mcpbx call --help`\n");
}

TEST_CASE("command line: a wrong option or a verb in the place of an argument gets the near word") {
  CHECK(contains(run({"ask", "--modle", "demo", "hi"}).err,
                 "--modle (did you mean \"--model\"?); see `mcpbx ask --help`"));
  CHECK(contains(run({"ask", "--modle=demo", "hi"}).err, "(did you mean \"--model\"?)"));
  CHECK(contains(run({"--jsno", "tools"}).err, "(did you mean \"--json\"?)"));
  CHECK(contains(run({"tools", "--jsno"}).err, "(did you mean \"--json\"?)"));
  CHECK(contains(run({"sessions", "resume", "x", "--modle", "m"}).err, "(did you mean \"--model\"?)"));
  CHECK_FALSE(contains(run({"ask", "--frobnicate", "hi"}).err, "did you mean"));
  CHECK(contains(run({"servers", "restart", "my files"}).err, "(did you mean `mcpbx restart 'my files'`?)"));
  CHECK_FALSE(contains(run({"servers", "files"}).err, "did you mean"));
  for (const auto& [word, ours] : {std::pair("delete", "rm"), {"remove", "rm"}, {"ls", "list"}, {"continue", "resume"}})
    CHECK(run({"sessions", word, "x"}).err == "mcpbx: `sessions` knows no `" + std::string(word) +
                                                  "` (did you mean \"" + ours + "\"?); see `mcpbx sessions --help`\n");
  for (const auto& words : std::vector<std::vector<std::string>>{
           {"ask", "--modle", "demo", "hi"}, {"servers", "restart", "files"}, {"sessions", "delete", "x"}})
    CHECK(run(words).status == 2);
}

TEST_CASE("command line: with --json an error is an object on stdout, too, and the status stays") {
  for (const auto& words : std::vector<std::vector<std::string>>{{"--json", "aks"},
                                                                 {"--json", "ask", "--modle", "m", "hi"},
                                                                 {"ask", "--modle", "m", "hi", "--json"},
                                                                 {"--json", "ask", " "},
                                                                 {"--json", "sessions", "delete", "x"}}) {
    CAPTURE(words[1]);
    const auto r = run(words);
    CHECK(r.status == 2);
    REQUIRE(r.err.starts_with("mcpbx: "));
    CHECK(r.out == "{\"error\":" + json_object("message", r.err.substr(7, r.err.size() - 8), "status", 2) + "}\n");
  }
  const auto none = run({"--socket", "/tmp/mcpbx-no-such-socket", "--json", "status"});
  CHECK(none.status == 3);
  CHECK(contains(none.out, R"({"error":{"message":"no daemon answers at /tmp/mcpbx-no-such-socket)"));
  CHECK(none.out.ends_with(R"(","status":3}})"
                           "\n"));
  CHECK(run({"ask", "--modle", "m", "--", "--json"}).out == "");
}

TEST_CASE("command line: without a daemon at a socket that was named the status is 3") {
  for (const char* verb : {"status", "stop", "tools", "servers"}) {
    CAPTURE(verb);
    const auto r = run({"--socket", "/tmp/mcpbx-no-such-socket", verb});
    CHECK(r.status == 3);
    CHECK(contains(r.err, "no daemon answers at /tmp/mcpbx-no-such-socket"));
    CHECK(r.out == "");
  }
  CHECK(run({"--socket", "/tmp/mcpbx-no-such-socket", "wait", "--timeout", "0"}).status == 3);
}
