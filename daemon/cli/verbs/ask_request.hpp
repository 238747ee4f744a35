// The request of `mcpbx ask`, from its options and the files and the input that they name.
#pragma once
#include "daemon/cli/base/context.hpp"
#include "daemon/cli/terminal/input_prompt.hpp"
#include "daemon/cli/verbs/verb_ask.hpp"
#include "mcp/support/error.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mcpbx::cli::verbs {

/// Members of the request that come from options and files.
struct ask_parts {
  std::string message;  ///< the question with its files as one message, or ""
  std::string schema, client_tools;
  std::string prompt_arguments;  ///< a JSON object, or ""
};

std::string joined_words(std::span<const std::string> words);

/// Takes the words key=value that stand in front of the text as arguments of the prompt.
std::vector<std::string> take_prompt_arguments(ask_options& o);

/// Reads the files of the options, and the piped input that belongs to the question. The errors are those of usage: one
/// sentence that names the option.
result<ask_parts> read_ask_parts(const context& c, const ask_options& o, const std::string& question);

/// Writes the params of mcpbx/chat. `input`: how questions of tool servers are answered, if they are.
std::string ask_params(const context& c, const ask_options& o, const std::string& question, const ask_parts& more,
                       std::optional<terminals::input_mode> input);

}  // namespace mcpbx::cli::verbs
