// Completion of words for shells: what fits in which place, and names that would do harm.
#include "daemon/cli/completion/word_completion.hpp"

#include "daemon/cli/cli.hpp"
#include "daemon/cli/completion/shell_scripts.hpp"
#include "daemon/cli/verbs/verbs.hpp"
#include "mcp/support/text.hpp"
#include "test/support/contains.hpp"

#include <CLI/CLI.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::cli::completion;
using namespace mcpbx::cli::program;
using namespace mcpbx::cli::verbs;
using mcpbx::test::contains;

namespace {

std::span<const std::string_view> fixed(std::string_view verb) {
  static constexpr std::array<std::string_view, 2> words{"list", "show"};
  return verb == "sessions" ? std::span<const std::string_view>(words) : std::span<const std::string_view>();
}

word_choice choice(std::vector<std::string> words) {
  word_choice c;
  with_pages([&](CLI::App& app) { c = choice_for(app, words, fixed); });
  return c;
}

bool offers(const word_choice& c, std::string_view word) {
  return std::ranges::find(c.words, word, &candidate::word) != c.words.end();
}

std::string lines(const std::vector<candidate>& names, shell_kind shell, const std::string& begun = "",
                  bool in_quotes = false, const std::string& before = "") {
  word_choice c;
  c.names = name_kind::models;
  c.begun = begun;
  c.before = before;
  return completion_lines(c, names, shell, in_quotes);
}

}  // namespace

TEST_CASE("completion: verbs come first, then the options and the arguments of the verb") {
  CHECK(offers(choice({""}), "ask"));
  CHECK(offers(choice({"--json", ""}), "help"));
  CHECK_FALSE(offers(choice({"ask", ""}), "ask"));
  CHECK(offers(choice({"ask", "-"}), "--model"));
  CHECK(offers(choice({"ask", "-"}), "--json"));
  CHECK_FALSE(offers(choice({"tools", "-"}), "--model"));
  CHECK_FALSE(offers(choice({"ask", "--", "-"}), "--model"));
  CHECK(offers(choice({"sessions", ""}), "show"));
  CHECK_FALSE(offers(choice({"sessions", "show", ""}), "show"));
  CHECK(offers(choice({"pins", ""}), "accept"));
  CHECK(offers(choice({"pins", "accept", "-"}), "--sha256"));
  CHECK(offers(choice({"help", ""}), "tools"));
  CHECK(offers(choice({"ask", "--approve", ""}), "none"));
  CHECK(offers(choice({"ask", "--status=m"}), "model"));
  CHECK(offers(choice({"stats", "--by", ""}), "day"));
  CHECK_FALSE(offers(choice({"ask", "--file", ""}), "none"));
  CHECK(choice({}).words.empty());
  // The program's own words.
  for (const auto& verb : all_verbs())
    if (std::string_view(verb.name) == "auth") CHECK(verb.actions.size() == 3);
  for (const auto& verb : all_verbs())
    if (std::string_view(verb.name).ends_with("install"))
      CHECK(std::ranges::find(verb.actions, std::string_view("claude-code")) != verb.actions.end());
  CHECK(choice({"nonesuch", ""}).names == name_kind::none);
}

