// Compares commands and addresses, not how they are written. Rules that forbid are joined to the stricter ones.
#include "conf/hosts/import/same_servers.hpp"

#include "conf/hosts/import/node_making.hpp"
#include "conf/model/forms.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/json/raw_json.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace mcpbx::conf::imports {
namespace {

using kind = documents::node::kind;

constexpr std::string_view mark_begin = "// Imported by mcpbx from ", entry_words = " as ";

std::string sorted_pairs(std::vector<std::pair<std::string, std::string>> pairs) {
  std::ranges::sort(pairs);
  std::string out;
  for (const auto& [name, value] : pairs) out += json::json_quoted(name) + json::json_quoted(value);
  return out;
}

std::string pairs_of(const documents::node& entry, std::string_view key) {
  std::vector<std::pair<std::string, std::string>> pairs;
  if (const auto* m = entry.find(key))
    for (const auto& v : m->value.members) pairs.emplace_back(v.key, v.value.text);
  return sorted_pairs(std::move(pairs));
}

std::string text_at(const documents::node& entry, std::string_view key) {
  const auto* m = entry.find(key);
  return m == nullptr ? "" : json::json_quoted(m->value.text);
}

/// Returns what two entries of the same server share.
std::string identity(const documents::node& entry) {
  std::string out = text_at(entry, "command") + "|" + text_at(entry, "url") + "|" + text_at(entry, "cwd") + "|";
  if (const auto* args = entry.find("args"))
    for (const auto& a : args->value.items) out += json::json_quoted(a.text);
  return out + "|" + pairs_of(entry, "env") + "|" + pairs_of(entry, "headers");
}

std::string identity(const model::server_entry& s) {
  const auto text = [](const std::optional<model::reference_string>& r) {
    return r ? json::json_quoted(r->text) : std::string();
  };
  const auto pairs = [](const model::reference_map& map) {
    std::vector<std::pair<std::string, std::string>> out;
    for (const auto& [name, value] : map) out.emplace_back(name, value.text);
    return sorted_pairs(std::move(out));
  };
  std::string out = text(s.command) + "|" + text(s.url) + "|" + text(s.cwd) + "|";
  for (const auto& a : s.args) out += json::json_quoted(a.text);
  return out + "|" + pairs(s.env) + "|" + pairs(s.headers);
}

std::vector<std::string> names_in(const documents::node& entry, std::string_view outer, std::string_view key) {
  std::vector<std::string> out;
  const auto* m = outer.empty() ? nullptr : entry.find(outer);
  const auto& object = outer.empty() ? entry : m != nullptr ? m->value : entry;
  if (!outer.empty() && m == nullptr) return out;
  if (const auto* list = object.find(key))
    for (const auto& i : list->value.items) out.push_back(i.text);
  return out;
}

documents::node& part(documents::node& entry, std::string_view key) {
  if (entry.find(key) == nullptr)
    entry.members.push_back({std::string(key), entry.at, empty_node(kind::object, entry.at)});
  return entry.find(key)->value;
}

bool has_glob(const std::vector<std::string>& names) {
  return std::ranges::any_of(names, [](const std::string& n) { return n.find_first_of("*?") != n.npos; });
}

/// Returns true if what both forbid can be said in one entry. Two entries of one program that differ are meant to.
bool can_join(const import_row& row, const foreign_server& other) {
  const auto &a = row.entry, &b = other.entry;
  if (row.server->from == other.from && documents::json_of(row.server->entry) != documents::json_of(b)) return false;
  const auto left = names_in(a, "tools", "allow"), right = names_in(b, "tools", "allow");
  if (!left.empty() && !right.empty() && left != right && (has_glob(left) || has_glob(right))) return false;
  const auto renames = [](const documents::node& n) {
    const auto* t = n.find("tools");
    const auto* r = t == nullptr ? nullptr : t->value.find("rename");
    return r == nullptr ? std::string() : documents::json_of(r->value);
  };
  return renames(a) == renames(b);
}

bool is_off(const documents::node& entry) {
  const auto* m = entry.find("disabled");
  return m != nullptr && m->value.truth;
}

/// Adds what `other` forbids to `entry`. Returns true if that changed it.
bool make_stricter(documents::node& entry, const documents::node& other) {
  const auto before = documents::json_of(entry);
  for (const std::string_view key : {"tools", "prompts", "resources"})
    if (const auto deny = names_in(other, key, "deny"); !deny.empty())
      add_names(part(entry, key), "deny", deny, entry.at);
  if (const auto ask = names_in(other, "", "approve"); !ask.empty()) add_names(entry, "approve", ask, entry.at);
  if (const auto allow = names_in(other, "tools", "allow"); !allow.empty()) {
    auto& tools = part(entry, "tools");
    auto* mine = tools.find("allow");
    if (mine == nullptr) {
      add_names(tools, "allow", allow, entry.at);
    } else {
      std::erase_if(mine->value.items,
                    [&](const documents::node& n) { return std::ranges::find(allow, n.text) == allow.end(); });
      if (mine->value.items.empty()) {
        std::erase_if(tools.members, [](const documents::node_member& m) { return m.key == "allow"; });
        add_names(tools, "deny", {"*"}, entry.at);
      }
    }
  }
  if (is_off(other) && !is_off(entry)) {
    if (auto* m = entry.find("disabled"))
      m->value.truth = true;
    else
      entry.members.push_back({"disabled", entry.at, truth_node(true, entry.at)});
  }
  return documents::json_of(entry) != before;
}

/// Returns true if our entry forbids all that a foreign one does.
bool covers(const model::server_entry& ours, const documents::node& foreign) {
  const auto all_in = [](const std::vector<std::string>& names, const std::vector<std::string>& globs) {
    return std::ranges::all_of(names, [&](const std::string& n) {
      return std::ranges::any_of(globs, [&](const std::string& g) { return g == n || glob_match(g, n); });
    });
  };
  if (is_off(foreign) && !ours.disabled) return false;
  if (!all_in(names_in(foreign, "tools", "deny"), ours.tools.deny)) return false;
  if (!all_in(names_in(foreign, "prompts", "deny"), ours.prompts.deny)) return false;
  if (!all_in(names_in(foreign, "resources", "deny"), ours.resources.deny)) return false;
  if (!all_in(names_in(foreign, "", "approve"), ours.approve)) return false;
  const auto allow = names_in(foreign, "tools", "allow");
  if (allow.empty() || all_in({"*"}, ours.tools.deny)) return true;
  return !ours.tools.allow.empty() && all_in(ours.tools.allow, allow);
}

}  // namespace

