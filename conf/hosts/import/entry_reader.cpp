// The keys of a server's program: command, arguments, environment, folder, tools.
#include "conf/hosts/import/entry_reader.hpp"

#include "conf/hosts/import/node_making.hpp"
#include "conf/hosts/import/paths.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace mcpbx::conf::imports {
namespace {

using kind = documents::node::kind;

constexpr std::size_t longest_text = 65'536, most_parts = 10'000;

std::string file_folder(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == path.npos ? "" : path.substr(0, slash);
}

/// Names that Goose does not pass on from `envs` (crates/goose/src/agents/extension.rs).
constexpr std::array<std::string_view, 31> goose_drops{"PATH",
                                                       "PATHEXT",
                                                       "SystemRoot",
                                                       "windir",
                                                       "LD_LIBRARY_PATH",
                                                       "LD_PRELOAD",
                                                       "LD_AUDIT",
                                                       "LD_DEBUG",
                                                       "LD_BIND_NOW",
                                                       "LD_ASSUME_KERNEL",
                                                       "DYLD_LIBRARY_PATH",
                                                       "DYLD_INSERT_LIBRARIES",
                                                       "DYLD_FRAMEWORK_PATH",
                                                       "PYTHONPATH",
                                                       "PYTHONHOME",
                                                       "NODE_OPTIONS",
                                                       "RUBYOPT",
                                                       "GEM_PATH",
                                                       "GEM_HOME",
                                                       "CLASSPATH",
                                                       "GO111MODULE",
                                                       "GOROOT",
                                                       "APPINIT_DLLS",
                                                       "SESSIONNAME",
                                                       "ComSpec",
                                                       "TEMP",
                                                       "TMP",
                                                       "LOCALAPPDATA",
                                                       "USERPROFILE",
                                                       "HOMEDRIVE",
                                                       "HOMEPATH"};

}  // namespace

entry_reader::entry_reader(foreign_server& out, const entry_surroundings& around)
    : out_(out),
      from_(*out.from),
      around_(around),
      variables_{from_.variables, around.folder, file_folder(out.file), around.inputs, from_.name == "claude-code"} {
  out_.entry = {};
  out_.entry.type = kind::object;
  out_.entry.at = out_.at;
}

void entry_reader::error(const documents::node_member& m, std::string what, std::string mend) {
  out_.errors.push_back({out_.file, m.at.line, m.at.column, std::move(what),
                         documents::member_path(out_.section, m.key), std::move(mend)});
}
void entry_reader::notice(const documents::node_member& m, std::string what, std::string mend) {
  out_.notices.push_back({out_.file, m.at.line, m.at.column, std::move(what),
                          documents::member_path(out_.section, m.key), std::move(mend)});
}
void entry_reader::refuse(std::string what, std::string mend) {
  out_.errors.push_back({out_.file, out_.at.line, out_.at.column, std::move(what), out_.section, std::move(mend)});
}

std::optional<std::string> entry_reader::text(const documents::node_member& m, const documents::node& value) {
  if (!value.is(kind::string)) {
    error(m, "must hold strings, not " + std::string(documents::words_for(value.type)), "write it in quotes");
    return {};
  }
  if (value.text.size() > longest_text) {
    error(m, "holds a text of more than 64 KiB, which no server needs", "write it into a file of its own");
    return {};
  }
  auto made = translate_variables(value.text, variables_);
  if (made.fault) {
    error(m, made.fault->what, made.fault->mend);
    return {};
  }
  for (auto& s : made.to_set)
    if (std::ranges::find(out_.to_set, s.first, [](const auto& p) { return p.first; }) == out_.to_set.end())
      out_.to_set.push_back(std::move(s));
  return std::move(made.text);
}

void entry_reader::set(std::string_view key, documents::node value) {
  if (auto* m = out_.entry.find(key))
    m->value = std::move(value);
  else
    out_.entry.members.push_back({std::string(key), value.at, std::move(value)});
}
void entry_reader::set_text(std::string_view key, std::string value, const documents::place& at) {
  set(key, text_node(std::move(value), at));
}
void entry_reader::set_whole(std::string_view key, std::int64_t value, const documents::place& at) {
  set(key, whole_node(value, at));
}
documents::node* entry_reader::our_object(std::string_view key) {
  if (auto* m = out_.entry.find(key)) return &m->value;
  set(key, empty_node(kind::object, out_.at));
  return &out_.entry.members.back().value;
}

