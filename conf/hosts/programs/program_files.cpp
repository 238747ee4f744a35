// The rules of recognition go from marks of a whole document to marks of its entries.
#include "conf/hosts/programs/program_files.hpp"

#include <algorithm>
#include <initializer_list>

namespace mcpbx::conf::programs {
namespace {

std::string value_of(const variable_values& variables, std::string_view name) {
  const auto i = variables.find(name);
  return i == variables.end() || !i->second.starts_with('/') ? "" : i->second;
}

std::vector<const program*> named(std::initializer_list<std::string_view> names) {
  std::vector<const program*> out;
  for (const auto name : names) out.push_back(find_program(name));
  return out;
}

/// Returns true if one of the entries has the key, with a value of that kind if one is asked for.
bool entries_have(const documents::node& servers, std::string_view key,
                  documents::node::kind kind = documents::node::kind::broken) {
  return std::ranges::any_of(servers.members, [&](const documents::node_member& m) {
    const auto* found = m.value.find(key);
    return found != nullptr && (kind == documents::node::kind::broken || found->value.is(kind));
  });
}

bool entries_say(const documents::node& servers, std::string_view key, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(servers.members, [&](const documents::node_member& m) {
    const auto* found = m.value.find(key);
    return found != nullptr && std::ranges::find(words, found->value.text) != words.end();
  });
}

std::vector<const program*> by_entries(const documents::node& servers) {
  if (entries_have(servers, "approvalPolicy")) return named({"5ire"});
  if (entries_have(servers, "isActive")) return named({"cherry-studio"});
  if (entries_have(servers, "alwaysAllow")) return named({"roo-code"});
  if (entries_have(servers, "serverUrl")) return named({"windsurf"});
  if (entries_have(servers, "httpUrl") || entries_have(servers, "trust")) return named({"gemini-cli"});
  if (entries_have(servers, "tools", documents::node::kind::array)) return named({"copilot-cli"});
  if (entries_have(servers, "working_directory")) return named({"warp"});
  if (entries_say(servers, "type", {"streamableHttp"})) return named({"cline", "cherry-studio", "1mcp"});
  return {};
}

}  // namespace

std::vector<std::string> program_paths(std::string_view pattern, const variable_values& variables) {
  std::vector<std::string> out;
  if (pattern.starts_with('/')) out.emplace_back(pattern);
  if (pattern.starts_with('$')) {
    const auto slash = pattern.find('/');
    if (const auto folder = value_of(variables, pattern.substr(1, slash - 1)); !folder.empty())
      out.push_back(folder + std::string(pattern.substr(slash)));
  }
  if (!pattern.starts_with("~/")) return out;
  constexpr std::string_view config = "~/.config/";
  const auto home = value_of(variables, "HOME"), own = value_of(variables, "XDG_CONFIG_HOME");
  if (pattern.starts_with(config) && !own.empty())
    out.push_back(own + "/" + std::string(pattern.substr(config.size())));
  if (!home.empty())
    if (auto path = home + std::string(pattern.substr(1)); std::ranges::find(out, path) == out.end())
      out.push_back(std::move(path));
  return out;
}

bool is_machine_path(std::string_view pattern) {
  return pattern.starts_with('/');
}

read::foreign_format format_of(std::string_view path) {
  if (path.ends_with(".toml")) return read::foreign_format::toml;
  if (path.ends_with(".yaml") || path.ends_with(".yml")) return read::foreign_format::yaml;
  return read::foreign_format::json;
}

project_file project_of(std::string_view path) {
  for (const auto& p : all_programs())
    for (const auto end : p.project_files)
      if (!end.empty() && path.ends_with(end)) return {&p, std::string(path.substr(0, path.size() - end.size()))};
  return {};
}

std::vector<const program*> programs_like(const documents::node& document, read::foreign_format format) {
  const auto has = [&](std::string_view key) { return document.find(key) != nullptr; };
  const auto* servers = document.find("mcpServers");
  if (format == read::foreign_format::toml) return has("mcp_servers") ? named({"codex"}) : named({});
  if (format == read::foreign_format::yaml) {
    if (has("extensions")) return named({"goose"});
    if (servers == nullptr) return {};
    return servers->value.is(documents::node::kind::array) ? named({"continue"}) : named({"librechat"});
  }
  if (has("context_servers")) return named({"zed"});
  if (has("amp.mcpServers") || has("amp")) return named({"amp"});
  if (has("nativeMCPServers")) return named({"mcphub"});
  if (has("servers")) return named({"vscode"});
  if (const auto* mcp = document.find("mcp"); mcp != nullptr && mcp->value.is(documents::node::kind::object)) {
    if (servers != nullptr) return named({"gemini-cli"});
    if (entries_say(mcp->value, "type", {"local", "remote"})) return named({"opencode"});
    if (entries_say(mcp->value, "type", {"stdio", "http", "sse"})) return named({"crush"});
  }
  if (const auto* projects = document.find("projects");
      projects != nullptr && entries_have(projects->value, "mcpServers"))
    return named({"claude-code"});
  if (servers != nullptr && servers->value.is(documents::node::kind::array)) return named({"mcpproxy"});
  if (has("mcpSettings")) return named({"jan"});
  if (has("serverDefaults") || has("mcpTemplates")) return named({"1mcp"});
  return by_entries(servers != nullptr ? servers->value : document);
}

}  // namespace mcpbx::conf::programs
