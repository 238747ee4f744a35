// `mcpbx completion`: prints the text that lets a shell complete the words of mcpbx.
#include "daemon/cli/base/verb.hpp"
#include "daemon/cli/completion/shell_scripts.hpp"
#include "daemon/cli/terminal/terminal.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/support/text.hpp"

#include <CLI/CLI.hpp>

#include <memory>
#include <string>

namespace mcpbx::cli::verbs {
namespace {

verb_action declare_completion(CLI::App& page) {
  const auto shell = std::make_shared<std::string>();
  page.add_option("SHELL", *shell, "bash, zsh or fish")->required()->type_name("");
  return [shell](context& c) {
    const auto script = completion::completion_script(*shell);
    if (script.empty()) {
      c.screen->error("there is no completion for `" + *shell + "`" +
                      did_you_mean(*shell, completion::completed_shells()) + "; write bash, zsh or fish");
      return static_cast<int>(terminals::usage);
    }
    if (c.json)
      c.screen->out_json(json::json_object("shell", *shell, "script", script));
    else
      c.screen->out(script);
    return static_cast<int>(terminals::done);
  };
}

}  // namespace

verb verb_completion() {
  return {
      .name = "completion",
      .place = 90,
      .summary = "let a shell complete verbs, options and names",
      .more =
          R"(Prints a text for the shell to load. The package of Debian installs it already. Names of tools, servers, models and sessions
come from the daemon if one runs; none is started for them.

Examples:
  source <(mcpbx completion bash)                                      in ~/.bashrc
  source <(mcpbx completion zsh)                                       in ~/.zshrc, behind compinit
  mcpbx completion fish > ~/.config/fish/completions/mcpbx.fish)",
      .declare = declare_completion,
      .actions = completion::completed_shells()};
}

}  // namespace mcpbx::cli::verbs
