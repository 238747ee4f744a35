// Translates keys of other MCP hosts in one entry of mcpServers into ours, before the entry is checked like any other.
#pragma once
#include "conf/document/diagnostic.hpp"
#include "conf/document/jsonc.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace mcpbx::conf::hosts {

/// Receivers of findings. The arguments of a report are the place, the fault, the path and the fix.
struct finding_sink {
  using report = std::function<void(const documents::place& at, std::string what, std::string path, std::string mend)>;
  report error, notice;
  report taken = {};  ///< notices of keys that act here under another name; empty: they go to `notice`
};

/// Replaces the keys of other hosts in `entry` (an object at `path`, of the server `name`) by our keys of that meaning.
/// If two keys disagree the stricter one wins, with a notice. A restriction that we cannot honour is an error.
void adopt_host_keys(documents::node& entry, std::string_view name, const std::string& path, const finding_sink& sink);

}  // namespace mcpbx::conf::hosts
