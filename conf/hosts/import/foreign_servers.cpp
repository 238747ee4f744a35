// Finds the servers in the documents of a program, and joins what its files say about one.
#include "conf/hosts/import/foreign_servers.hpp"

#include "conf/hosts/import/entry_reader.hpp"
#include "conf/hosts/import/node_making.hpp"
#include "conf/hosts/import/outside_rules.hpp"
#include "conf/hosts/import/same_servers.hpp"
#include "conf/load.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace mcpbx::conf::imports {
namespace {

using kind = documents::node::kind;

constexpr std::size_t most_servers = 1'000;  // of one program

/// One entry where it was found.
struct found_entry {
  std::string name, section;
  documents::place at;
  const foreign_document* document = nullptr;
  documents::node value;
  std::string folder;  ///< of a project, or ""
  bool runs_in_folder = false;
};

std::optional<bool> switch_of(const documents::node& entry, std::string_view key) {
  const auto* m = entry.find(key);
  if (m == nullptr || !m->value.is(kind::boolean)) return {};
  return m->value.truth;
}

/// Returns true if every member is an object with a command or an address, as in a file without a key around its
/// servers.
bool is_bare_map(const documents::node& tree) {
  return !tree.members.empty() && std::ranges::all_of(tree.members, [](const documents::node_member& m) {
    return m.value.is(kind::object) && (m.value.find("command") != nullptr || m.value.find("url") != nullptr);
  });
}

/// Reads a taken entry as it will be read from our own file, and refuses it if that fails.
void check_as_ours(foreign_server& s) {
  if (s.fate != server_fate::taken) return;
  const auto name = our_name(s.name);
  const std::string front = documents::member_path("mcpServers", name);
  const std::array texts{
      source_text{"entry", "{\"mcpServers\": {" + json::json_quoted(name) + ": " + documents::json_of(s.entry) + "}}"}};
  for (auto& e : load(texts, {}).errors) {
    const auto path = e.path.starts_with(front) ? s.section + e.path.substr(front.size()) : s.section;
    s.errors.push_back({s.file, s.at.line, s.at.column, std::move(e.what), path, std::move(e.mend)});
    s.fate = server_fate::refused;
  }
}

class program_reader {
 public:
  program_reader(const programs::program& from, const own_places& own) : from_(from), own_(own) {}

  foreign_reading run(std::span<const foreign_file> files, std::span<const foreign_file> beside) {
    std::vector<foreign_document> trees, narrowing;
    std::vector<documents::diagnostic> beside_errors;
    for (const auto& f : files) {
      std::vector<documents::diagnostic> wrong;
      parse(f, from_.format, trees, wrong);
      if (!f.rules_only) out_.errors.insert(out_.errors.end(), wrong.begin(), wrong.end());
      if (f.rules_only || from_.rules_in_files) beside_errors.insert(beside_errors.end(), wrong.begin(), wrong.end());
    }
    for (const auto& f : beside) {
      const auto format = f.path.ends_with(".yaml") ? read::foreign_format::yaml : read::foreign_format::json;
      parse(f, format, narrowing, beside_errors);
    }
    for (const auto& d : trees)
      if (!d.file->rules_only) find_entries(d);
    std::vector<std::string> names;
    for (const auto& e : found_) names.push_back(e.name);
    auto rules = read_outside_rules(from_, trees, narrowing, names);
    rules.refused.insert(rules.refused.end(), beside_errors.begin(), beside_errors.end());
    for (auto& e : found_) {
      auto server = read(e);
      apply_outside_rules(rules, server);
      check_as_ours(server);
      out_.servers.push_back(std::move(server));
    }
    return std::move(out_);
  }

 private:
  static void parse(const foreign_file& f, read::foreign_format format, std::vector<foreign_document>& into,
                    std::vector<documents::diagnostic>& errors) {
    std::vector<documents::diagnostic> wrong;
    if (f.path.ends_with("crushrc")) {
      errors.push_back({f.path, 0, 0, "this is a shell script that may change every server, and mcpbx does not run it",
                        "", "add the servers with `mcpbx add`"});
      return;
    }
    auto tree = read::read_foreign(format, f.text, 0, f.path, wrong);
    if (wrong.empty() && !tree.is(kind::object))
      wrong.push_back({f.path, tree.at.line, tree.at.column,
                       "must be an object, not " + std::string(documents::words_for(tree.type)), "",
                       "mend it in the program that it belongs to"});
    if (wrong.empty())
      into.push_back({&f, std::move(tree)});
    else
      errors.push_back(std::move(wrong.front()));
  }

