// Keys of other hosts in entries of mcpServers: which of them act here, and which unknown keys look as if they should.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

namespace mcpbx::conf {

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
  refuse,           ///< narrows in a way that cannot be honoured: an error unless it is empty or false
  refuse_false      ///< the same, where false narrows
};

struct host_key {
  std::string_view name;
  host_act act = host_act::quiet;
  std::string_view words = {};  ///< hint, refuse: what to do instead
};

/// The key of another host with exactly this name; null for others.
const host_key* find_host_key(std::string_view name);

/// The word of `known` that `key` was meant to be: letter case and separators do not count, a few letters may be wrong.
/// "" when none is near.
std::string_view meant_key(std::string_view key, std::span<const std::string_view> known);

/// The key of an entry, ours or one of another host that acts, that an unknown `key` was meant to be; "" for none.
std::string_view meant_entry_key(std::string_view key, std::span<const std::string_view> ours);

/// True when the name of a key says that it restricts something: "toolBlocklist", "read-only".
bool sounds_restricting(std::string_view key);

}  // namespace mcpbx::conf
