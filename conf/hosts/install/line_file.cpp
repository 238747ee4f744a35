// Replaces the word behind `enabled`, or adds and removes its line.
#include "conf/hosts/install/line_file.hpp"

#include "mcp/support/text.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::conf::install {
namespace {

documents::node truth(bool value) {
  documents::node n;
  n.type = documents::node::kind::boolean;
  n.truth = value;
  return n;
}

// Replaces the word at this place, in any letters. Returns false if another one stands there.
bool replace_word(std::string& text, const documents::place& where, std::string_view word, std::string_view by) {
  const auto at = offset_of(text, where);
  const auto same = [](char a, char b) { return (a | 0x20) == b; };  // `word` is in small letters
  if (!std::ranges::equal(std::string_view(text).substr(at, word.size()), word, same)) return false;
  text.replace(at, word.size(), by);
  return true;
}

}  // namespace

result<std::string> line_file::off(std::string_view text, const std::string& name) {
  auto tree = parsed_file(format_, text, file_);
  if (!tree) return std::unexpected(tree.error());
  const std::string section(to_.section);
  const auto* entry = member_at(*tree, {section, name});
  if (entry == nullptr) return std::string(text);
  std::string out(text);
  const auto* now = entry->value.find("enabled");
  if (now != nullptr && !now->value.truth) return out;
  if (now != nullptr) {
    if (!replace_word(out, now->value.at, "true", "false"))
      return fail(errc::not_found, "its switch is not where it is expected");
  } else if (auto added = add_switch(out, *entry); !added) {
    return std::unexpected(added.error());
  }
  set_node(*tree, {section, name, "enabled"}, truth(false));
  return proven_file(format_, std::move(out), *tree, file_);
}

result<std::string> line_file::on(std::string_view text, std::string_view before, const std::string& name) {
  auto tree = parsed_file(format_, text, file_);
  const auto then = parsed_file(format_, before, file_);
  if (!tree) return std::unexpected(tree.error());
  if (!then) return std::unexpected(then.error());
  const std::vector<std::string> path{std::string(to_.section), name, "enabled"};
  const auto* now = member_at(*tree, path);
  if (now == nullptr || now->value.truth) return std::string(text);
  std::string out(text);
  if (member_at(*then, path) != nullptr) {
    replace_word(out, now->value.at, "false", "true");
    set_node(*tree, path, truth(true));
  } else {
    const auto at = offset_of(text, {0, now->at.line, 1}), next = next_line(text, at);
    if (is_switch(trimmed(text.substr(at, next - at)))) out.erase(at, next - at);
    remove_node(*tree, path);
  }
  return proven_file(format_, std::move(out), *tree, file_);
}

result<bool> line_file::has_own(std::string_view text) {
  const auto tree = parsed_file(format_, text, file_);
  if (!tree) return std::unexpected(tree.error());
  return member_at(*tree, {std::string(to_.section), std::string(own_name)}) != nullptr;
}

}  // namespace mcpbx::conf::install
