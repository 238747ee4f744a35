// Reads the arguments from words, from the command line, or from standard input.
#include "daemon/cli/input/given_arguments.hpp"

#include "daemon/cli/input/call_arguments.hpp"
#include "daemon/cli/input/input_files.hpp"

namespace mcpbx::cli::input {

void given_arguments::declare(CLI::App& page) {
  page.add_option("ARGUMENT", words, "an argument of the tool as key=value")->type_name("");
  page.add_option("--args", json, "all arguments as one JSON object, or - for standard input")->type_name("JSON");
}

result<void> given_arguments::check() const {
  if (!json.empty() && !words.empty())
    return fail(errc::invalid_argument, "give the arguments as key=value or with --args, not both");
  if (json == "-") return {};
  if (const auto early = for_tool({}); !early) return std::unexpected(early.error());
  return {};
}

result<std::string> given_arguments::for_tool(const json::raw_json& schema) const {
  if (json.empty()) return arguments_of_words(words, schema);
  if (json != "-") return arguments_of_json(json);
  const auto text = read_stdin();
  return text ? arguments_of_json(*text) : text;
}

}  // namespace mcpbx::cli::input
