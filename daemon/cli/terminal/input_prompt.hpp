// Answers a tool server's question for input (elicitation): asks the person field by field, or by a rule. Verbs that
// follow runs and verbs that call tools themselves use the same code.
#pragma once
#include "daemon/cli/terminal/read_line.hpp"
#include "daemon/cli/terminal/terminal.hpp"
#include "mcp/json/raw_json.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace mcpbx::cli::terminals {

/// Way to answer: the person is asked, the form's defaults are sent, or nothing is given.
enum class input_mode : std::uint8_t { ask, accept, decline };

/// Reads a word of --input.
std::optional<input_mode> input_mode_of(std::string_view word);

/// Returns the result for the server: `{"action":…,"content":…}`. `question` has the params of elicitation/create. An
/// interrupt cancels the question only; end of input declines. nullopt: it was answered elsewhere or withdrawn.
std::optional<json::raw_json> answer_input(terminal& screen, std::string_view server, const json::raw_json& question,
                                           input_mode mode, const question_watch& watch = {});

}  // namespace mcpbx::cli::terminals
