// Builds validators of CLI11 whose errors name the range.
#include "daemon/cli/input/option_checks.hpp"

#include <charconv>
#include <string>

namespace mcpbx::cli::input {

CLI::Validator whole_number(std::int64_t least, std::int64_t most) {
  const auto check = [least, most](const std::string& text) -> std::string {
    std::int64_t number = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    if (read.ec == std::errc() && read.ptr == text.data() + text.size() && number >= least && number <= most) return {};
    const bool bounded = most != std::numeric_limits<std::int64_t>::max();
    return "\"" + text + "\" is no whole number from " + std::to_string(least) +
           (bounded ? " to " + std::to_string(most) : " on");
  };
  return {check, ""};  // no text in the help: the option's description names the range
}

}  // namespace mcpbx::cli::input
