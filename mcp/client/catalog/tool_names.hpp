// Names of tools for callers (docs/guarantees.md, G38): `server__tool`, decided from the configuration and each
// server's own list alone, so that names do not depend on which other servers are up.
#pragma once
#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::mcp::catalogs {

inline constexpr std::size_t longest_exposed_name = 64;
/// Prefix of mcpbx's own future tools; no server gets it.
inline constexpr std::string_view reserved_prefix = "mcpbx__";

/// Returns the prefix of each configured server, in the same order: distinct, at most 32 characters of [A-Za-z0-9-] and
/// single inner underscores. Names that clash, are reserved or too long get a hash (see README.md).
std::vector<std::string> settle_prefixes(std::span<const std::string> servers);

/// Names for the tools of one server, in the order in which the tools were given.
struct named_tools {
  std::vector<std::string> names;  ///< per tool; "": it cannot be exposed, since a rename took its name
  /// Names from prefixed_names that a tool would have with, or without, certain others beside it, per tool; "": none.
  std::vector<std::string> others;
  std::vector<std::string> notices;  ///< one sentence per clash
};

/// Returns names below `prefix` for one server's tools (own names, distinct), whatever their order. `rename` maps own
/// names to the tool's part. Names that need no change are kept; changed names that clash get a hash each.
named_tools prefixed_names(std::string_view prefix, std::span<const std::string_view> tools,
                           const std::map<std::string, std::string>& rename);

/// Returns names for a plain server's tools and adds them to `taken`: own names (or those of `rename`), else the
/// `prefixed` one if the name is taken, reserved, begins with one of `prefixes` and `__`, or is in `foreign`.
named_tools plain_names(std::span<const std::string_view> tools, const std::map<std::string, std::string>& rename,
                        std::span<const std::string> prefixes, const named_tools& prefixed,
                        std::set<std::string, std::less<>>& taken,
                        const std::set<std::string, std::less<>>* foreign = nullptr);
/// Returns the name that the configuration gives to a tool if it is free: that of `rename`, or its own.
std::string plain_name(std::string_view tool, const std::map<std::string, std::string>& rename);

}  // namespace mcpbx::mcp::catalogs
