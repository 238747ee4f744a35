// Arguments of a tool as verbs take them: words key=value, or --args with a JSON object or - for standard input.
#pragma once
#include "mcp/json/raw_json.hpp"
#include "mcp/support/error.hpp"

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace mcpbx::cli::input {

struct given_arguments {
  std::vector<std::string> words;  ///< key=value
  std::string json;                ///< the value of --args, or ""

  /// Adds the words and the option to a verb's page, whose parsing fills them in. This must outlive the page.
  void declare(CLI::App& page);
  bool empty() const noexcept { return words.empty() && json.empty(); }
  /// Finds what is wrong before the tool is known: both forms at once, words of another form, malformed JSON. Does not
  /// read standard input. The error is errc::invalid_argument.
  result<void> check() const;
  /// Returns the arguments as a JSON object on one line, {} if there are none. A word takes the type that `schema`, the
  /// tool's inputSchema, gives its key. Errors as for check(), arguments_of_words() and read_stdin().
  result<std::string> for_tool(const json::raw_json& schema) const;
};

}  // namespace mcpbx::cli::input