  void file_error(const foreign_document& d, const documents::node& at, std::string what, std::string path,
                  std::string mend) {
    out_.errors.push_back({d.file->path, at.at.line, at.at.column, std::move(what), std::move(path), std::move(mend)});
  }

  void find_entries(const foreign_document& d) {
    std::string path;
    const auto* servers = section_of(d.tree, path);
    if (servers == nullptr && is_bare_map(d.tree)) servers = &d.tree;
    if (servers != nullptr) add(d, *servers, path, d.file->folder, !d.file->folder.empty());
    if (from_.name != "claude-code") return;
    const auto* projects = d.tree.find("projects");
    if (projects == nullptr) return;
    for (const auto& p : projects->value.members)
      if (const auto* m = p.value.find("mcpServers"))
        add(d, m->value, documents::member_path(documents::member_path("projects", p.key), "mcpServers"), p.key, true);
  }

  const documents::node* section_of(const documents::node& tree, std::string& path) const {
    if (from_.name == "mcphub")
      if (const auto* m = tree.find("servers")) return path = "servers", &m->value;
    if (from_.name == "amp" && tree.find(from_.section) == nullptr)
      if (const auto* amp = tree.find("amp"))
        if (const auto* m = amp->value.find("mcpServers")) return path = "amp.mcpServers", &m->value;
    const auto* m = tree.find(from_.section);
    path = documents::member_path("", from_.section);
    return m == nullptr ? nullptr : &m->value;
  }

  void add(const foreign_document& d, const documents::node& servers, const std::string& path,
           const std::string& folder, bool runs_there) {
    if (servers.is(kind::null)) return;
    const bool list = servers.is(kind::array) && from_.shape == programs::server_shape::list;
    if (!list && !servers.is(kind::object))
      return file_error(d, servers,
                        "must be " + std::string(from_.shape == programs::server_shape::list ? "a list" : "an object") +
                            " of servers, not " + std::string(documents::words_for(servers.type)),
                        path, "mend it in the program that it belongs to");
    for (std::size_t i = 0; i < servers.items.size(); ++i) {
      const auto& item = servers.items[i];
      const auto* name = item.find("name");
      if (name == nullptr || !name->value.is(kind::string) || name->value.text.empty())
        file_error(d, item, "a server without a name", documents::element_path(path, i), "give it a \"name\" there");
      else
        keep({name->value.text, documents::element_path(path, i), item.at, &d, item, folder, runs_there});
    }
    for (const auto& m : servers.members)
      keep({m.key, documents::member_path(path, m.key), m.at, &d, m.value, folder, runs_there});
  }

  void keep(found_entry e) {
    if (found_.size() >= most_servers) {
      if (found_.size() == most_servers && !full_)
        file_error(*e.document, e.value, "more than 1000 servers; the rest is not read", e.section, "split the file");
      full_ = true;
      return;
    }
    const auto same =
        std::ranges::find_if(found_, [&](const found_entry& f) { return f.name == e.name && f.folder == e.folder; });
    if (same == found_.end()) return found_.push_back(std::move(e));
    if (from_.name != "opencode" || !e.value.is(kind::object) || !same->value.is(kind::object)) return;
    // An entry of a file that counts more holds only what it changes.
    for (auto& m : e.value.members)
      if (same->value.find(m.key) == nullptr) same->value.members.push_back(std::move(m));
  }