TEST_CASE("completion: options and arguments ask for names of their kind") {
  const std::vector<std::pair<std::vector<std::string>, name_kind>> table{
      {{"ask", "-m", ""}, name_kind::models},
      {{"ask", "--model", "de"}, name_kind::models},
      {{"ask", "--model", "=", "de"}, name_kind::models},
      {{"ask", "--model=de"}, name_kind::models},
      {{"ask", "-s", ""}, name_kind::sessions},
      {{"ask", "--file", ""}, name_kind::files},
      {{"ask", "-m", "x", "--file", ""}, name_kind::files},
      {{"ask", "-c", ""}, name_kind::none},
      {{"--socket", ""}, name_kind::files},
      {{"--socket", "s", "call", ""}, name_kind::tools},
      {{"call", "x", ""}, name_kind::none},
      {{"restart", ""}, name_kind::servers},
      {{"doctor", ""}, name_kind::servers_and_models},
      {{"restart", "x", ""}, name_kind::none},
      {{"pins", "show", ""}, name_kind::tools_and_servers},
      {{"sessions", "show", ""}, name_kind::sessions},
      {{"cancel", ""}, name_kind::runs},
      {{"ask", "--nonesuch", ""}, name_kind::none},
  };
  for (const auto& [words, kind] : table) {
    std::string line;
    for (const auto& w : words) line += w + " ";
    CAPTURE(line);
    CHECK(choice(words).names == kind);
  }
  CHECK(choice({"ask", "--model=de"}).before == "--model=");
  CHECK(choice({"ask", "--model=de"}).begun == "de");
}

TEST_CASE("completion: a line is split as bash does, without evaluating it") {
  const auto words = [](std::string_view line) {
    std::string out;
    for (const auto& w : split_for_bash(line).words) out += "[" + w + "]";
    return out + (split_for_bash(line).in_quotes ? "q" : "");
  };
  CHECK(words("mcpbx  ask a\\ b \"c d\" 'e f'") == "[mcpbx][ask][a b][c d][e f]q");
  CHECK(words("mcpbx ask ") == "[mcpbx][ask][]");
  CHECK(words("mcpbx call \"too") == "[mcpbx][call][too]q");
  CHECK(words("mcpbx call $(touch x) `y`") == "[mcpbx][call][$(touch][x)][`y`]");
  CHECK(words("a\\") == "[a]q");
  CHECK(words("") == "[]");
}

TEST_CASE("completion: hostile names are quoted for bash, and left out where quotes would not hold") {
  const std::vector<candidate> names{{"plain", ""}, {"a b", ""}, {"$(touch x)", ""}, {"it's;`id`", ""}};
  CHECK(lines(names, shell_kind::bash) == "names\nplain\n'a b'\n'$(touch x)'\n'it'\\''s;`id`'\n");
  CHECK(lines(names, shell_kind::bash, "", true) == "names\nplain\n");
  CHECK(lines(names, shell_kind::zsh) == "names\nplain\na b\n$(touch x)\nit's;`id`\n");
  for (const auto shell : {shell_kind::bash, shell_kind::zsh, shell_kind::fish})
    CHECK(lines({{"line\nbreak", ""}, {"\x1b[2J", ""}, {"zero\u200bwidth", ""}, {"tab\there", ""}, {"", ""}}, shell) ==
          "names\n");
}

TEST_CASE("completion: a description cannot make a second candidate") {
  CHECK(lines({{"m", "one\ntwo\x1b[2J"}}, shell_kind::zsh) == "names\nm\tonetwo[2J\n");
}

TEST_CASE("completion: each shell gets the part of a word that it replaces") {
  const std::vector<candidate> names{{"profile:a b", ""}, {"profile:work", ""}};
  CHECK(lines(names, shell_kind::bash, "profile:w") == "names\nwork\n");
  CHECK(lines(names, shell_kind::bash, "profile:") == "names\nwork\n");
  CHECK(lines(names, shell_kind::fish, "profile:w", false, "--model=") == "names\n--model=profile:work\n");
  CHECK(lines(names, shell_kind::zsh, "profile:w", false, "--model=") == "names\nprofile:work\n");
}

TEST_CASE("completion: at most 500 candidates are offered") {
  const std::vector<candidate> names(2'000, candidate{"n", ""});
  CHECK(lines(names, shell_kind::bash).size() == 6 + 2 * 500);
}

TEST_CASE("completion: there is a text for each shell, which runs nothing but mcpbx") {
  for (const auto shell : completed_shells()) {
    CHECK(contains(completion_script(shell), "command mcpbx __complete " + std::string(shell)));
    CHECK_FALSE(contains(completion_script(shell), "eval"));
  }
  CHECK(completion_script("tcsh").empty());
}
