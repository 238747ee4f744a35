// The one place that knows CLI11's exceptions.
#include "daemon/options/parse.hpp"

#include <CLI/CLI.hpp>

namespace mcpbx {

std::optional<int> parse_words(CLI::App& app, int argc, char** argv,
                               const std::function<void(const std::string&)>& tell) {
  try {
    app.parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::CallForHelp& e) {
    return app.exit(e);
  } catch (const CLI::CallForVersion& e) {
    return app.exit(e);
  } catch (const CLI::ParseError& e) {
    std::string page = app.get_name();
    for (const auto* verb : app.get_subcommands()) page += " " + verb->get_name();
    tell(std::string(e.what()) + "; see `" + page + " --help`");
    return 2;
  }
}

}  // namespace mcpbx