  foreign_server read(found_entry& e) {
    foreign_server s;
    s.from = &from_;
    s.file = e.document->file->path;
    s.at = e.at;
    s.name = e.name;
    s.section = e.section;
    if (e.value.is(kind::null)) return skip(std::move(s), "it has no entry");
    if (!e.value.is(kind::object))
      return refuse(std::move(s), "must be an object, not " + std::string(documents::words_for(e.value.type)),
                    "mend it there");
    if (is_ourselves(e.name, e.value)) return skip(std::move(s), "it is mcpbx itself");
    const auto* type = e.value.find("type");
    const std::string word = type != nullptr ? type->value.text : "";
    if (from_.name == "goose" && (word == "builtin" || word == "platform" || word == "frontend"))
      return skip(std::move(s), "it is a part of Goose, and no MCP server");
    if (from_.name == "1mcp" && is_template(*e.document, e.name))
      return refuse(std::move(s),
                    "is replaced by an entry of \"mcpTemplates\", whose text is made anew for each caller",
                    "add it with `mcpbx add NAME -- COMMAND`");
    complete(*e.document, e.value);
    const bool mcpproxy_off = from_.name == "mcpproxy" && !switch_of(e.value, "enabled");
    const auto* inputs = e.document->tree.find("inputs");
    entry_reader(s, {e.folder, inputs == nullptr ? nullptr : &inputs->value, e.runs_in_folder}).run(std::move(e.value));
    if (mcpproxy_off && s.fate == server_fate::taken && s.entry.find("disabled") == nullptr) {
      s.entry.members.push_back({"disabled", s.at, truth_node(true, s.at)});
      s.notices.push_back({s.file, s.at.line, s.at.column, "is off, as MCPProxy reads an entry without \"enabled\"",
                           s.section, "`mcpbx enable " + shell_word(s.name) + "` switches it on"});
    }
    return s;
  }

  static foreign_server skip(foreign_server s, std::string why) {
    s.fate = server_fate::skipped;
    s.why = std::move(why);
    return s;
  }
  static foreign_server refuse(foreign_server s, std::string what, std::string mend) {
    s.fate = server_fate::refused;
    s.errors.push_back({s.file, s.at.line, s.at.column, std::move(what), s.section, std::move(mend)});
    return s;
  }

  static bool is_template(const foreign_document& d, const std::string& name) {
    const auto* templates = d.tree.find("mcpTemplates");
    return templates != nullptr && templates->value.find(name) != nullptr;
  }

  /// Adds what the document says for all of its servers.
  void complete(const foreign_document& d, documents::node& entry) const {
    if (from_.name == "jan" && entry.find("timeout") == nullptr)
      if (const auto* all = d.tree.find("mcpSettings"))
        if (const auto* t = all->value.find("toolCallTimeoutSeconds"))
          entry.members.push_back({"timeout", t->at, t->value});
    if (from_.name == "zed" && entry.find("timeout") == nullptr)
      if (const auto* t = d.tree.find("context_server_timeout")) entry.members.push_back({"timeout", t->at, t->value});
    if (from_.name != "1mcp") return;
    const auto* defaults = d.tree.find("serverDefaults");
    if (defaults == nullptr) return;
    for (const auto& m : defaults->value.members) {
      auto* own = entry.find(m.key);
      if (own == nullptr)
        entry.members.push_back(m);
      else if (m.key == "env" && own->value.is(kind::object) && m.value.is(kind::object))
        for (const auto& v : m.value.members)
          if (own->value.find(v.key) == nullptr) own->value.members.push_back(v);
    }
  }

  bool is_ourselves(std::string_view name, const documents::node& entry) const {
    std::vector<std::string_view> words;
    const auto take = [&](const documents::node_member* m) {
      if (m == nullptr) return;
      if (m->value.is(kind::string)) words.push_back(m->value.text);
      for (const auto& i : m->value.items)
        if (i.is(kind::string)) words.push_back(i.text);
    };
    take(entry.find("command"));
    take(entry.find("cmd"));
    take(entry.find("args"));
    const auto is_mcpbx = [](std::string_view w) { return w.substr(w.rfind('/') + 1) == "mcpbx"; };
    if ((name == "mcpbx" || std::ranges::any_of(words, is_mcpbx)) && std::ranges::find(words, "mcp") != words.end())
      return true;
    for (const auto key : {"url", "httpUrl", "serverUrl", "baseUrl", "uri"})
      if (const auto* m = entry.find(key); m != nullptr && m->value.is(kind::string))
        for (const auto& address : own_.addresses)
          if (m->value.text.find("//" + address + "/") != std::string::npos) return true;
    return false;
  }

  const programs::program& from_;
  const own_places& own_;
  std::vector<found_entry> found_;
  bool full_ = false;
  foreign_reading out_;
};

}  // namespace

foreign_reading read_servers(const programs::program& from, std::span<const foreign_file> files,
                             std::span<const foreign_file> beside, const own_places& own) {
  return program_reader(from, own).run(files, beside);
}

}  // namespace mcpbx::conf::imports
