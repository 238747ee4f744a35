// The names of tools towards callers (docs/guarantees.md, G38): `server__tool`, decided from the configuration and each
// server's own list alone, so that names are the same whatever other servers are up.
#pragma once
#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::mcp {

inline constexpr std::size_t longest_exposed_name = 64;
/// Names of our own tools to come; no server gets them.
inline constexpr std::string_view reserved_prefix = "mcpbx__";

/// The prefix of each configured server, in the same order. Prefixes are distinct, hold only [A-Za-z0-9-] and single
/// inner underscores and at most 32 characters, so that the first `__` of a name always ends the server's part. What
/// clashes, is reserved or had to be cut gets `_` and a short hash of the server's name. A server whose name is a
/// prefix as it is keeps it, wherever it stands; among the others an earlier one goes first.
std::vector<std::string> settle_prefixes(std::span<const std::string> servers);

struct named_tools {
  std::vector<std::string> names;  ///< per tool; "": it cannot be exposed (its name is taken by a rename)
  /// Of prefixed_names, per tool: the name that it has instead where others are listed beside it, or are not; "": none.
  std::vector<std::string> others;
  std::vector<std::string> notices;  ///< one sentence per clash
};

/// Names for one server's tools (their own names, distinct, as listed) below `prefix`. `rename` maps own names to the
/// tool's part of the name. The outcome does not depend on the order of `tools`: a name that could stay as it is keeps
/// it, those that had to be changed and clash get a hash each.
named_tools prefixed_names(std::string_view prefix, std::span<const std::string_view> tools,
                           const std::map<std::string, std::string>& rename);

/// The names of a plain server's tools: their own, as long as no earlier server has them (`taken`), none of `foreign`
/// (own names of tools whose name is another one's) are they, they are not reserved and none of `prefixes` followed by
/// `__` begins them; otherwise those of prefixed_names, which are `prefixed`. Adds what it gives out to `taken`.
named_tools plain_names(std::span<const std::string_view> tools, const std::map<std::string, std::string>& rename,
                        std::span<const std::string> prefixes, const named_tools& prefixed,
                        std::set<std::string, std::less<>>& taken,
                        const std::set<std::string, std::less<>>* foreign = nullptr);
/// The name that a tool would have by the configuration if it is free: its own, or that of `rename`.
std::string plain_name(std::string_view tool, const std::map<std::string, std::string>& rename);

}  // namespace mcpbx::mcp