std::string our_name(std::string_view name) {
  std::string out;
  const auto text = trimmed(name);
  for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end) {
    end = begin + 1;
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
    const auto one = text.substr(begin, end - begin);
    out += model::forms::entry_name.accepts(one) ? one : "-";
  }
  out = std::string(cut_utf8(out, 56));
  return out.empty() ? "server" : out;
}

std::string origin_mark(const foreign_server& server) {
  return std::string(mark_begin) + std::string(server.from->name) + ": " + json::json_quoted(server.name) + " in " +
         json::json_quoted(server.file);
}

std::vector<std::string> origin_marks_in(std::string_view text) {
  std::vector<std::string> marks;
  while (text.starts_with(mark_begin)) {
    const auto end = std::min(text.find('\n'), text.size());
    marks.emplace_back(trimmed(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return marks;
}

std::string mark_of_entry(std::string_view mark, std::string_view name) {
  return std::string(mark).append(entry_words).append(json::json_quoted(name));
}

std::vector<import_origin> entry_origins_in(std::string_view text) {
  std::vector<import_origin> all;
  while (!text.empty()) {
    const auto line = trimmed(text.substr(0, text.find('\n')));
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
    if (!line.starts_with(mark_begin) || !line.ends_with('"')) continue;
    // The name itself may have these words.
    for (auto words = line.rfind(entry_words); words != line.npos && words > 0;
         words = line.rfind(entry_words, words - 1)) {
      const auto name = json::raw_json::parse(line.substr(words + entry_words.size()));
      if (!name || !name->as_string()) continue;
      all.push_back({*name->as_string(), std::string(line.substr(0, words))});
      break;
    }
  }
  return all;
}

std::string without_marks_of(std::string_view text, std::string_view name) {
  const auto end = std::string(entry_words) + json::json_quoted(name);
  std::string out;
  while (!text.empty()) {
    const auto size = std::min(text.find('\n'), text.size() - 1) + 1;
    const auto line = trimmed(text.substr(0, size));
    if (!line.starts_with(mark_begin) || !line.ends_with(end)) out += text.substr(0, size);
    text.remove_prefix(size);
  }
  return out;
}

std::vector<import_row> join_servers(std::span<const foreign_server> servers,
                                     std::span<const model::server_entry> existing,
                                     std::span<const import_origin> origins) {
  std::vector<import_row> rows;
  std::multimap<std::string, std::size_t> taken;
  std::multimap<std::string, const model::server_entry*> there;
  std::set<std::string> names;
  for (const auto& s : existing) {
    if (s.bundled) continue;
    there.emplace(identity(s), &s);
    names.insert(s.name);
  }
  for (const auto& s : servers) {
    auto& row = rows.emplace_back();
    row.server = &s;
    if (s.fate != server_fate::taken) continue;
    const auto id = identity(s.entry);
    if (const auto [begin, end] = there.equal_range(id); begin != end) {
      const auto good = std::find_if(begin, end, [&](const auto& t) { return covers(*t.second, s.entry); });
      row.same_as = (good == end ? begin : good)->second->name;
      if (good == end)
        row.notes.push_back(row.same_as + ": " + std::string(s.from->title) +
                            " forbids more than our own entry, which stays as it is");
      continue;
    }
    const auto mark = origin_mark(s);
    const auto origin = std::ranges::find(origins, mark, &import_origin::mark);
    const auto edited = origin == origins.end() ? existing.end()
                                                : std::ranges::find(existing, origin->name, &model::server_entry::name);
    if (edited != existing.end()) {
      row.same_as = edited->name;
      row.notes.push_back(row.same_as + ": our own entry differs from that of " + std::string(s.from->title) +
                          (covers(*edited, s.entry) ? "" : ", which forbids more,") + " and stays as it is");
      continue;
    }
    const auto [from, to] = taken.equal_range(id);
    const auto same = std::find_if(from, to, [&](const auto& t) { return can_join(rows[t.second], s); });
    if (same != to) {
      auto& first = rows[same->second];
      row.same_as = first.name;
      first.marks.push_back(mark);
      const bool was_on = !is_off(first.entry);
      if (make_stricter(first.entry, s.entry))
        first.notes.push_back(was_on && is_off(first.entry)
                                  ? first.name + " is off, because it is in " + std::string(s.from->title) +
                                        ": `mcpbx enable " + shell_word(first.name) + "` switches it on"
                                  : first.name + ": what " + std::string(s.from->title) +
                                        " forbids is forbidden here too");
      continue;
    }
    const auto plain = our_name(s.name);
    row.name = plain;
    for (int i = 2; names.contains(row.name); ++i) row.name = plain + "-" + std::to_string(i);
    names.insert(row.name);
    row.entry = s.entry;
    row.marks.push_back(mark);
    taken.emplace(id, rows.size() - 1);
  }
  return rows;
}

void ask_for_all(documents::node& entry) {
  add_names(entry, "approve", {"*"}, entry.at);
}

}  // namespace mcpbx::conf::imports
