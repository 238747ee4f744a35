// One function for each program that has such lists. A rule for a part of the program only (an agent, a
// profile, a project) is read as one for all of it: mcpbx has no such parts.
#include "conf/hosts/import/outside_rules.hpp"

#include "conf/hosts/import/node_making.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <initializer_list>

namespace mcpbx::conf::imports {
namespace {

using kind = documents::node::kind;

constexpr std::size_t most_rules = 10'000;

/// Returns the value at the end of a path of keys; null: there is none.
const documents::node* at(const documents::node& tree, std::initializer_list<std::string_view> path) {
  const auto* n = &tree;
  for (const auto key : path) {
    const auto* m = n->find(key);
    if (m == nullptr) return nullptr;
    n = &m->value;
  }
  return n;
}

std::vector<std::string> texts(const documents::node* list) {
  std::vector<std::string> out;
  if (list != nullptr)
    for (const auto& i : list->items)
      if (i.is(kind::string)) out.push_back(i.text);
  return out;
}

void append(std::vector<std::string>& to, std::vector<std::string> more) {
  to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

class rule_collector {
 public:
  rule_collector(std::span<const foreign_document> files, std::span<const foreign_document> beside,
                 std::span<const std::string> servers)
      : files_(files), beside_(beside), servers_(servers) {}

  outside_rules made;

  void gemini() {
    for (const auto& d : files_) {
      for (const auto* list : {at(d.tree, {"mcp", "allowed"}), at(d.tree, {"allowMCPServers"})})
        if (list != nullptr) narrow(texts(list));
      append(made.off, texts(at(d.tree, {"mcp", "excluded"})));
      append(made.off, texts(at(d.tree, {"excludeMCPServers"})));
      for (const auto* list : {at(d.tree, {"tools", "exclude"}), at(d.tree, {"excludeTools"})})
        for (const auto& rule : texts(list)) tool_of_gemini(rule.substr(0, rule.find('(')));
    }
    for (const auto& d : beside_)
      for (const auto& m : d.tree.members)
        if (const auto* on = at(m.value, {"enabled"}); on != nullptr && on->is(kind::boolean) && !on->truth)
          made.off.push_back(m.key);
  }

  void claude_code() {
    for (const auto& d : files_) {
      switches_of_claude(d.tree);
      if (const auto* projects = at(d.tree, {"projects"}))
        for (const auto& p : projects->members) switches_of_claude(p.value);
    }
    for (const auto& d : beside_) {
      switches_of_claude(d.tree);
      lists_of_claude(d);
      for (const auto& rule : texts(at(d.tree, {"permissions", "deny"}))) rule_of_claude(rule, made.deny);
      for (const auto& rule : texts(at(d.tree, {"permissions", "ask"}))) rule_of_claude(rule, made.ask);
    }
  }

  /// Reads the permissions of Cursor's command line: "Mcp(SERVER:TOOL)", with patterns on both sides.
  void cursor() {
    for (const auto& d : beside_)
      for (const auto& rule : texts(at(d.tree, {"permissions", "deny"}))) rule_of_cursor(rule);
  }

  /// Reads the settings of VS Code that close MCP servers, or have the user asked before each call of a tool.
  void vscode() {
    for (const auto& d : beside_) {
      const auto* access = at(d.tree, {"chat.mcp.access"});
      const auto* on = at(d.tree, {"chat.mcp.enabled"});
      if ((access != nullptr && access->text == "none") || (on != nullptr && on->is(kind::boolean) && !on->truth))
        narrow({});
      if (access != nullptr && access->text == "registry")
        refuse(d, *access, "chat.mcp.access", "allows only servers from a registry, which mcpbx does not know");
      if (const auto* tools = at(d.tree, {"chat.tools.eligibleForAutoApproval"}))
        for (const auto& t : tools->members)
          if (t.value.is(kind::boolean) && !t.value.truth) tool_of_vscode(t.key);
    }
  }

  void opencode() {
    for (const auto& d : files_) {
      switches(at(d.tree, {"tools"}));
      switches(at(d.tree, {"permission"}));
      for (const auto key : {"agent", "mode"})
        if (const auto* agents = at(d.tree, {key}))
          for (const auto& a : agents->members) {
            switches(at(a.value, {"tools"}));
            switches(at(a.value, {"permission"}));
          }
    }
  }

  void goose() {
    for (const auto& d : beside_)
      for (const auto& part : d.tree.members) {
        for (const auto& name : texts(at(part.value, {"never_allow"}))) prefixed(name, "__", made.deny);
        for (const auto& name : texts(at(part.value, {"ask_before"}))) prefixed(name, "__", made.ask);
      }
  }

  void amp() {
    for (const auto& d : files_) {
      if (const auto* list = find_amp(d.tree, "mcpPermissions"); list != nullptr && !list->items.empty()) {
        const bool restricts = std::ranges::any_of(list->items, [](const documents::node& i) {
          const auto* action = at(i, {"action"});
          return action == nullptr || action->text != "allow";
        });
        if (restricts)
          refuse(d, *list, "amp.mcpPermissions", "rejects some servers by patterns, which mcpbx does not read");
      }
      for (const auto& pattern : texts(find_amp(d.tree, "tools.disable"))) rule_of_amp(pattern);
      if (const auto* list = find_amp(d.tree, "permissions"))
        for (const auto& i : list->items) {
          const auto* action = at(i, {"action"});
          const auto* tool = at(i, {"tool"});
          if (action != nullptr && tool != nullptr && action->text == "reject") rule_of_amp(tool->text);
        }
    }
  }

  void zed() {
    for (const auto& d : files_) {
      permissions_of_zed(at(d.tree, {"agent", "tool_permissions"}));
      const auto* profiles = at(d.tree, {"agent", "profiles"});
      if (profiles == nullptr) continue;
      const auto* chosen = at(d.tree, {"agent", "default_profile"});
      const std::string usual = chosen != nullptr ? chosen->text : "write";
      for (const auto& p : profiles->members) {
        const auto* all = at(p.value, {"enable_all_context_servers"});
        const auto* named = at(p.value, {"context_servers"});
        const bool only_named = p.key == usual && all != nullptr && all->is(kind::boolean) && !all->truth;
        if (only_named && named == nullptr) narrow({});
        if (named == nullptr) continue;
        std::vector<std::string> on;
        for (const auto& s : named->members) {
          on.push_back(s.key);
          if (const auto* tools = at(s.value, {"tools"}))
            for (const auto& t : tools->members)
              if (t.value.is(kind::boolean) && !t.value.truth) made.deny.push_back({s.key, t.key});
        }
        if (only_named) {
          narrow(on);
          refuse(d, *all, "agent.profiles." + p.key, "offers only the tools that it names, of each server");
        }
      }
    }
  }

 private:
  void refuse(const foreign_document& d, const documents::node& n, std::string path, std::string what) {
    made.refused.push_back(
        {d.file->path, n.at.line, n.at.column, std::move(what), std::move(path),
         "take it out there, or add the servers with `mcpbx add` and write \"tools\": {\"allow\": […]}"});
  }

  void narrow(std::vector<std::string> names) {
    if (!made.only)
      made.only = std::move(names);
    else
      std::erase_if(*made.only, [&](const std::string& n) { return std::ranges::find(names, n) == names.end(); });
  }

  void switches_of_claude(const documents::node& part) {
    append(made.off, texts(at(part, {"disabledMcpServers"})));
    append(made.off, texts(at(part, {"disabledMcpjsonServers"})));
  }

  /// Reads the lists of servers that a company's settings allow or forbid. A list by command or address is refused.
  void lists_of_claude(const foreign_document& d) {
    for (const std::string key : {"deniedMcpServers", "allowedMcpServers"}) {
      const auto* list = at(d.tree, {key});
      if (list == nullptr) continue;
      std::vector<std::string> names;
      bool others = !list->is(kind::array);
      for (const auto& i : list->items) {
        const auto* name = at(i, {"serverName"});
        if (name != nullptr && name->is(kind::string))
          names.push_back(name->text);
        else
          others = true;
      }
      if (others) refuse(d, *list, key, "names servers by commands or addresses, which mcpbx does not compare");
      if (key.starts_with('a'))
        narrow(std::move(names));
      else
        append(made.off, std::move(names));
    }
  }

  /// Reads what is denied, or always asked for, of all tools and of those called mcp:SERVER:TOOL (Zed's page
  /// on tool permissions). Patterns about arguments deny and ask for the whole tool.
  void permissions_of_zed(const documents::node* permissions) {
    if (permissions == nullptr) return;
    const auto rule = [&](const documents::node& part, const std::string& server, const std::string& tool) {
      const auto* usual = at(part, {"default"});
      const auto filled = [&](std::string_view key) {
        const auto* list = at(part, {key});
        return list != nullptr && !list->items.empty();
      };
      if ((usual != nullptr && usual->text == "deny") || filled("always_deny"))
        made.deny.push_back({server, tool});
      else if ((!server.empty() && usual != nullptr && usual->text == "confirm") || filled("always_confirm"))
        made.ask.push_back({server, tool});
    };
    rule(*permissions, "", "*");
    if (const auto* tools = at(*permissions, {"tools"}))
      for (const auto& t : tools->members)
        for (const auto& server : servers_)
          if (const auto front = "mcp:" + server + ":"; t.key.starts_with(front))
            rule(t.value, server, t.key.substr(front.size()));
  }

  void rule_of_cursor(std::string_view rule) {
    if (!rule.starts_with("Mcp(") || !rule.ends_with(')')) return;
    rule = rule.substr(4, rule.size() - 5);
    const auto mark = rule.find_first_of(":,");
    const std::string server(trimmed(rule.substr(0, mark)));
    const std::string tool(mark == rule.npos ? std::string_view("*") : trimmed(rule.substr(mark + 1)));
    for (const auto& known : servers_)
      if (glob_match(server, known)) made.deny.push_back({known, tool});
  }

  /// Reads the name of a tool: SERVER/TOOL, mcp_SERVER_TOOL, a server's name for all of its tools, or the tool's own.
  void tool_of_vscode(std::string_view tool) {
    const auto before = made.ask.size();
    prefixed(tool, "/", made.ask);
    if (tool.starts_with("mcp_")) prefixed(tool.substr(4), "_", made.ask);
    for (const auto& server : servers_)
      if (tool == server) made.ask.push_back({server, "*"});
    if (made.ask.size() == before) made.ask.push_back({"", std::string(tool)});
  }

  /// Reads the name of a tool, which may have the server's in front (Gemini CLI's page on MCP servers).
  void tool_of_gemini(const std::string& tool) {
    made.deny.push_back({"", tool});
    prefixed(tool, "__", made.deny);
    if (tool.starts_with("mcp_")) prefixed(std::string_view(tool).substr(4), "_", made.deny);
  }

  /// Returns a name as Claude Code and opencode write it in names of tools.
  static std::string plain_name(std::string_view name) {
    std::string out;
    for (const char c : name) {
      const bool plain =
          (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
      out += plain ? c : '_';
    }
    return out;
  }

  void rule_of_claude(std::string_view rule, std::vector<tool_rule>& into) {
    if (!rule.starts_with("mcp__")) return;
    rule.remove_prefix(5);
    rule = rule.substr(0, rule.find('('));
    for (const auto& server : servers_) {
      const auto name = plain_name(server);
      if (rule == name)
        into.push_back({server, "*"});
      else if (rule.starts_with(name + "__"))
        into.push_back({server, std::string(rule.substr(name.size() + 2))});
      else if (rule.find('*') < name.size() + 2 && glob_match(std::string(rule.substr(0, rule.find('*') + 1)), name))
        into.push_back({server, "*"});
    }
  }

  /// Reads names that begin with a server's and a mark between it and the tool's.
  void prefixed(std::string_view name, std::string_view mark, std::vector<tool_rule>& into) {
    for (const auto& server : servers_)
      if (const auto front = server + std::string(mark); name.starts_with(front))
        into.push_back({server, std::string(name.substr(front.size()))});
  }

  /// Reads opencode's object of patterns on SERVER_TOOL.
  void switches(const documents::node* object) {
    if (object == nullptr) return;
    if (object->is(kind::string) && object->text == "deny") made.deny.push_back({"", "*"});
    if (object->is(kind::string) && object->text == "ask") made.ask.push_back({"", "*"});
    for (const auto& m : object->members) {
      const auto& v = m.value;
      const bool off = (v.is(kind::boolean) && !v.truth) || (v.is(kind::string) && v.text == "deny");
      const bool asks = v.is(kind::string) && v.text == "ask";
      if (!off && !asks) continue;
      auto& into = off ? made.deny : made.ask;
      for (const auto& server : servers_) {
        const std::string front = plain_name(server) + "_";
        if (m.key.starts_with(front))
          into.push_back({server, m.key.substr(front.size())});
        else if (const auto star = m.key.find_first_of("*?");
                 star < front.size() && front.starts_with(m.key.substr(0, star)))
          into.push_back({server, "*"});
      }
    }
  }

  static const documents::node* find_amp(const documents::node& tree, std::string_view key) {
    const auto* m = tree.find("amp." + std::string(key));
    if (m != nullptr) return &m->value;
    const auto* amp = tree.find("amp");
    if (amp == nullptr) return nullptr;
    const auto* inner = amp->value.find(key);
    return inner == nullptr ? nullptr : &inner->value;
  }

  void rule_of_amp(std::string_view pattern) {
    if (!pattern.starts_with("mcp__")) return made.deny.push_back({"", std::string(pattern)});
    const auto rest = pattern.substr(5);
    const auto before = made.deny.size();
    prefixed(rest, "__", made.deny);
    if (made.deny.size() == before && rest.find_first_of("*?") != rest.npos)
      for (const auto& server : servers_)
        if (rest.find_first_of("*?") < server.size() + 2 &&
            server.starts_with(rest.substr(0, rest.find_first_of("*?"))))
          made.deny.push_back({server, "*"});
  }

  std::span<const foreign_document> files_, beside_;
  std::span<const std::string> servers_;
};

}  // namespace

outside_rules read_outside_rules(const programs::program& from, std::span<const foreign_document> files,
                                 std::span<const foreign_document> beside, std::span<const std::string> servers) {
  rule_collector collector(files, beside, servers);
  if (from.name == "gemini-cli") collector.gemini();
  if (from.name == "claude-code") collector.claude_code();
  if (from.name == "cursor") collector.cursor();
  if (from.name == "vscode") collector.vscode();
  if (from.name == "opencode") collector.opencode();
  if (from.name == "goose") collector.goose();
  if (from.name == "amp") collector.amp();
  if (from.name == "zed") collector.zed();
  auto& made = collector.made;
  if (made.deny.size() + made.ask.size() > most_rules)
    made.refused.push_back({files.empty() ? "" : files.front().file->path, 0, 0,
                            "more than " + std::to_string(most_rules) + " rules about tools", "", "write fewer"});
  return std::move(made);
}

void apply_outside_rules(const outside_rules& rules, foreign_server& server) {
  if (server.fate != server_fate::taken) return;
  if (!rules.refused.empty()) {
    server.errors.insert(server.errors.end(), rules.refused.begin(), rules.refused.end());
    server.fate = server_fate::refused;
    return;
  }
  const auto is_in = [&](const std::vector<std::string>& list) {
    return std::ranges::find(list, server.name) != list.end();
  };
  auto& entry = server.entry;
  const auto our_list = [&](std::string_view outer, std::string_view key, const std::string& name) {
    if (outer.empty()) return add_names(entry, key, {name}, server.at);
    if (entry.find(outer) == nullptr)
      entry.members.push_back({std::string(outer), server.at, empty_node(kind::object, server.at)});
    add_names(entry.find(outer)->value, key, {name}, server.at);
  };
  bool off = is_in(rules.off) || (rules.only && !is_in(*rules.only));
  for (const auto& r : rules.deny) {
    if (!r.server.empty() && r.server != server.name) continue;
    if (r.tool == "*" && !r.server.empty())
      off = true;
    else if (!r.tool.empty())
      our_list("tools", "deny", r.tool);
  }
  for (const auto& r : rules.ask)
    if (r.server.empty() || r.server == server.name) our_list("", "approve", r.tool.empty() ? "*" : r.tool);
  if (!off) return;
  if (auto* m = entry.find("disabled"))
    m->value = truth_node(true, server.at);
  else
    entry.members.push_back({"disabled", server.at, truth_node(true, server.at)});
}

}  // namespace mcpbx::conf::imports
