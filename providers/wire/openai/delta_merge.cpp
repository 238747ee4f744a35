// Merges deltas by halves, which works because merging is associative: a text of many pieces is then not copied once
// for each piece.
#include "providers/wire/openai/delta_merge.hpp"

#include "mcp/json/json_walk.hpp"
#include "mcp/json/object_index.hpp"

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace mcpbx::providers {
namespace {

constexpr int max_depth = 32;

// Appends the key of the next member. `start` is the beginning of the object's members.
void append_key(std::string& out, std::size_t start, std::string_view key) {
  if (out.size() > start) out += ',';
  append_quoted(out, key);
  out += ':';
}

void append_list(std::string& out, const auto& elements) {
  out += '[';
  const auto start = out.size();
  for (const auto& e : elements) {
    if (out.size() > start) out += ',';
    out += e;
  }
  out += ']';
}

void append_merged(std::string& out, std::string_view into, std::string_view delta, int depth);

void append_merged_lists(std::string& out, std::string_view into, std::string_view delta, int depth) {
  std::vector<std::string_view> elements;
  std::unordered_map<std::string_view, std::size_t> by_index;  // of two with the same index, the first
  std::deque<std::string> merged;
  walk::elements(into, [&](std::string_view e) {
    if (const auto index = walk::find(e, "index"); !index.empty()) by_index.try_emplace(index, elements.size());
    elements.push_back(e);
  });
  walk::elements(delta, [&](std::string_view e) {
    const auto index = walk::find(e, "index");
    const auto known = index.empty() ? by_index.end() : by_index.find(index);
    if (known == by_index.end()) return elements.push_back(e);
    auto& element = elements[known->second];
    std::string both;
    append_merged(both, element, e, depth + 1);
    element = merged.emplace_back(std::move(both));
  });
  append_list(out, elements);
}

void append_merged(std::string& out, std::string_view into, std::string_view delta, int depth) {
  if (delta == "null" || delta.empty()) {
    out += into;
  } else if (depth == max_depth) {
    out += delta;
  } else if (walk::is_string(into) && walk::is_string(delta)) {
    out.append(into.substr(0, into.size() - 1)).append(delta.substr(1));
  } else if (walk::is_array(into) && walk::is_array(delta)) {
    append_merged_lists(out, into, delta, depth);
  } else if (!walk::is_object(into) || !walk::is_object(delta)) {
    out += delta;
  } else {
    out += '{';
    const auto start = out.size();
    object_index before, after;
    before.open(into);
    after.open(delta);
    walk::members(into, [&](std::string_view key, std::string_view value) {
      append_key(out, start, key);
      append_merged(out, value, after.find(key), depth + 1);
    });
    walk::members(delta, [&](std::string_view key, std::string_view value) {
      if (!before.find(key).empty()) return;
      append_key(out, start, key);
      out += value;
    });
    out += '}';
  }
}

void append_cleaned(std::string& out, std::string_view value, bool element, int depth) {
  if (depth == max_depth || (!walk::is_array(value) && !walk::is_object(value))) {
    out += value;
    return;
  }
  const bool list = walk::is_array(value);
  out += list ? '[' : '{';
  const auto start = out.size();
  if (list)
    walk::elements(value, [&](std::string_view e) {
      if (out.size() > start) out += ',';
      append_cleaned(out, e, true, depth + 1);
    });
  else
    walk::members(value, [&](std::string_view key, std::string_view v) {
      if (element && key == "index") return;
      append_key(out, start, key);
      append_cleaned(out, v, false, depth + 1);
    });
  out += list ? ']' : '}';
}

}  // namespace

std::string merged_deltas(std::span<const std::string> deltas) {
  if (deltas.empty()) return {};
  if (deltas.size() == 1) return deltas.front();
  const auto half = deltas.size() / 2;
  const auto first = merged_deltas(deltas.first(half)), second = merged_deltas(deltas.subspan(half));
  std::string all;
  all.reserve(first.size() + second.size());
  append_merged(all, first, second, 0);
  return all;
}

std::string without_indexes(std::string_view value) {
  std::string out;
  out.reserve(value.size());
  append_cleaned(out, value, false, 0);
  return out;
}

}  // namespace mcpbx::providers
