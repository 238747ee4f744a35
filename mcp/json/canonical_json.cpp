// Writes JSON in its canonical form.
#include "mcp/json/canonical_json.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::json {
namespace {

constexpr int deepest = 256;

void append_string(std::string& out, std::string_view token) {
  if (token.find('\\') == std::string_view::npos) {
    out += token;
    return;
  }
  const std::string text = unescaped(token);
  // Half a surrogate pair would become U+FFFD like any other, and different texts must stay different.
  if (text.find("\xEF\xBF\xBD") != std::string::npos)
    out += token;
  else
    append_quoted(out, text);
}

void append(std::string& out, const raw_json& value, int depth);

void append_object(std::string& out, const raw_object& object, int depth) {
  std::vector<std::pair<std::string_view, raw_json>> members;
  members.reserve(object.size());
  object.for_each([&](std::string_view key, raw_json value) { members.emplace_back(key, std::move(value)); });
  // Equal keys keep their order. std::stable_sort is avoided: it uses a deprecated function to get memory.
  std::ranges::sort(members, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : a.second.text().data() < b.second.text().data();
  });
  out += '{';
  bool first = true;
  for (const auto& [key, value] : members) {
    if (!std::exchange(first, false)) out += ',';
    append_quoted(out, key);
    out += ':';
    append(out, value, depth + 1);
  }
  out += '}';
}

void append(std::string& out, const raw_json& value, int depth) {
  if (depth > deepest) {
    out += value.text();
  } else if (value.is_string()) {
    append_string(out, value.text());
  } else if (value.is_array()) {
    out += '[';
    bool first = true;
    for_each_element(value, [&](const raw_json& element) {
      if (!std::exchange(first, false)) out += ',';
      append(out, element, depth + 1);
      return true;
    });
    out += ']';
  } else if (const auto object = value.is_object() ? raw_object::open(value, {}, most_schema_members)
                                                   : result<raw_object>(fail({}, {}))) {
    append_object(out, *object, depth);
  } else {
    out += value.text();
  }
}

}  // namespace

std::string canonical_json(const raw_json& value) {
  std::string out;
  out.reserve(value.text().size());
  append(out, value, 1);
  return out;
}

}  // namespace mcpbx::json
