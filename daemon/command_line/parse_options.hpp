// Parses the command line of a program with CLI11 and turns the outcome into an exit status and one sentence.
#pragma once
#include <functional>
#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace mcpbx::command_line {

/// Parses `argv`. Nullopt: there is something to run. Otherwise the exit status: 0 when the help or the version was
/// asked for and printed, 2 for wrong words, which `tell` is given as a sentence that ends with the page to look at.
std::optional<int> parse_words(CLI::App& app, int argc, char** argv,
                               const std::function<void(const std::string&)>& tell);

}  // namespace mcpbx::command_line
