// What must hold between keys, once each of them is right by itself. Used by load().
#pragma once
#include "conf/model/model.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace mcpbx::conf {

/// How a rule tells what it found: the path whose place is shown, what is wrong, and the mend.
using report_fn = std::function<void(const std::string& path, std::string what, std::string mend)>;

/// Checks what no single key can show: names that must exist, keys that exclude or need each other, ceilings.
void check_rules(const configuration& config, const report_fn& error, const report_fn& notice);

/// `name` as the front of tool names: every other character than [A-Za-z0-9_-] becomes `_`, and runs of `_` one.
std::string server_prefix(std::string_view name);
/// Gives every server its prefix; one that an earlier server has gets a short stable hash, with a notice.
void assign_prefixes(configuration& config, const report_fn& notice);

}  // namespace mcpbx::conf
