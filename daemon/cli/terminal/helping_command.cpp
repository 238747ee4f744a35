// Pure: sentences in, sentences out.
#include "daemon/cli/terminal/helping_command.hpp"

#include "daemon/cli/terminal/terminal.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace mcpbx::cli::terminals {
namespace {

/// Most bytes behind the command, as in "`mcpbx servers` tells why one is missing".
constexpr std::size_t longest_rest = 60;

constexpr std::array<std::string_view, 12> programs{"mcpbx", "mcpbxd", "systemctl", "journalctl", "loginctl", "chmod",
                                                    "chown", "mkdir",  "kill",      "export",     "sudo",     "df"};

bool is_command(std::string_view words) {
  const auto program = words.substr(0, words.find(' '));
  return std::ranges::find(programs, program) != programs.end();
}

// Returns where the last command in backticks begins, or npos.
std::size_t last_command(std::string_view sentence) {
  const auto end = sentence.rfind('`');
  if (end == std::string_view::npos || end == 0) return std::string_view::npos;
  const auto begin = sentence.rfind('`', end - 1);
  if (begin == std::string_view::npos || sentence.size() - end > longest_rest) return std::string_view::npos;
  return is_command(sentence.substr(begin + 1, end - begin - 1)) ? begin : std::string_view::npos;
}

}  // namespace

bool ends_with_command(std::string_view sentence) {
  return last_command(sentence) != std::string_view::npos;
}

std::string with_command(std::string sentence, std::string_view command) {
  while (sentence.ends_with('\n')) sentence.pop_back();
  if (command.empty() || ends_with_command(sentence)) return sentence;
  return with_own_command(std::move(sentence), command);
}

std::string with_own_command(std::string foreign, std::string_view command) {
  while (foreign.ends_with('\n')) foreign.pop_back();
  if (foreign.contains('\n')) return foreign.append("\n").append(command);
  if (foreign.ends_with('.') && !foreign.ends_with("..")) foreign.pop_back();
  return foreign.append("; ").append(command);
}

std::string with_hint(std::string sentence, std::string_view hint) {
  if (hint.empty()) return sentence;
  const auto begin = last_command(sentence);
  const auto end = begin == std::string_view::npos ? begin : sentence.rfind(';', begin);
  return sentence.insert(end == std::string::npos ? sentence.size() : end, hint);
}

std::string_view command_for_status(int status) {
  switch (status) {
    case usage:  // the page of the verb, which only the program knows
    case no_such:
    case interrupted_exit:
      return "";
    case provider_failed:
      return "`mcpbx doctor --online` tries each model";
    default:
      return "`mcpbx doctor` tells more";
  }
}

}  // namespace mcpbx::cli::terminals
