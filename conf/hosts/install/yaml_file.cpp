// Servers are entries of a block mapping: ours becomes the first of them, in their indentation, and a switch is a line
// below the name of a server. A mapping in braces is refused unless it is empty.
#include "conf/hosts/install/yaml_file.hpp"

#include "mcp/support/text.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::conf::install {
namespace {

constexpr auto yaml = read::foreign_format::yaml;

/// Returns our entry as a block in the indentation of `margin` blanks. JSON is YAML where a value stands on one line.
std::string yaml_lines(const documents::node& entry, std::size_t margin) {
  const std::string indent(margin, ' ');
  std::string out = indent + std::string(own_name) + ":\n";
  for (const auto& m : entry.members) out += indent + "  " + m.key + ": " + documents::json_of(m.value) + "\n";
  return out;
}

std::size_t indent_of_line(std::string_view text, std::size_t begin) {
  const auto end = std::min(text.find_first_not_of(' ', begin), text.size());
  return end - begin;
}

bool is_blank_line(std::string_view text, std::size_t begin) {
  return trimmed(text.substr(begin, next_line(text, begin) - begin)).empty();
}

}  // namespace

result<std::string> yaml_file::add(std::string_view text, std::string_view entry) {
  auto without = remove(text, text);
  if (!without) return without;
  auto tree = parsed_file(yaml, *without, file_);
  if (!tree) return std::unexpected(tree.error());
  const auto ours = parsed_file(read::foreign_format::json, entry, "our entry");
  if (!ours) return std::unexpected(ours.error());
  std::string out = std::move(*without);
  const std::string section(to_.section);
  const auto* servers = tree->find(section);
  if (servers == nullptr) {
    if (!out.empty() && !out.ends_with('\n')) out += '\n';
    out += section + ":\n" + yaml_lines(*ours, 2);
  } else if (!servers->value.members.empty()) {
    const auto& first = servers->value.members.front().at;
    if (first.line == servers->at.line)
      return fail(errc::invalid_argument, file_ + ":" + std::to_string(first.line) + ": \"" + section +
                                              "\" is written in braces: write each entry on lines of its own");
    out.insert(offset_of(out, {0, first.line, 1}), yaml_lines(*ours, first.column - 1));
  } else {
    const auto at = offset_of(out, servers->value.at);
    if (servers->value.is(documents::node::kind::object) && std::string_view(out).substr(at, 2) == "{}")
      out.erase(at, 2);
    auto next = next_line(out, offset_of(out, servers->at));
    if (next > 0 && out[next - 1] != '\n') out.insert(next++, "\n");
    out.insert(next, yaml_lines(*ours, servers->at.column + 1));
  }
  set_node(*tree, {section, std::string(own_name)}, *ours);
  return proven_file(yaml, std::move(out), *tree, file_);
}

result<std::string> yaml_file::remove(std::string_view text, std::string_view before) {
  auto tree = parsed_file(yaml, text, file_);
  if (!tree) return std::unexpected(tree.error());
  const std::vector<std::string> path{std::string(to_.section), std::string(own_name)};
  const auto* own = member_at(*tree, path);
  if (own == nullptr) return std::string(text);
  const auto begin = offset_of(text, {0, own->at.line, 1});
  const auto margin = own->at.column - 1;
  auto end = next_line(text, begin), last = end;
  while (end < text.size() && (is_blank_line(text, end) || indent_of_line(text, end) > margin)) {
    end = next_line(text, end);
    if (!is_blank_line(text, begin) && end <= text.size() && !is_blank_line(text, last)) last = end;
  }
  std::string out(text.substr(0, begin));
  out += text.substr(last);
  remove_node(*tree, path);
  const auto then = parsed_file(yaml, before, file_);
  const auto* section = tree->find(to_.section);
  if (then && then->find(to_.section) == nullptr && section->value.members.empty()) {
    const auto at = offset_of(out, {0, section->at.line, 1});
    out.erase(at, next_line(out, at) - at);
    remove_node(*tree, {std::string(to_.section)});
  }
  return proven_file(yaml, std::move(out), *tree, file_);
}

result<void> yaml_file::add_switch(std::string& text, const documents::node_member& entry) const {
  const auto& members = entry.value.members;
  if (members.empty() || members.front().at.line == entry.at.line)
    return fail(errc::not_found, "it is not written on lines of its own");
  const auto& first = members.front().at;
  text.insert(offset_of(text, {0, first.line, 1}), std::string(first.column - 1, ' ') + "enabled: false\n");
  return {};
}

bool yaml_file::is_switch(std::string_view) const {
  return true;  // the reading afterwards finds a line that said more
}

}  // namespace mcpbx::conf::install
