// Checks between keys, after load() has checked each key by itself.
#pragma once
#include "conf/model/model.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace mcpbx::conf {

/// Receives a finding: the path whose line and column are shown, the fault, and the fix.
using report_fn = std::function<void(const std::string& path, std::string what, std::string mend)>;

/// Checks names that must exist, keys that exclude or need each other, and ceilings.
void check_rules(const model::configuration& config, const report_fn& error, const report_fn& notice);

/// Returns `name` as a prefix of tool names: each character outside [A-Za-z0-9_-] becomes `_`, runs of `_` one.
std::string server_prefix(std::string_view name);
/// Sets the prefix of every server. A prefix that another server has already gets a short stable hash and a notice.
void assign_prefixes(model::configuration& config, const report_fn& notice);

}  // namespace mcpbx::conf