void entry_reader::flatten(documents::node& entry, std::string_view key) {
  const auto* found = entry.find(key);
  if (found == nullptr || !found->value.is(kind::object)) return;
  auto whole = *found;
  entry.members.erase(entry.members.begin() + (found - entry.members.data()));
  for (auto& m : whole.value.members) {
    if (m.key == "path") m.key = "command";
    if (entry.find(m.key) != nullptr)
      error(whole, "holds \"" + std::string(cut_utf8(m.key, 64)) + "\", which stands in the entry too",
            "take one of the two out");
    else
      entry.members.push_back(std::move(m));
  }
}

void entry_reader::run(documents::node entry) {
  flatten(entry, "command");
  flatten(entry, "transport");
  const bool has_word =
      entry.find("type") || entry.find("transport") || entry.find("transportType") || entry.find("protocol");
  // Arguments in a list of `command` come before those of `args`.
  for (auto m = entry.members.begin(); m != entry.members.end(); ++m)
    if (m->key == "command" || m->key == "cmd") {
      std::rotate(entry.members.begin(), m, m + 1);
      break;
    }
  for (auto& m : entry.members) {
    if (m.value.is(kind::broken)) continue;
    if (m.value.items.size() > most_parts || m.value.members.size() > most_parts) {
      error(m, "has more than " + std::to_string(most_parts) + " parts", "write fewer");
      continue;
    }
    if (const auto* known = find_reader(m.key))
      (this->*known->read)(m);
    else
      out_.entry.members.push_back(std::move(m));
  }
  if (address_) set_text("url", address_->first, address_->second);
  finish_command();
  finish_arguments();
  finish_transport(has_word);
  if (around_.runs_in_folder && out_.entry.find("cwd") == nullptr && out_.entry.find("command") != nullptr)
    set_text("cwd", around_.folder, out_.at);
  look_at_arguments();
  adopt();
  if (out_.errors.empty()) check_unknown();
  put_in_order();
  if (!out_.errors.empty()) out_.fate = server_fate::refused;
}

void entry_reader::command(documents::node_member& m) {
  if (m.value.is(kind::array)) {
    if (m.value.items.empty()) return error(m, "an empty list", "write the program and its arguments");
    auto rest = empty_node(kind::array, m.value.at);
    for (std::size_t i = 0; i < m.value.items.size(); ++i) {
      auto word = text(m, m.value.items[i]);
      if (!word) return;
      if (i == 0)
        set_text("command", std::move(*word), m.value.items[i].at);
      else
        rest.items.push_back(text_node(std::move(*word), m.value.items[i].at));
    }
    if (!rest.items.empty()) set("args", std::move(rest));
    return;
  }
  if (auto word = text(m, m.value)) set_text("command", std::move(*word), m.value.at);
}

void entry_reader::args(documents::node_member& m) {
  auto list = empty_node(kind::array, m.value.at);
  if (auto* before = out_.entry.find("args")) list = std::move(before->value);
  if (m.value.is(kind::null)) return;
  if (!m.value.is(kind::array))
    return error(m, "must be a list of strings, not " + std::string(documents::words_for(m.value.type)),
                 "write one string for each argument");
  for (const auto& item : m.value.items) {
    auto word = text(m, item);
    if (!word) return;
    if (from_.name == "goose" && word->starts_with('-') && word->find(' ') != word->npos) {
      if (const auto words = model::split_words(*word)) {
        notice(m, "one of its arguments has several words, which are taken one by one");
        for (const auto& w : *words) list.items.push_back(text_node(w, item.at));
        continue;
      }
    }
    list.items.push_back(text_node(std::move(*word), item.at));
  }
  set("args", std::move(list));
}

