// The scripts hold no names and evaluate nothing that they are given: candidates reach the shell as data only.
#include "daemon/cli/completion/shell_scripts.hpp"

#include <array>

namespace mcpbx::cli::completion {
namespace {

constexpr std::string_view bash = R"(# Completion of mcpbx for bash. Load it with: source <(mcpbx completion bash)
_mcpbx() {
  local lines
  COMPREPLY=()
  mapfile -t lines < <(command mcpbx __complete bash "${COMP_LINE:0:COMP_POINT}" 2>/dev/null)
  if [[ ${lines[0]-} == files ]]; then
    compopt -o default 2>/dev/null
  else
    COMPREPLY=("${lines[@]:1}")
  fi
}
complete -F _mcpbx mcpbx
)";

constexpr std::string_view zsh = R"(#compdef mcpbx
# Completion of mcpbx for zsh. Load it with: source <(mcpbx completion zsh), behind compinit
_mcpbx() {
  local -a lines names shown
  local line
  lines=("${(@f)$(command mcpbx __complete zsh "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
  if [[ ${lines[1]-} == files ]]; then
    [[ $PREFIX == --*=* ]] && compset -P '*='
    _files
    return
  fi
  [[ $PREFIX == --*=* ]] && compset -P '*='
  for line in "${(@)lines[2,-1]}"; do
    [[ -n $line ]] || continue
    names+=("${line%%$'\t'*}")
    shown+=("${line/$'\t'/  -- }")
  done
  (( ${#names} )) && compadd -l -d shown -a -- names
}
if [[ ${funcstack[1]-} == _mcpbx ]]; then _mcpbx "$@"; else compdef _mcpbx mcpbx; fi
)";

constexpr std::string_view fish = R"(# Completion of mcpbx for fish. Load it with: mcpbx completion fish | source
function __mcpbx_complete
    set -l before (commandline -opc)
    set -l lines (command mcpbx __complete fish $before[2..] (commandline -ct) 2>/dev/null)
    if test "$lines[1]" = files
        __fish_complete_path (commandline -ct)
    else if set -q lines[2]
        printf '%s\n' $lines[2..]
    end
end
complete -c mcpbx -f -a '(__mcpbx_complete)'
)";

constexpr std::array<std::string_view, 3> shells{"bash", "zsh", "fish"};

}  // namespace

std::span<const std::string_view> completed_shells() {
  return shells;
}

std::string_view completion_script(std::string_view shell) {
  if (shell == "bash") return bash;
  if (shell == "zsh") return zsh;
  return shell == "fish" ? fish : std::string_view();
}

}  // namespace mcpbx::cli::completion
