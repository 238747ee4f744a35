// The checks of an entry as a whole, after its keys were read: forms of Windows, paths, keys that mean the same in
// every program, unknown keys, and the order of ours.
#include "conf/hosts/host_adopt.hpp"
#include "conf/hosts/host_keys.hpp"
#include "conf/hosts/import/entry_reader.hpp"
#include "conf/hosts/import/node_making.hpp"
#include "conf/hosts/import/paths.hpp"
#include "conf/model/spec.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace mcpbx::conf::imports {
namespace {

/// Returns true for a path of Windows with a drive.
bool has_drive(std::string_view path) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return path.size() > 2 && letter(path[0]) && path[1] == ':' && (path[2] == '\\' || path[2] == '/');
}

}  // namespace

void entry_reader::finish_command() {
  auto* m = out_.entry.find("command");
  if (m == nullptr || !m->value.is(documents::node::kind::string)) return;
  auto& command = m->value.text;
  auto* args = out_.entry.find("args");
  const bool has_args = args != nullptr && !args->value.items.empty();
  if (command.empty() && out_.entry.find("url") != nullptr) {  // Jan writes both
    std::erase_if(out_.entry.members, [](const documents::node_member& x) {
      return x.key == "command" || (x.key == "args" && x.value.items.empty());
    });
    return;
  }
  const auto base = std::string_view(command).substr(command.rfind('/') + 1);
  if ((base == "cmd" || base == "cmd.exe") && has_args && args->value.items.size() > 1 &&
      (args->value.items[0].text == "/c" || args->value.items[0].text == "/C")) {
    notice(*m, "cmd /c is left out, which Windows needs alone");
    command = args->value.items[1].text;
    args->value.items.erase(args->value.items.begin(), args->value.items.begin() + 2);
  }
  if (has_drive(command) || command.find('\\') != command.npos)
    return error(*m, "a path of Windows", "write the program's path on this machine");
  if (command == "wsl" || command == "wsl.exe")
    return error(*m, "starts the program through Windows", "write the program behind wsl itself");
  for (const std::string_view end : {".cmd", ".exe"})
    if (command.ends_with(end) && command.size() > end.size()) {
      notice(*m, "the ending " + std::string(end) + " is left out, which Windows needs alone");
      command.resize(command.size() - end.size());
    }
  const auto blank = command.find(' ');
  const bool sentence =
      blank != command.npos && !has_args && (command.find('/') > blank || command.substr(blank + 1, 1) == "-");
  if (sentence) {
    return error(*m, "holds several words, and mcpbx uses no shell",
                 "write " + json::json_quoted(cut_utf8(std::string_view(command).substr(0, blank), 64)) +
                     " there, and the other words one by one in \"args\"");
  }
  if (is_relative(command) && command.find('/') != command.npos) {
    if (around_.folder.empty())
      notice(*m, "a program without an absolute path", "write its whole path: mcpbx starts servers in the home folder");
    else
      command = below(around_.folder, command);
  }
}

void entry_reader::finish_arguments() {
  auto* m = out_.entry.find("args");
  if (m == nullptr) return;
  if (m->value.items.empty())
    return std::erase_if(out_.entry.members, [](const documents::node_member& x) { return x.key == "args"; }), void();
  for (auto& item : m->value.items) {
    const bool here = item.text == "." || item.text.starts_with("./") || item.text.starts_with("../");
    if (here && around_.folder.empty())
      notice(*m, "an argument is a path that is not absolute",
             "write its whole path: mcpbx starts servers in the home folder");
    else if (here) {
      item.text = below(around_.folder, item.text);
      notice(*m, "an argument is now the path " + item.text);
    }
  }
}

void entry_reader::finish_transport(bool has_word) {
  if (has_word || out_.entry.find("command") != nullptr) return;
  const auto* m = out_.entry.find("url");
  if (m == nullptr) return;
  auto path = std::string_view(m->value.text);
  path = path.substr(0, path.find_first_of("?#"));
  if (from_.sse_without_word || (from_.name == "fastmcp" && (path.ends_with("/sse") || path.ends_with("/sse/"))))
    set_text("transport", "sse", m->value.at);
}

void entry_reader::look_at_arguments() {
  const auto* m = out_.entry.find("args");
  if (m == nullptr) return;
  const auto& items = m->value.items;
  const auto* given = out_.entry.find("env");
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto& word = items[i].text;
    if (word == "-e" && i + 1 < items.size() && items[i + 1].text.find('=') == std::string::npos) {
      const auto& name = items[i + 1].text;
      const auto* passed = out_.entry.find("passEnv");
      const bool known = (given != nullptr && given->value.find(name) != nullptr) ||
                         (passed != nullptr && std::ranges::find(passed->value.items, name, &documents::node::text) !=
                                                   passed->value.items.end());
      if (!known)
        notice(*m, "passes on " + name + ", which \"env\" does not set",
               "write \"passEnv\": [" + json::json_quoted(name) + "] if the daemon has it");
    }
    if (word.find("mcp-remote") != word.npos || word == "supergateway" || word == "mcp-proxy")
      notice(*m, "is a bridge to a remote server, which mcpbx can reach without it",
             "`mcpbx add NAME URL` if you want that; the bridge's logins do not go along");
  }
}

void entry_reader::adopt() {
  const hosts::finding_sink sink{
      [this](const documents::place& at, std::string what, std::string path, std::string mend) {
        out_.errors.push_back({out_.file, at.line, at.column, std::move(what), std::move(path), std::move(mend)});
      },
      [this](const documents::place& at, std::string what, std::string path, std::string mend) {
        out_.notices.push_back({out_.file, at.line, at.column, std::move(what), std::move(path), std::move(mend)});
      },
      [](const documents::place&, std::string, std::string, std::string) {}};
  hosts::adopt_host_keys(out_.entry, out_.name, out_.section, sink);
}

void entry_reader::check_unknown() {
  const auto* servers = model::root_section().find("mcpServers");
  const auto ours = servers->inner->key_names();
  std::erase_if(out_.entry.members, [&](const documents::node_member& m) {
    if (std::ranges::find(ours, m.key) != ours.end()) return false;
    if (hosts::sounds_restricting(m.key))
      error(m, "an unknown key, whose name says that it restricts something",
            "say it in an entry of your own, or take it out there");
    else
      notice(m, "an unknown key, which is left out");
    return true;
  });
  if (!out_.errors.empty()) return;
  if (out_.entry.find("command") == nullptr && out_.entry.find("url") == nullptr)
    return refuse("neither a program nor an address", "give it a command or a url there");
}

void entry_reader::put_in_order() {
  static constexpr std::array<std::string_view, 10> first{"command", "args",    "url", "transport", "env",
                                                          "passEnv", "envFile", "cwd", "headers",   "auth"};
  std::erase_if(out_.entry.members, [](const documents::node_member& m) {
    const bool on = m.key == "disabled" && m.value.is(documents::node::kind::boolean) && !m.value.truth;
    return on || (m.key == "tools" && m.value.is(documents::node::kind::object) && m.value.members.empty());
  });
  std::vector<documents::node_member> sorted;
  for (const auto key : first)
    for (auto& m : out_.entry.members)
      if (m.key == key) sorted.push_back(std::move(m)), m.key.clear();
  for (auto& m : out_.entry.members)
    if (!m.key.empty()) sorted.push_back(std::move(m));
  out_.entry.members = std::move(sorted);
}

}  // namespace mcpbx::conf::imports
