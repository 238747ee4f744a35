// Completion of one word of a command line, from the pages of help. Pure.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace mcpbx::cli::completion {

/// Names that only the daemon knows, or that the shell completes itself.
enum class name_kind : std::uint8_t {
  none,
  files,
  tools,
  servers,
  tools_and_servers,
  models,
  servers_and_models,
  sessions,
  runs
};

struct candidate {
  std::string word, about;  ///< `about`: a few words, or ""
};

/// The words and names that may replace the last word.
struct word_choice {
  std::vector<candidate> words;       ///< verbs, options, fixed words; all of them, also those that do not fit yet
  name_kind names = name_kind::none;  ///< and names of this kind
  std::string before;                 ///< the part of the word that stays: "--model=", or ""
  std::string begun;                  ///< the part behind it, with which a candidate must begin
};

/// Returns the fixed words that the first argument of a verb may be; empty: it is no such word.
using first_words = std::function<std::span<const std::string_view>(std::string_view verb)>;

/// Finds what may stand for the last of `words` (it may be ""), which are those behind the program's name. `app` has a
/// page for each verb. Words that make no sense leave nothing to choose.
word_choice choice_for(const CLI::App& app, std::span<const std::string> words, const first_words& fixed);

/// A command line up to the cursor as a shell splits it.
struct split_line {
  std::vector<std::string> words;  ///< without quotes; the last one is under the cursor and may be ""
  bool in_quotes = false;          ///< the last word holds a quote or a backslash
};
/// Splits it. Substitutions are left as they stand, since nothing is evaluated.
split_line split_for_bash(std::string_view line);

enum class shell_kind : std::uint8_t { bash, zsh, fish };

/// Returns the candidates that fit as lines for the script of the shell, the first of which is `names` or `files`.
/// Leaves out those with invisible characters, those that the quotes of bash cannot hold, and those beyond 500.
std::string completion_lines(const word_choice& choice, std::span<const candidate> names, shell_kind shell,
                             bool in_quotes);

}  // namespace mcpbx::cli::completion
