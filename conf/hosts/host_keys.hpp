// Table of the keys that other MCP hosts write into entries of mcpServers, with their effect here; and the search for
// the key that a misspelt one was meant to be.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

namespace mcpbx::conf::hosts {

/// The effect of a key of another host.
enum class host_act : std::uint8_t {
  quiet,            ///< decoration: nothing is said
  hint,             ///< tunes something: a notice with `words` as the advice
  off_when_false,   ///< false is "disabled": true
  off_when_true,    ///< true is "disabled": true
  deny,             ///< exact names for tools.deny
  allow,            ///< exact names for tools.allow
  ask_for,          ///< exact names for approve
  ask_by_word,      ///< a word that may mean "approve": ["*"]
  ask_unless_true,  ///< false is "approve": ["*"]
  never_ask,        ///< would loosen approvals elsewhere; loosens none here
  transport_word,   ///< the name of a transport, which must agree with command or url
  refuse,           ///< narrows in a way that cannot be honoured: an error unless it is empty or false
  refuse_false      ///< the same, where false narrows
};

struct host_key {
  std::string_view name;
  host_act act = host_act::quiet;
  std::string_view words = {};  ///< hint, refuse: what to do instead
};

/// Finds the key of another host with exactly this name; null for others.
const host_key* find_host_key(std::string_view name);

/// Finds the word of `known` that `key` was meant to be: ignores letter case and separators, forgives a few wrong
/// letters. Returns "" if none is near.
std::string_view meant_key(std::string_view key, std::span<const std::string_view> known);

/// Finds the key of an entry that an unknown `key` was meant to be: one of ours, or another host's that acts here. ""
/// for none.
std::string_view meant_entry_key(std::string_view key, std::span<const std::string_view> ours);

/// Returns true if the name of a key sounds like a restriction: "toolBlocklist", "read-only".
bool sounds_restricting(std::string_view key);

}  // namespace mcpbx::conf::hosts
