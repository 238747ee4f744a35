// The one place that knows CLI11's exceptions.
#include "daemon/command_line/parse_options.hpp"

#include <CLI/CLI.hpp>

#include <cerrno>
#include <iostream>

namespace mcpbx {
namespace {

// Prints a page of help. A reader that has gone is no error.
int print_page(const CLI::App& app, const CLI::Success& page, const std::function<void(const std::string&)>& tell) {
  const int status = app.exit(page);
  if (std::cout.flush() || errno == EPIPE) return status;
  tell("standard output could not be written");
  return 1;
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
    tell(std::string(e.what()) + "; see `" + page + " --help`");
    return 2;
  }
}

}  // namespace mcpbx
