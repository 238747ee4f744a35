// Walks through the words beside the pages of CLI11: which page, which option waits for its value, which argument is
// next.
#include "daemon/cli/completion/word_completion.hpp"

#include "mcp/redact/hidden_text.hpp"
#include "mcp/support/text.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace mcpbx::cli::completion {
namespace {

constexpr std::size_t most_candidates = 500;
constexpr std::size_t most_about = 60;  // bytes

// Returns the kind of names that the word of help behind an option, or the name of an argument, stands for.
name_kind kind_of_word(std::string_view word) {
  static constexpr std::array<std::pair<std::string_view, name_kind>, 9> table{{
      {"FILE", name_kind::files},
      {"FOLDER", name_kind::files},
      {"PATH", name_kind::files},
      {"TOOL", name_kind::tools},
      {"GLOB", name_kind::tools},
      {"SERVER", name_kind::servers},
      {"MODEL", name_kind::models},
      {"ID", name_kind::sessions},
      {"RUN", name_kind::runs},
  }};
  for (const auto& [part, kind] : table)
    if (word == part || word.starts_with(std::string(part) + "|")) return kind;
  return name_kind::none;
}

// Returns the kind of an argument that help calls NAME only.
name_kind kind_of_name(std::string_view verb) {
  static constexpr std::array<std::pair<std::string_view, name_kind>, 11> table{{
      {"auth", name_kind::servers},
      {"call", name_kind::tools},
      {"disable", name_kind::servers},
      {"doctor", name_kind::servers_and_models},
      {"edit", name_kind::servers},
      {"enable", name_kind::servers},
      {"models", name_kind::models},
      {"pins", name_kind::tools_and_servers},
      {"remove", name_kind::servers},
      {"restart", name_kind::servers},
      {"servers", name_kind::servers},
  }};
  const auto* const found = std::ranges::find(table, verb, &std::pair<std::string_view, name_kind>::first);
  return found == table.end() ? name_kind::none : found->second;
}

// Returns the words that an option takes, where its help names a few.
std::span<const std::string_view> words_of_option(std::string_view name) {
  static constexpr std::array<std::string_view, 3> status{"names", "model", "off"}, approve{"ask", "all", "none"},
      input{"ask", "accept", "decline"};
  static constexpr std::array<std::string_view, 4> by{"model", "server", "tool", "day"};
  if (name == "status") return status;
  if (name == "approve") return approve;
  if (name == "input") return input;
  if (name == "by") return by;
  return {};
}

bool takes_value(const CLI::Option& o) {
  return o.get_items_expected_max() > 0;
}

// Calls f for each option of a page and of its groups, which are pages without a name.
template <class F>
void for_each_option(const CLI::App& page, F&& f) {
  for (const auto* option : page.get_options()) f(*option);
  for (const auto* group : page.get_subcommands([](const CLI::App* s) { return s->get_name().empty(); }))
    for_each_option(*group, f);
}

std::vector<const CLI::App*> pages_below(const CLI::App& page) {
  auto all = page.get_subcommands([](const CLI::App* s) { return !s->get_name().empty(); });
  return {all.begin(), all.end()};
}

std::string first_line(std::string_view text) {
  return std::string(cut_utf8(text.substr(0, text.find('\n')), most_about));
}

class walk {
 public:
  walk(const CLI::App& app, const first_words& fixed) : app_(app), page_(&app), fixed_(fixed) {}

  // Takes a word before the cursor.
  void pass(const std::string& word) {
    if (waiting_ != nullptr) {
      if (word == "=") return;  // bash gives `--model=x` as three words
      waiting_ = nullptr;
    } else if (options_over_) {
      ++arguments_;
    } else if (word == "--") {
      options_over_ = true;
    } else if (word.size() > 1 && word[0] == '-') {
      if (word.find('=') != word.npos) return;
      const auto* option = find_option(word);
      if (option != nullptr && takes_value(*option)) waiting_ = option;
    } else if (const auto* below = arguments_ == 0 ? page_below(word) : nullptr) {
      if (page_ == &app_) verb_ = word;
      page_ = below;
    } else {
      ++arguments_;
    }
  }

  word_choice choose(const std::string& word) const {
    word_choice c;
    c.begun = word;
    if (waiting_ != nullptr) {
      add_values(c, *waiting_);
      if (word == "=") c.begun.clear();
      return c;
    }
    if (!options_over_ && word.starts_with("-")) {
      const auto equals = word.find('=');
      if (equals == word.npos) return with_options(std::move(c));
      const auto* option = find_option(word.substr(0, equals));
      c.before = word.substr(0, equals + 1);
      c.begun = word.substr(equals + 1);
      if (option != nullptr && takes_value(*option)) add_values(c, *option);
      return c;
    }
    if (arguments_ == 0)
      for (const auto* below : pages_below(*page_))
        c.words.push_back({below->get_name(), first_line(below->get_description())});
    if (page_ != &app_) add_argument(c);
    return c;
  }

