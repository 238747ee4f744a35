// Finds the places in the programs' files; conf/edit edits them.
#include "conf/hosts/install/json_file.hpp"

#include "conf/hosts/install/trees.hpp"
#include "mcp/json/json_writer.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace mcpbx::conf::install {
namespace {

constexpr auto json = read::foreign_format::json;

edit::json_path below(edit::json_path path, std::string_view key) {
  path.emplace_back(key);
  return path;
}

}  // namespace

result<edit::json_path> json_file::section(std::string_view text) const {
  const auto tree = parsed_file(json, text, file_);
  if (!tree) return std::unexpected(tree.error());
  const std::string key(to_.section);
  if (tree->find(key) != nullptr) return edit::json_path{key};
  if (to_.name == "mcphub" && tree->find("servers") != nullptr) return edit::json_path{"servers"};
  if (to_.name == "amp" && tree->find("amp") != nullptr) return edit::json_path{"amp", "mcpServers"};
  const bool bare = !tree->members.empty() && std::ranges::all_of(tree->members, [](const documents::node_member& m) {
    return m.value.find("command") != nullptr || m.value.find("url") != nullptr;
  });
  return bare ? edit::json_path{} : edit::json_path{key};
}

result<std::string> json_file::set_listed(std::string_view text, std::string_view key, const std::string& name,
                                          bool listed) {
  const auto tree = parsed_file(json, text, file_);
  if (!tree) return std::unexpected(tree.error());
  const edit::json_path path{"mcp", std::string(key)};
  std::vector<std::string> names;
  if (const auto* m = member_at(*tree, path)) {
    if (!m->value.is(documents::node::kind::array))
      return fail(errc::invalid_argument, file_ + ": \"mcp." + std::string(key) + "\" is no list: mend it there");
    for (const auto& i : m->value.items) names.push_back(i.text);
  }
  const auto found = std::ranges::find(names, name);
  if ((found != names.end()) == listed) return std::string(text);
  if (listed)
    names.push_back(name);
  else
    names.erase(found);
  std::string list;
  for (const auto& n : names) list += (list.empty() ? "" : ", ") + json::json_quoted(n);
  return edit::set_member(text, path, "[" + list + "]", file_);
}

result<std::string> json_file::add(std::string_view text, std::string_view entry) {
  const auto path = section(text);
  if (!path) return std::unexpected(path.error());
  auto out = edit::set_member(text, below(*path, own_name), entry, file_);
  if (!out || to_.off != programs::off_switch::excluded) return out;
  const auto tree = parsed_file(json, *out, file_);
  if (tree && member_at(*tree, {"mcp", "allowed"}) != nullptr)
    return set_listed(*out, "allowed", std::string(own_name), true);
  return out;
}

/// Removes an object or a list that holds nothing and is not in `before`.
result<std::string> json_file::take_out_if_made(std::string text, std::string_view before, edit::json_path path) {
  const auto now = parsed_file(json, text, file_), then = parsed_file(json, before, file_);
  if (!now || !then || path.empty()) return text;
  const auto* m = member_at(*now, path);
  if (m == nullptr || !m->value.members.empty() || !m->value.items.empty() || member_at(*then, path) != nullptr)
    return text;
  return edit::remove_member(text, path, file_);
}

result<std::string> json_file::remove(std::string_view text, std::string_view before) {
  const auto path = section(text);
  if (!path) return std::unexpected(path.error());
  auto out = edit::remove_member(text, below(*path, own_name), file_);
  if (out) out = take_out_if_made(std::move(*out), before, *path);
  if (!out || to_.off != programs::off_switch::excluded) return out;
  const auto then = parsed_file(json, before, file_);
  const auto* allowed = then ? member_at(*then, {"mcp", "allowed"}) : nullptr;
  const bool was_allowed =
      allowed != nullptr &&
      std::ranges::find(allowed->value.items, own_name, &documents::node::text) != allowed->value.items.end();
  if (!was_allowed) out = set_listed(*out, "allowed", std::string(own_name), false);
  return out;
}

result<std::string> json_file::off(std::string_view text, const std::string& name) {
  if (to_.off == programs::off_switch::excluded) return set_listed(text, "excluded", name, true);
  const auto path = section(text);
  if (!path) return std::unexpected(path.error());
  const auto tree = parsed_file(json, text, file_);
  if (!tree) return std::unexpected(tree.error());
  const auto entry = below(*path, name);
  const auto* m = member_at(*tree, entry);
  if (m == nullptr) return std::string(text);
  if (to_.off == programs::off_switch::none) return edit::remove_member(text, entry, file_);
  const auto words = words_of_switch(to_.off);
  return edit::set_member(text, below(entry, words.key), words.off_value ? "true" : "false", file_);
}

result<std::string> json_file::on(std::string_view text, std::string_view before, const std::string& name) {
  const auto tree = parsed_file(json, text, file_), then = parsed_file(json, before, file_);
  if (!tree) return std::unexpected(tree.error());
  if (!then) return std::unexpected(then.error());
  if (to_.off == programs::off_switch::excluded) {
    auto out = set_listed(text, "excluded", name, false);
    if (out) out = take_out_if_made(std::move(*out), before, {"mcp", "excluded"});
    if (out) out = take_out_if_made(std::move(*out), before, {"mcp"});
    return out;
  }
  const auto old_section = section(before);
  const auto new_section = section(text);
  if (!old_section) return std::unexpected(old_section.error());
  if (!new_section) return std::unexpected(new_section.error());
  const auto entry = below(*new_section, name), old_entry = below(*old_section, name);
  if (to_.off == programs::off_switch::none) {
    if (member_at(*tree, entry) != nullptr) return std::string(text);  // the person has written another one
    const auto old = edit::member_text(before, old_entry, file_);
    if (!old) return std::unexpected(old.error());
    return *old ? edit::set_member(text, entry, **old, file_) : std::string(text);
  }
  const auto words = words_of_switch(to_.off);
  const auto* now = member_at(*tree, below(entry, words.key));
  if (now == nullptr || !now->value.is(documents::node::kind::boolean) || now->value.truth != words.off_value)
    return std::string(text);
  const auto old = edit::member_text(before, below(old_entry, words.key), file_);
  if (!old) return std::unexpected(old.error());
  return *old ? edit::set_member(text, below(entry, words.key), **old, file_)
              : edit::remove_member(text, below(entry, words.key), file_);
}

result<bool> json_file::has_own(std::string_view text) {
  const auto path = section(text);
  if (!path) return std::unexpected(path.error());
  const auto tree = parsed_file(json, text, file_);
  if (!tree) return std::unexpected(tree.error());
  return member_at(*tree, below(*path, own_name)) != nullptr;
}

}  // namespace mcpbx::conf::install
