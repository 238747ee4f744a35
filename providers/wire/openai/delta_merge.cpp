// Merging is associative, so deltas are merged by halves: a text of many pieces is not copied once for each.
#include "providers/wire/openai/delta_merge.hpp"

#include "mcp/json/object_index.hpp"
#include "providers/model/json_walk.hpp"

#include <map>
#include <vector>

namespace mcpbx::providers {
namespace {

constexpr int max_depth = 32;

void append_member(std::string& out, std::string_view key, std::string_view value) {
  if (out.size() > 1) out += ',';
  append_quoted(out, key);
  out += ':';
  out += value;
}

std::string list_of(const std::vector<std::string>& elements) {
  std::string out = "[";
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (i != 0) out += ',';
    out += elements[i];
  }
  return out + "]";
}

std::string merged(std::string_view into, std::string_view delta, int depth);

std::string merged_lists(std::string_view into, std::string_view delta, int depth) {
  std::vector<std::string> elements;
  std::map<std::string_view, std::size_t> by_index;  // of two with the same index the first
  walk::elements(into, [&](std::string_view e) {
    if (const auto index = walk::find(e, "index"); !index.empty()) by_index.try_emplace(index, elements.size());
    elements.emplace_back(e);
  });
  walk::elements(delta, [&](std::string_view e) {
    const auto index = walk::find(e, "index");
    const auto known = index.empty() ? by_index.end() : by_index.find(index);
    if (known == by_index.end())
      elements.emplace_back(e);
    else
      elements[known->second] = merged(elements[known->second], e, depth + 1);
  });
  return list_of(elements);
}

std::string merged(std::string_view into, std::string_view delta, int depth) {
  if (delta == "null" || delta.empty()) return std::string(into);
  if (depth == max_depth) return std::string(delta);
  if (walk::is_string(into) && walk::is_string(delta))
    return std::string(into.substr(0, into.size() - 1)).append(delta.substr(1));
  if (walk::is_array(into) && walk::is_array(delta)) return merged_lists(into, delta, depth);
  if (!walk::is_object(into) || !walk::is_object(delta)) return std::string(delta);
  std::string out = "{";
  object_index before, after;
  before.open(into);
  after.open(delta);
  walk::members(into, [&](std::string_view key, std::string_view value) {
    append_member(out, key, merged(value, after.find(key), depth + 1));
  });
  walk::members(delta, [&](std::string_view key, std::string_view value) {
    if (before.find(key).empty()) append_member(out, key, value);
  });
  return out + "}";
}

std::string cleaned(std::string_view value, bool element, int depth) {
  if (depth == max_depth) return std::string(value);
  if (walk::is_array(value)) {
    std::vector<std::string> elements;
    walk::elements(value, [&](std::string_view e) { elements.push_back(cleaned(e, true, depth + 1)); });
    return list_of(elements);
  }
  if (!walk::is_object(value)) return std::string(value);
  std::string out = "{";
  walk::members(value, [&](std::string_view key, std::string_view v) {
    if (!element || key != "index") append_member(out, key, cleaned(v, false, depth + 1));
  });
  return out + "}";
}

}  // namespace

std::string merged_deltas(std::span<const std::string> deltas) {
  if (deltas.empty()) return {};
  if (deltas.size() == 1) return deltas.front();
  const auto half = deltas.size() / 2;
  return merged(merged_deltas(deltas.first(half)), merged_deltas(deltas.subspan(half)), 0);
}

std::string without_indexes(std::string_view value) {
  return cleaned(value, false, 0);
}

}  // namespace mcpbx::providers