 private:
  void add_values(word_choice& c, const CLI::Option& option) const {
    c.names = kind_of_word(option.get_type_name());
    const auto words = option.get_type_name() == "PROGRAM" ? fixed_("install")
                       : option.get_lnames().empty()       ? std::span<const std::string_view>()
                                                           : words_of_option(option.get_lnames().front());
    for (const auto w : words) c.words.push_back({std::string(w), ""});
  }

  const CLI::App* page_below(const std::string& name) const {
    for (const auto* below : pages_below(*page_))
      if (below->get_name() == name) return below;
    return nullptr;
  }

  const CLI::Option* find_option(const std::string& word) const {
    const CLI::Option* found = nullptr;
    for (const auto* page : {page_, &app_})
      for_each_option(*page, [&](const CLI::Option& o) {
        if (found == nullptr && !o.get_positional() && o.check_name(word)) found = &o;
      });
    return found;
  }

  word_choice with_options(word_choice c) const {
    const auto add = [&](const CLI::Option& o) {
      if (o.get_group().empty()) return;  // not in the help
      for (const auto& name : o.get_lnames()) c.words.push_back({"--" + name, first_line(o.get_description())});
    };
    for_each_option(*page_, add);
    if (page_ != &app_) for_each_option(app_, add);
    return c;
  }

  void add_argument(word_choice& c) const {
    std::vector<const CLI::Option*> arguments;
    for_each_option(*page_, [&](const CLI::Option& o) {
      if (o.get_positional()) arguments.push_back(&o);
    });
    if (arguments.empty()) return;
    const bool more = static_cast<std::size_t>(arguments_) < arguments.size();
    // The last argument may take several words.
    if (!more && arguments.back()->get_items_expected_max() < 2) return;
    const auto& argument =
        *arguments[std::min<std::size_t>(static_cast<std::size_t>(arguments_), arguments.size() - 1)];
    if (arguments_ == 0 && page_->get_parent() == &app_)
      for (const auto word : fixed_(verb_)) c.words.push_back({std::string(word), ""});
    const std::string name = argument.get_name(true);
    if (name == "VERB")
      for (const auto* page : pages_below(app_))
        c.words.push_back({page->get_name(), first_line(page->get_description())});
    else
      c.names = name == "NAME" ? kind_of_name(verb_) : kind_of_word(name);
  }

  const CLI::App& app_;
  const CLI::App* page_;
  const first_words& fixed_;
  const CLI::Option* waiting_ = nullptr;
  std::string verb_;
  int arguments_ = 0;
  bool options_over_ = false;
};

// Returns the part of a word that bash does not replace: it begins a new word behind each of these characters
// ($COMP_WORDBREAKS).
std::size_t kept_by_bash(std::string_view word) {
  const auto at = word.find_last_of(":=@");
  return at == word.npos ? 0 : at + 1;
}

bool is_plain(std::string_view word) {
  return shell_word(word) == word;
}

}  // namespace

word_choice choice_for(const CLI::App& app, std::span<const std::string> words, const first_words& fixed) {
  if (words.empty()) return {};
  walk w(app, fixed);
  for (const auto& word : words.first(words.size() - 1)) w.pass(word);
  return w.choose(words.back());
}

split_line split_for_bash(std::string_view line) {
  split_line out;
  std::string word;
  bool begun = false;
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote == 0 && (c == ' ' || c == '\t' || c == '\n')) {
      if (begun) out.words.push_back(std::exchange(word, {}));
      begun = out.in_quotes = false;
      continue;
    }
    begun = true;
    if (quote != 0 && c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
      out.in_quotes = true;
    } else if (c == '\\' && quote != '\'') {
      out.in_quotes = true;
      if (i + 1 < line.size()) word += line[++i];
    } else {
      word += c;
    }
  }
  out.words.push_back(std::move(word));
  return out;
}

std::string completion_lines(const word_choice& choice, std::span<const candidate> names, shell_kind shell,
                             bool in_quotes) {
  if (choice.names == name_kind::files) return "files\n";
  std::string out = "names\n";
  const auto kept = shell == shell_kind::bash ? kept_by_bash(choice.begun) : 0;
  std::size_t count = 0;
  const auto add = [&](const candidate& c) {
    if (count == most_candidates || c.word.empty() || !c.word.starts_with(choice.begun) || redact::has_hidden(c.word))
      return;
    if (shell == shell_kind::bash) {
      // Between quotes bash takes a candidate as it stands, and so it does behind a kept part.
      if ((in_quotes || kept > 0) && !is_plain(c.word)) return;
      out += kept > 0 ? c.word.substr(kept) : shell_word(c.word);
    } else {
      if (shell == shell_kind::fish) out += choice.before;
      out += c.word;
      if (!c.about.empty()) out += "\t" + first_line(redact::printable(c.about));
    }
    out += '\n';
    ++count;
  };
  for (const auto& c : choice.words) add(c);
  for (const auto& c : names) add(c);
  return out;
}

}  // namespace mcpbx::cli::completion
