// The one place that knows CLI11's exceptions.
#include "daemon/command_line/parse_options.hpp"

#include "mcp/support/text.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cerrno>
#include <iostream>
#include <string_view>
#include <vector>

namespace mcpbx::command_line {
namespace {

// Prints a page of help. A reader that has gone is no error.
int print_page(const CLI::App& app, const CLI::Success& page, const std::function<void(const std::string&)>& tell) {
  const int status = app.exit(page);
  if (std::cout.flush() || errno == EPIPE) return status;
  tell("standard output could not be written");
  return 1;
}

void add_options(const CLI::App& page, std::vector<std::string>& names) {
  for (const auto* option : page.get_options())
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  // A group of options is a page without a name.
  for (const auto* group : page.get_subcommands([](const CLI::App* s) { return s->get_name().empty(); }))
    add_options(*group, names);
}

// CLI11 splits a word in brackets into several where an option takes many. This mark at its end keeps the word whole.
constexpr char whole_word = '\x01';

std::string without_marks(std::string text) {
  std::erase(text, whole_word);
  return text;
}

void remove_marks(CLI::App& page) {
  const CLI::Validator strip(
      [](std::string& word) {
        word = without_marks(word);
        return std::string();
      },
      "");
  for (auto* option : page.get_options()) option->transform(strip);
  for (auto* below : page.get_subcommands([](CLI::App*) { return true; })) remove_marks(*below);
}

// Returns the words in the order that CLI11 wants: the last one first.
std::vector<std::string> marked_words(CLI::App& app, int argc, char** argv) {
  std::vector<std::string> words;
  bool marked = false;
  for (int i = argc - 1; i > 0; --i) {
    words.emplace_back(argv[i]);
    if (!words.back().starts_with('[') || !words.back().ends_with(']')) continue;
    words.back() += whole_word;
    marked = true;
  }
  if (marked) remove_marks(app);
  return words;
}

// Returns " (did you mean …?)" for the first word that nothing takes: the nearest option or word of the verb's own, or
// the verb of that name.
std::string near_word(const CLI::App& app) {
  auto left = app.remaining(true);
  for (auto& w : left) w = without_marks(w);
  if (left.empty()) return {};
  std::vector<std::string> names;
  add_options(app, names);
  const CLI::App* page = &app;
  for (auto used = app.get_subcommands(); !used.empty(); used = page->get_subcommands()) {
    page = used.front();
    add_options(*page, names);
  }
  const std::string word = left.front().substr(0, left.front().find('='));
  if (word.starts_with("-")) return did_you_mean(word, std::vector<std::string_view>(names.begin(), names.end()));
  if (page == &app) return {};
  std::vector<std::string_view> below;
  for (const auto* one : page->get_subcommands([](const CLI::App* s) { return !s->get_name().empty(); }))
    below.emplace_back(one->get_name());
  if (!below.empty()) return did_you_mean(word, below);
  // A verb that takes an argument may have taken the other verb for it.
  std::vector<std::string> words;
  for (const auto* option : page->get_options())
    if (option->get_positional())
      for (const auto& value : option->results()) words.push_back(without_marks(value));
  words.insert(words.end(), left.begin(), left.end());
  const auto verb = std::ranges::find_if(words, [&](const std::string& w) {
    return !app.get_subcommands([&](const CLI::App* s) { return s->get_name() == w; }).empty();
  });
  if (verb == words.end()) return {};
  std::rotate(words.begin(), verb, verb + 1);
  std::string command = app.get_name();
  for (const auto& w : words) command += " " + shell_word(w);
  return " (did you mean `" + command + "`?)";
}

}  // namespace

std::optional<int> parse_words(CLI::App& app, int argc, char** argv,
                               const std::function<void(const std::string&)>& tell) {
  try {
    app.parse(marked_words(app, argc, argv));
    return std::nullopt;
  } catch (const CLI::Success& e) {
    return print_page(app, e, tell);
  } catch (const CLI::ParseError& e) {
    std::string page = app.get_name();
    for (const auto* verb : app.get_subcommands()) page += " " + verb->get_name();
    const bool word_left = dynamic_cast<const CLI::ExtrasError*>(&e) != nullptr ||
                           (dynamic_cast<const CLI::RequiredError*>(&e) != nullptr && !app.remaining(true).empty());
    const auto hint = word_left ? near_word(app) : "";
    tell(without_marks(e.what()) + hint + "; see `" + page + " --help`");
    return 2;
  }
}

}  // namespace mcpbx::command_line