void entry_reader::pass(const std::string& name, const documents::place& at) {
  if (out_.entry.find("passEnv") == nullptr) set("passEnv", empty_node(kind::array, at));
  auto& list = out_.entry.find("passEnv")->value.items;
  if (std::ranges::find(list, name, &documents::node::text) == list.end()) list.push_back(text_node(name, at));
}

void entry_reader::env_value(const documents::node_member& m, const std::string& name, const documents::node& value,
                             documents::node& into) {
  if (from_.name == "goose" && std::ranges::find(goose_drops, name) != goose_drops.end())
    return notice(m, name + " is left out, as Goose leaves it out");
  const bool from_host =
      from_.name == "mcphub" && (value.is(kind::null) || (value.is(kind::string) && value.text.empty()));
  if (from_host) return pass(name, value.at);
  if (value.is(kind::null)) return notice(m, name + " is left out: it was to be unset");
  if (value.is(kind::integer) || value.is(kind::number) || value.is(kind::boolean)) {
    into.members.push_back({name, value.at, text_node(documents::json_of(value), value.at)});
    return;
  }
  auto word = text(m, value);
  if (!word) return;
  if (from_.name == "vscode" && name == "PATH") {
    notice(m, "PATH is put behind the daemon's own, as VS Code does");
    *word = "${env:PATH}:" + *word;
  }
  into.members.push_back({name, value.at, text_node(std::move(*word), value.at)});
}

void entry_reader::env(documents::node_member& m) {
  if (m.value.is(kind::null)) return;
  auto made = empty_node(kind::object, m.value.at);
  if (auto* before = out_.entry.find("env")) made = std::move(before->value);
  if (m.value.is(kind::array)) {
    for (const auto& item : m.value.items) {
      if (!item.is(kind::string)) return error(m, "must hold NAME or NAME=value", "write strings");
      const auto equals = item.text.find('=');
      if (equals == item.text.npos) {
        pass(item.text, item.at);
      } else {
        const auto value = text_node(item.text.substr(equals + 1), item.at);
        env_value(m, item.text.substr(0, equals), value, made);
      }
    }
  } else if (m.value.is(kind::object)) {
    for (const auto& v : m.value.members) env_value(m, v.key, v.value, made);
  } else {
    return error(m, "must be an object, not " + std::string(documents::words_for(m.value.type)),
                 "write \"NAME\": \"value\"");
  }
  if (!made.members.empty()) set("env", std::move(made));
}

void entry_reader::pass_env(documents::node_member& m) {
  if (!m.value.is(kind::array)) return error(m, "must be a list of names", "write the names of variables");
  for (const auto& item : m.value.items) {
    if (item.is(kind::string)) {
      pass(item.text, item.at);
      if (m.key == "env_keys")
        notice(m, item.text + " is looked for in the environment only, and not in Goose's key ring",
               "set it where mcpbx starts, or write it into \"env\" as ${file:PATH}");
      continue;
    }
    const auto* name = item.find("name");
    const auto* source = item.find("source");
    const bool local = source == nullptr || (source->value.is(kind::string) && source->value.text == "local");
    if (name == nullptr || !name->value.is(kind::string) || !local)
      return error(m, "names a variable of another machine", "write the name of a variable of this one");
    pass(name->value.text, item.at);
  }
}

void entry_reader::whole_environment(documents::node_member& m) {
  if (m.value.is(kind::null) || (m.value.is(kind::boolean) && !m.value.truth)) return;
  if (m.value.is(kind::array) && m.value.items.empty()) return;
  notice(m, "the environment of the program is not passed on as a whole",
         "name the variables that the server needs in \"passEnv\"");
}

void entry_reader::folder_path(documents::node_member& m) {
  if (m.value.is(kind::null) || (m.value.is(kind::string) && m.value.text.empty())) return;
  auto path = text(m, m.value);
  if (!path) return;
  if (is_relative(*path)) {
    if (around_.folder.empty()) return error(m, "a folder without an absolute path", "write its whole path");
    *path = below(around_.folder, *path);
  }
  set_text("cwd", std::move(*path), m.value.at);
}

