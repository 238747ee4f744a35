// The table of other hosts' keys, and the comparison of unknown keys with known ones.
#include "conf/hosts/host_keys.hpp"

#include "mcp/support/text.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace mcpbx::conf::hosts {
namespace {

constexpr std::size_t longest_key = 64;  // a longer key cannot be a misspelling of ours

// clang-format off: one key, one line

using enum host_act;
constexpr std::string_view by_deny = "name the tools in \"tools\": {\"deny\": [\"NAME\"]}, or take the key out";
constexpr std::string_view no_part = "mcpbx has no such part; disable the server, or take the key out";

constexpr host_key host_keys[] = {
  {"enabled", off_when_false}, {"isActive", off_when_false}, {"active", off_when_false},
  {"quarantined", off_when_true},
  {"disabledTools", deny}, {"disabled_tools", deny}, {"excludeTools", deny},
  {"includeTools", allow}, {"enabled_tools", allow}, {"available_tools", allow}, {"allowedTools", allow},
  {"disabledAutoApproveTools", ask_for},
  {"approval_mode", ask_by_word}, {"default_tools_approval_mode", ask_by_word}, {"approvalPolicy", ask_by_word},
  {"trust", ask_unless_true},
  {"autoApprove", never_ask}, {"alwaysAllow", never_ask},
  {"include_tags", refuse, by_deny}, {"exclude_tags", refuse, by_deny},
  {"toolAliases", refuse, "write \"tools\": {\"rename\": {\"NAME\": \"OTHER\"}}"},
  {"disabled_resources", refuse, no_part}, {"disabled_resourceTemplates", refuse, no_part},
  {"disabled_prompts", refuse, no_part}, {"expose_prompts", refuse_false, no_part},
  {"sandboxEnabled", refuse, no_part}, {"sandbox", refuse, no_part}, {"isolation", refuse, no_part},
  {"volumes", refuse, no_part}, {"remote", refuse, no_part}, {"experimental_environment", refuse, no_part},
  {"scopes", refuse, no_part}, {"oauthScopes", refuse, no_part}, {"customUserVars", refuse, no_part},
  {"registryUrl", refuse, "set the registry in \"env\", or take the key out"},
  {"timeout", hint, "write \"callTimeoutMs\" for the time of a call"},
  {"tool_timeout_sec", hint, "write \"callTimeoutMs\" for the time of a call"},
  {"requestTimeout", hint, "write \"callTimeoutMs\" for the time of a call"},
  {"request_timeout_ms", hint, "write \"callTimeoutMs\" for the time of a call"},
  {"initTimeout", hint, "write \"startTimeoutMs\" for the time of the start"},
  {"init_timeout", hint, "write \"startTimeoutMs\" for the time of the start"},
  {"connectionTimeout", hint, "write \"startTimeoutMs\" for the time of the start"},
  {"startup_timeout_sec", hint, "write \"startTimeoutMs\" for the time of the start"},
  {"startup_timeout_ms", hint, "write \"startTimeoutMs\" for the time of the start"},
  {"launcher_wait_timeout", hint, "write \"startTimeoutMs\" for the time of the start"},
  {"startup", hint, "write \"start\": \"lazy\" to start the server at its first use"},
  {"httpUrl", hint, "write \"url\""}, {"serverUrl", hint, "write \"url\""}, {"baseUrl", hint, "write \"url\""}, {"uri", hint, "write \"url\""},
  {"cmd", hint, "write \"command\""}, {"envs", hint, "write \"env\""}, {"environment", hint, "write \"env\""},
  {"env_vars", hint, "write \"passEnv\""}, {"env_keys", hint, "write \"passEnv\""},
  {"inheritParentEnv", hint, "write \"passEnv\" with the names"}, {"envFilter", hint, "write \"passEnv\" with the names"},
  {"working_dir", hint, "write \"cwd\""}, {"working_directory", hint, "write \"cwd\""},
  {"max_concurrent_requests", hint, "write \"maxConcurrency\""},
  {"toolDescriptionOverrides", hint, "the descriptions of the server are shown"},
  {"http_headers", hint, "write \"headers\""}, {"env_http_headers", hint, "write \"headers\""},
  {"bearer_token_env_var", hint, "write \"headers\": {\"Authorization\": \"Bearer ${env:NAME}\"}"},
  {"type", transport_word}, {"transport", transport_word}, {"transportType", transport_word}, {"description"}, {"icon"}, {"icons"}, {"iconPath"}, {"name"}, {"title"}, {"displayName"},
  {"note"}, {"comment"}, {"gallery"}, {"version"}, {"tags"}, {"logo"}, {"logoUrl"}, {"homepage"}, {"provider"}, {"providerUrl"},
  {"official"}, {"reference"}, {"bundled"}, {"metadata"}, {"chatMenu"}, {"created"}, {"updated"}, {"alwaysLoad"},
  {"deferTools"}, {"disableToolCache"}, {"slowConnectionThresholdMs"}, {"stderr"}, {"source"}, {"required"}, {"restartOnExit"},
  {"maxRestarts"}, {"restartDelay"}, {"reconnect_on_use"}, {"keep_alive"}, {"longRunning"}, {"dev"}, {"watch"}, {"watchPaths"},
  {"debug"}, {"supports_parallel_tool_calls"}, {"serverInstructions"}, {"custom_instructions"}, {"requiresOAuth"},
  {"authProviderType"}, {"filterMapping"},
};

// clang-format on

constexpr std::array<std::string_view, 38> restricting{
    "allow",     "deny",       "denied",     "block",   "disable",  "enable",    "exclude", "include",
    "restrict",  "approv",     "trust",      "sandbox", "readonly", "filter",    "forbid",  "whitelist",
    "blacklist", "permission", "quarantine", "confirm", "hidden",   "ignore",    "hide",    "omit",
    "skip",      "remove",     "select",     "only",    "consent",  "alwaysask", "pause",   "suspend",
    "safe",      "secure",     "ban",        "acl",     "policy",   "inactive"};

/// Returns the letters and digits of a key in lower case, so that `Disabled_Tools` equals `disabledTools`.
std::string folded(std::string_view key) {
  std::string out;
  for (const char c : key) {
    if (c >= 'A' && c <= 'Z')
      out += static_cast<char>(c - 'A' + 'a');
    else if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
      out += c;
  }
  return out;
}

}  // namespace

