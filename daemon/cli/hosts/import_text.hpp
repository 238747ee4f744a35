// An import for people and for programs.
#pragma once
#include "daemon/cli/hosts/import_plan.hpp"
#include "daemon/cli/terminal/terminal.hpp"

#include <string>
#include <string_view>

namespace mcpbx::cli::hosts {

/// Writes the table of all servers to stdout, and the faults, the notes and the variables to set below it.
void show_import(terminals::terminal& screen, const import_plan& plan);

/// Returns the plan as one object. `write` is the report of the writing as JSON, or "".
std::string import_json(const import_plan& plan, std::string_view write);

}  // namespace mcpbx::cli::hosts
