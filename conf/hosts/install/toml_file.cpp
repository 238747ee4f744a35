// A server is a table of its own, [mcp_servers.NAME], which is how Codex writes it: ours is appended, and a switch is a
// line below the head of the table. Other ways to write a table are refused.
#include "conf/hosts/install/toml_file.hpp"

#include "mcp/support/text.hpp"

#include <utility>

namespace mcpbx::conf::install {
namespace {

constexpr auto toml = read::foreign_format::toml;
constexpr std::string_view switch_line = "enabled = false";

/// Returns the entry as lines of TOML. Its values are texts, numbers, true, false and lists of them, which JSON writes
/// in the same way.
std::string toml_lines(const documents::node& entry) {
  std::string out;
  for (const auto& m : entry.members) out += m.key + " = " + documents::json_of(m.value) + "\n";
  return out;
}

std::string_view line_at(std::string_view text, std::size_t begin) {
  return trimmed(text.substr(begin, next_line(text, begin) - begin));
}

bool is_head(std::string_view line) {
  return line.starts_with('[');
}

}  // namespace

result<std::string> toml_file::add(std::string_view text, std::string_view entry) {
  auto without = remove(text, "");
  if (!without) return without;
  auto tree = parsed_file(toml, *without, file_);
  if (!tree) return std::unexpected(tree.error());
  const auto ours = parsed_file(read::foreign_format::json, entry, "our entry");
  if (!ours) return std::unexpected(ours.error());
  std::string out = std::move(*without);
  if (!out.empty() && !out.ends_with('\n')) out += '\n';
  if (!out.empty()) out += '\n';
  out += "[" + std::string(to_.section) + "." + std::string(own_name) + "]\n" + toml_lines(*ours);
  set_node(*tree, {std::string(to_.section), std::string(own_name)}, *ours);
  return proven_file(toml, std::move(out), *tree, file_);
}

result<std::string> toml_file::remove(std::string_view text, std::string_view) {
  auto tree = parsed_file(toml, text, file_);
  if (!tree) return std::unexpected(tree.error());
  const std::string section(to_.section);
  const auto* own = member_at(*tree, {section, std::string(own_name)});
  if (own == nullptr) return std::string(text);
  auto begin = offset_of(text, {0, own->value.at.line, 1});
  if (!is_head(line_at(text, begin)))
    return fail(errc::invalid_argument, file_ + ":" + std::to_string(own->at.line) + ": our entry is not written as [" +
                                            section + ".mcpbx]: take it out by hand");
  auto end = next_line(text, begin);
  const std::string below = "[" + section + "." + std::string(own_name) + ".";
  while (end < text.size() && (!is_head(line_at(text, end)) || line_at(text, end).starts_with(below)))
    end = next_line(text, end);
  // Blank lines and comments in front of the next table belong to that.
  auto last = end;
  for (auto at = next_line(text, begin); at < end; at = next_line(text, at))
    if (const auto line = line_at(text, at); !line.empty() && !line.starts_with('#')) last = next_line(text, at);
  const auto tail = text.substr(last);
  // The blank line that add() writes in front goes too, unless it parts two tables.
  if (begin >= 2 && text[begin - 1] == '\n' && text[begin - 2] == '\n' && (tail.empty() || tail.starts_with('\n')))
    --begin;
  std::string out(text.substr(0, begin));
  out += tail;
  remove_node(*tree, {section, std::string(own_name)});
  if (const auto* rest = member_at(*tree, {section});
      rest != nullptr && rest->value.members.empty() && out.find("[" + section + "]") == out.npos)
    remove_node(*tree, {section});
  return proven_file(toml, std::move(out), *tree, file_);
}

result<void> toml_file::add_switch(std::string& text, const documents::node_member& entry) const {
  const auto at = offset_of(text, {0, entry.value.at.line, 1});
  if (!is_head(line_at(text, at))) return fail(errc::not_found, "it is not written as a table of its own");
  const auto next = next_line(text, at);
  text.insert(next, (next > 0 && text[next - 1] == '\n' ? "" : "\n") + std::string(switch_line) + "\n");
  return {};
}

bool toml_file::is_switch(std::string_view line) const {
  return line == switch_line;
}

}  // namespace mcpbx::conf::install