const host_key* find_host_key(std::string_view name) {
  const auto found = std::ranges::find(host_keys, name, &host_key::name);
  return found == std::end(host_keys) ? nullptr : &*found;
}

std::string_view meant_key(std::string_view key, std::span<const std::string_view> known) {
  if (key.size() > longest_key) return "";
  const auto word = folded(key);
  if (word.empty()) return "";
  std::vector<std::string> words;
  words.reserve(known.size());
  for (const auto k : known) words.push_back(folded(k));
  const std::vector<std::string_view> views(words.begin(), words.end());
  const auto near = nearest(word, views);
  return near.empty() ? near : known[static_cast<std::size_t>(std::ranges::find(views, near) - views.begin())];
}

std::string_view meant_entry_key(std::string_view key, std::span<const std::string_view> ours) {
  if (key.size() > longest_key) return "";
  std::vector<std::string_view> known(ours.begin(), ours.end());
  const auto word = folded(key);
  for (const auto& h : host_keys) {
    if (h.act == quiet || h.act == hint) {
      if (word == folded(h.name)) return "";  // a key without effect in another spelling
      continue;
    }
    known.push_back(h.name);
  }
  const auto meant = meant_key(key, known);
  // "blockedTools" is near "allowedTools", which is the opposite.
  const auto* host = find_host_key(meant);
  if (host && host->act == allow && folded(meant).substr(0, 3) != word.substr(0, 3)) return "tools";
  return meant;
}

bool sounds_restricting(std::string_view key) {
  const auto word = folded(key.substr(0, 4 * longest_key));
  return std::ranges::any_of(restricting, [&](std::string_view part) { return word.contains(part); });
}

}  // namespace mcpbx::conf::hosts