void entry_reader::env_file(documents::node_member& m) {
  auto path = text(m, m.value);
  if (!path) return;
  if (is_relative(*path)) {
    if (around_.folder.empty()) return error(m, "a file without an absolute path", "write its whole path");
    *path = below(around_.folder, *path);
  }
  set_text("envFile", std::move(*path), m.value.at);
}

void entry_reader::allowed(documents::node_member& m) {
  if (!m.value.is(kind::array)) return out_.entry.members.push_back(std::move(m));
  if (m.value.items.empty()) {
    if (from_.empty_allows_all) return;
    notice(m, "an empty list offers no tool there: \"tools\": {\"deny\": [\"*\"]}");
    return add_names(*our_object("tools"), "deny", {"*"}, m.value.at);
  }
  if (from_.name == "gemini-cli")
    for (auto& item : m.value.items)
      if (const auto bracket = item.text.find('('); item.is(kind::string) && bracket != item.text.npos && bracket > 0) {
        notice(m, "a tool is allowed with all arguments, as that program does");
        item.text.resize(bracket);
      }
  if (!from_.globs) return out_.entry.members.push_back(std::move(m));
  std::vector<std::string> names;
  for (const auto& item : m.value.items) {
    if (!item.is(kind::string) || item.text.empty()) return error(m, "must be a list of names", "write strings");
    names.push_back(item.text);
  }
  add_names(*our_object("tools"), "allow", names, m.value.at);
}

void entry_reader::tools(documents::node_member& m) {
  if (m.value.is(kind::array) && m.value.items.empty()) return allowed(m);
  // The check of pasted keys joins this with the lists that are there already.
  if (auto* ours = out_.entry.find("tools"); ours != nullptr && m.value.is(kind::object)) {
    for (auto& inner : m.value.members) ours->value.members.push_back(std::move(inner));
    return;
  }
  out_.entry.members.push_back(std::move(m));
}

void entry_reader::denied_parts(documents::node_member& m) {
  const auto deny = [&](std::string_view part, const std::vector<std::string>& names) {
    add_names(*our_object(part), "deny", names, m.value.at);
  };
  if (m.key == "expose_prompts") {
    if (!m.value.is(kind::boolean)) return error(m, "must be true or false", "switch the prompts on or off there");
    return m.value.truth ? void() : deny("prompts", {"*"});
  }
  std::vector<std::string> names;
  for (const auto& item : m.value.items) {
    if (!item.is(kind::string) || item.text.empty()) return error(m, "must be a list of names", "write strings");
    names.push_back(item.text);
  }
  if (!m.value.is(kind::array)) return error(m, "must be a list of names", "write strings");
  if (!names.empty()) deny(m.key == "disabled_prompts" ? "prompts" : "resources", names);
}

void entry_reader::switched(documents::node_member& m) {
  if (m.value.is(kind::boolean)) return out_.entry.members.push_back(std::move(m));
  error(m, "must be true or false, not " + std::string(documents::words_for(m.value.type)),
        "switch the server on or off there, or take the key out");
}

void entry_reader::startup(documents::node_member& m) {
  if (m.value.is(kind::boolean) && !m.value.truth) set_text("start", "lazy", m.value.at);
}

void entry_reader::at_once(documents::node_member& m) {
  if (m.value.is(kind::integer) && m.value.whole >= 0 && m.value.whole <= 10'000)
    set_whole("maxConcurrency", m.value.whole, m.value.at);
  else
    notice(m, "is no number of calls, and is left out");
}

void entry_reader::protocol(documents::node_member& m) {
  // MCPProxy's word for the transport; our key of that name is a revision of MCP.
  m.key = "type";
  out_.entry.members.push_back(std::move(m));
}

void entry_reader::settings(documents::node_member& m) {
  if (m.value.is(kind::object) && out_.entry.find("command") == nullptr && from_.name == "zed")
    return error(m, "this server comes with an extension of Zed, which alone knows its command",
                 "add it with `mcpbx add NAME -- COMMAND`");
  notice(m, "settings of an extension are left out");
}

}  // namespace mcpbx::conf::imports
