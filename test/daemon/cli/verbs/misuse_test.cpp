// Wrong command lines: one sentence on stderr that ends with the command that helps, the right exit status, nothing on
// stdout, and nothing written.
#include "daemon/cli/cli.hpp"
#include "test/support/captured_output.hpp"
#include "test/support/contains.hpp"
#include "test/support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

using namespace mcpbx;
using mcpbx::test::contains;

namespace {

/// Variables that lead into an empty folder, and back at the end.
class own_places {
 public:
  explicit own_places(const std::string& folder) {
    set("HOME", folder);
    for (const char* name : {"XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"}) set(name, folder + "/" + name);
    set("MCPBX_SOCKET", folder + "/no-daemon");
    set("MCPBX_CONFIG", "");
  }
  ~own_places() {
    for (const auto& [name, value] : before_)
      if (value.empty())
        ::unsetenv(name.c_str());
      else
        ::setenv(name.c_str(), value.c_str(), 1);
  }
  own_places(const own_places&) = delete;
  own_places& operator=(const own_places&) = delete;

 private:
  void set(const char* name, const std::string& value) {
    const char* const old = std::getenv(name);
    before_.emplace_back(name, old == nullptr ? "" : old);
    ::setenv(name, value.c_str(), 1);
  }
  std::vector<std::pair<std::string, std::string>> before_;
};

struct misuse {
  std::vector<std::string> words;
  int status;
  std::string says;  ///< a part of the sentence
};

const std::vector<misuse> misuses{
    {{"aks"}, 2, "did you mean \"ask\"?"},
    {{"tolls"}, 2, "did you mean \"tools\"?"},
    {{"no-such-verb"}, 2, "`mcpbx help`"},
    {{"--sokcet", "x", "status"}, 2, "`mcpbx help`"},
    {{"tools", "--formt", "mcp"}, 2, "did you mean \"--format\"?"},
    {{"tools", "--format", "opnai"}, 2, "did you mean \"openai\"?"},
    {{"tools", "--search"}, 2, "`mcpbx tools --help`"},
    {{"tools", "--search", "x", "--format", "mcp"}, 2, "leave --format out"},
    {{"call"}, 2, "`mcpbx call --help`"},
    {{"call", "t", "--args"}, 2, "`mcpbx call --help`"},
    {{"call", "t", "--args", "{"}, 2, "`mcpbx call --help`"},
    {{"call", "t", "x"}, 2, "`mcpbx call --help`"},
    {{"ask", "--max-rounds", "x", "hi"}, 2, "`mcpbx ask --help`"},
    {{"ask", "--max-rounds", "-1", "hi"}, 2, "`mcpbx ask --help`"},
    {{"ask", "--approve", "yes", "hi"}, 2, "`mcpbx ask --help`"},
    {{"ask", "--status", "loud", "hi"}, 2, "`mcpbx ask --help`"},
    {{"sessions", "lst"}, 2, "did you mean \"list\"?"},
    {{"sessions", "search", "x"}, 2, "did you mean \"find\"?"},
    {{"sessions", "show"}, 2, "needs the id of a session"},
    {{"sessions", "find"}, 2, "needs words"},
    {{"sessions", "list", "x"}, 2, "takes no id"},
    {{"sessions", "rm", "x", "--all"}, 2, "--all is for"},
    {{"sessions", "show", "x", "--format", "pdf"}, 2, "markdown or jsonl"},
    {{"sessions", "--limit", "0"}, 2, "`mcpbx sessions --help`"},
    {{"export"}, 2, "--all"},
    {{"export", "--all", "x"}, 2, "write one of them"},
    {{"export", "x", "--format", "jsnol"}, 2, "did you mean \"jsonl\"?"},
    {{"export", "x", "--force"}, 2, "--force is for a file"},
    {{"stats", "--by", "modle"}, 2, "did you mean \"model\"?"},
    {{"stats", "--days", "0"}, 2, "`mcpbx stats --help`"},
    {{"top", "--interval", "0"}, 2, "`mcpbx top --help`"},
    {{"top", "extra"}, 2, "`mcpbx top --help`"},
    {{"logs", "-n", "-1"}, 2, "`mcpbx logs --help`"},
    {{"wait", "--timeout", "soon"}, 2, "`mcpbx wait --help`"},
    {{"add", "x", "ftp://tools.example"}, 2, "begins with http:// or https://"},
    {{"add", "x", "--env", "1", "--", "true"}, 2, "--env takes NAME=VALUE"},
    {{"config", "sho"}, 2, "did you mean \"show\"?"},
    {{"config"}, 2, "`mcpbx config --help`"},
    {{"install"}, 2, "`mcpbx install --list`"},
    {{"bench", "--args", "["}, 2, "`mcpbx bench --help`"},
    {{"completion", "bsh"}, 2, "did you mean \"bash\"?"},
    {{"chat", "-c", "-s", "x"}, 2, "`mcpbx chat --help`"},
    {{"restart"}, 2, "`mcpbx restart --help`"},
    {{"cancel"}, 2, "`mcpbx cancel --help`"},
    {{"status"}, 3, "`mcpbxd --socket"},
    {{"logs", "files"}, 3, "`mcpbxd --socket"},
    {{"export", "x", "-o", "talk.md"}, 3, "`mcpbxd --socket"},
};

}  // namespace

TEST_CASE("E1: each misuse of the command line is one sentence with the command that helps, and changes nothing") {
  const test::temporary_directory folder;
  const own_places places(folder.path());
  REQUIRE(misuses.size() >= 30);
  for (const auto& one : misuses) {
    std::vector<std::string> words = one.words;
    words.insert(words.begin(), "mcpbx");
    std::vector<char*> argv;
    for (auto& w : words) argv.push_back(w.data());
    std::string out, err;
    int status = -1;
    {
      const test::captured_output captured;
      status = cli::program::run(static_cast<int>(argv.size()), argv.data());
      out = captured.out();
      err = captured.err();
    }
    std::string command;
    for (const auto& w : words) command += w + " ";
    CAPTURE(command);
    CAPTURE(err);
    CHECK(status == one.status);
    CHECK(out.empty());
    CHECK(err.starts_with("mcpbx: "));
    CHECK(std::ranges::count(err, '\n') == 1);
    CHECK(contains(err, one.says));
    // The command that helps stands at the end.
    const auto last = err.find_last_of('`');
    CHECK(last != std::string::npos);
    CHECK(err.size() - std::min(last, err.size()) < 40);
    CHECK(std::filesystem::is_empty(folder.path()));
    CHECK_FALSE(std::filesystem::exists("talk.md"));
  }
}
