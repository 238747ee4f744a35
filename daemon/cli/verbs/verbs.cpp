// Lists the verbs; each one is described in the file of its name.
#include "daemon/cli/verbs/verbs.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace mcpbx::cli::verbs {

// verb_list.inc, which CMake writes, has a line X(NAME) for each file verb_NAME.cpp. A list, because the linker takes
// from a static library only those files that somebody refers to; verbs that registered themselves would be missing.
#define X(name) verb verb_##name();
#include <verb_list.inc>
#undef X

std::span<const verb> all_verbs() {
  static const auto all = [] {
    std::array listed{
#define X(name) verb_##name(),
#include <verb_list.inc>
#undef X
    };
    std::ranges::sort(listed, {}, [](const verb& v) { return std::pair(v.place, std::string_view(v.name)); });
    return listed;
  }();
  return all;
}

std::span<const later_verb> later_verbs() {
  static constexpr later_verb all[]{
      {"answer", "answering a question of a run"},
  };
  return all;
}

int not_yet(terminals::terminal& screen, std::string_view what) {
  screen.error(std::string(what) + " comes in a later version of mcpbx");
  return terminals::usage;
}

}  // namespace mcpbx::cli::verbs
