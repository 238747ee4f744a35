// A question of a run (L19), asked at the terminal.
#pragma once
#include "daemon/cli/terminal/terminal.hpp"
#include "mcp/json/raw_json.hpp"

#include <functional>
#include <optional>
#include <string_view>

namespace mcpbx::cli {

struct approval {
  bool approve = false;
  bool always = false;  ///< for every call of this tool in this run
};

/// Whether there is somebody to ask: standard input and standard error are a terminal.
bool can_ask();

/// What is looked at while a person thinks: whether the question is still one.
struct question_watch {
  int fd = -1;                       ///< readable: something may have changed; -1: nothing can
  std::function<bool()> still_open;  ///< called then
};

/// Shows the tool, its arguments and why there is a question, and reads yes, no, always or show from standard input.
/// `event` is a question event. End of input is a no. nullopt when the user interrupted, or the question is open no
/// more.
std::optional<approval> ask_person(terminal& screen, const raw_json& event, const question_watch& watch = {});

/// A question of our own with yes and no; anything but a yes is a no.
bool ask_yes(terminal& screen, std::string_view question);

}  // namespace mcpbx::cli
