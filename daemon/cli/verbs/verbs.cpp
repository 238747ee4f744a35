// Lists the verbs; each one is described in the file of its name.
#include "daemon/cli/verbs/verbs.hpp"

#include <array>
#include <string>

namespace mcpbx::cli {

// One line for each verb: X(NAME) stands for the function verb_NAME(), which verb_NAME.cpp defines. A list, because the
// linker takes from a static library only those files that somebody refers to; verbs that registered themselves would
// be missing. The order is that of `mcpbx --help`.
#define MCPBX_VERBS(X) \
  X(ask)               \
  X(attach)            \
  X(cancel)            \
  X(tools)             \
  X(call)              \
  X(sessions)          \
  X(models)            \
  X(servers)           \
  X(status)            \
  X(wait)              \
  X(restart)           \
  X(pins)              \
  X(stop)              \
  X(mcp)

#define MCPBX_DECLARE(name) verb verb_##name();
MCPBX_VERBS(MCPBX_DECLARE)
#undef MCPBX_DECLARE

std::span<const verb> all_verbs() {
#define MCPBX_CALL(name) verb_##name(),
  static const std::array all{MCPBX_VERBS(MCPBX_CALL)};
#undef MCPBX_CALL
  return all;
}

std::span<const later_verb> later_verbs() {
  static constexpr std::array<later_verb, 12> all{{
      {"add", "changing the configuration"},
      {"answer", "answering a question of a run"},
      {"auth", "authorization of remote servers"},
      {"chat", "conversations at the terminal"},
      {"completion", "shell completion"},
      {"doctor", "the check-up"},
      {"import", "importing the configuration of other programs"},
      {"logs", "reading logs; a daemon that this program started writes mcpbxd.log in its state folder"},
      {"prompts", "prompts of tool servers"},
      {"reload", "reloading the configuration; `mcpbx stop` and the next command start anew"},
      {"remove", "changing the configuration"},
      {"resources", "resources of tool servers"},
  }};
  return all;
}

int not_yet(terminal& screen, std::string_view what) {
  screen.error(std::string(what) + " comes in a later version of mcpbx");
  return usage;
}

}  // namespace mcpbx::cli
