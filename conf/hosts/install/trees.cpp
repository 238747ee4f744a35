// Plain recursion: the readers allow 64 levels.
#include "conf/hosts/install/trees.hpp"

#include "mcp/support/text.hpp"

#include <algorithm>

namespace mcpbx::conf::install {
namespace {

bool is_nothing(const documents::node& n) {
  return n.is(documents::node::kind::null) || (n.is(documents::node::kind::object) && n.members.empty());
}

}  // namespace

bool same_tree(const documents::node& a, const documents::node& b) {
  if (is_nothing(a) && is_nothing(b)) return true;
  if (a.type != b.type || a.items.size() != b.items.size() || a.members.size() != b.members.size()) return false;
  if (a.text != b.text || a.truth != b.truth || a.whole != b.whole || a.real != b.real) return false;
  for (std::size_t i = 0; i < a.items.size(); ++i)
    if (!same_tree(a.items[i], b.items[i])) return false;
  return std::ranges::all_of(a.members, [&](const documents::node_member& m) {
    const auto* other = b.find(m.key);
    return other != nullptr && same_tree(m.value, other->value);
  });
}

result<documents::node> parsed_file(read::foreign_format format, std::string_view text, std::string_view file) {
  if (format == read::foreign_format::json && trimmed(text).empty()) {
    documents::node empty;
    empty.type = documents::node::kind::object;
    return empty;
  }
  std::vector<documents::diagnostic> errors;
  auto tree = read::read_foreign(format, text, 0, file, errors);
  if (!errors.empty()) return fail(errc::parse, errors.front().text());
  if (!tree.is(documents::node::kind::object))
    return fail(errc::parse, std::string(file) + " holds " + std::string(documents::words_for(tree.type)) +
                                 ", not an object: mend it in the program that it belongs to");
  return tree;
}

result<std::string> proven_file(read::foreign_format format, std::string text, const documents::node& wanted,
                                std::string_view file) {
  const auto now = parsed_file(format, text, file);
  if (now && same_tree(*now, wanted)) return text;
  return fail(errc::invalid_argument,
              std::string(file) +
                  " is written in a way that mcpbx cannot edit without changing more than it should: edit it by hand");
}

void set_node(documents::node& tree, const std::vector<std::string>& path, documents::node value) {
  auto* at = &tree;
  for (const auto& key : path) {
    if (!at->is(documents::node::kind::object)) {
      *at = {};
      at->type = documents::node::kind::object;
    }
    auto* m = at->find(key);
    if (m == nullptr) m = &at->members.emplace_back(documents::node_member{key, {}, {}});
    at = &m->value;
  }
  *at = std::move(value);
}

void remove_node(documents::node& tree, const std::vector<std::string>& path) {
  auto* at = &tree;
  for (std::size_t i = 0; i + 1 < path.size(); ++i) {
    auto* m = at->find(path[i]);
    if (m == nullptr) return;
    at = &m->value;
  }
  std::erase_if(at->members, [&](const documents::node_member& m) { return m.key == path.back(); });
}

const documents::node_member* member_at(const documents::node& tree, const std::vector<std::string>& path) {
  const auto* at = &tree;
  const documents::node_member* m = nullptr;
  for (const auto& key : path) {
    m = at->find(key);
    if (m == nullptr) return nullptr;
    at = &m->value;
  }
  return m;
}

std::size_t offset_of(std::string_view text, const documents::place& at) {
  std::size_t offset = 0;
  for (std::uint32_t line = 1; line < at.line && offset < text.size(); ++line) offset = next_line(text, offset);
  for (std::uint32_t column = 1; column < at.column && offset < text.size(); ++column) {
    ++offset;
    while (offset < text.size() && (static_cast<unsigned char>(text[offset]) & 0xC0) == 0x80) ++offset;
  }
  return offset;
}

std::size_t next_line(std::string_view text, std::size_t offset) {
  const auto end = text.find('\n', offset);
  return end == text.npos ? text.size() : end + 1;
}

}  // namespace mcpbx::conf::install
