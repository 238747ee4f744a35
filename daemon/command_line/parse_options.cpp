// The one place that knows CLI11's exceptions.
#include "daemon/command_line/parse_options.hpp"

#include "mcp/support/text.hpp"

#include <CLI/CLI.hpp>

#include <cerrno>
#include <iostream>
#include <string_view>
#include <vector>

namespace mcpbx {
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

// Returns " (did you mean …?)" for the first word that nothing takes: the nearest option, or the verb of that name.
std::string near_word(const CLI::App& app) {
  const auto left = app.remaining(true);
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
  const auto verbs = app.get_subcommands([&](const CLI::App* s) { return s->get_name() == word; });
  if (page == &app || verbs.empty()) return {};
  std::string command = app.get_name();
  for (const auto& w : left) command += " " + shell_word(w);
  return " (did you mean `" + command + "`?)";
}

}  // namespace

std::optional<int> parse_words(CLI::App& app, int argc, char** argv,
                               const std::function<void(const std::string&)>& tell) {
  try {
    app.parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::Success& e) {
    return print_page(app, e, tell);
  } catch (const CLI::ParseError& e) {
    std::string page = app.get_name();
    for (const auto* verb : app.get_subcommands()) page += " " + verb->get_name();
    const auto hint = dynamic_cast<const CLI::ExtrasError*>(&e) != nullptr ? near_word(app) : "";
    tell(std::string(e.what()) + hint + "; see `" + page + " --help`");
    return 2;
  }
}

}  // namespace mcpbx
