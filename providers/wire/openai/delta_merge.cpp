// Merges deltas by halves, which works because merging is associative: a text of many pieces is then not copied once
// for each piece.
#include "providers/wire/openai/delta_merge.hpp"

#include "mcp/json/json_walk.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/json/object_index.hpp"

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace mcpbx::providers::openai {
namespace {

constexpr int max_depth = 32;

void write_merged(json::json_writer& w, std::string_view into, std::string_view delta, int depth);

void write_merged_lists(json::json_writer& w, std::string_view into, std::string_view delta, int depth) {
  std::vector<std::string_view> elements;
  std::unordered_map<std::string_view, std::size_t> by_index;  // of two with the same index, the first
  std::deque<std::string> merged;
  json::walk::elements(into, [&](std::string_view e) {
    if (const auto index = json::walk::find(e, "index"); !index.empty()) by_index.try_emplace(index, elements.size());
    elements.push_back(e);
  });
  json::walk::elements(delta, [&](std::string_view e) {
    const auto index = json::walk::find(e, "index");
    const auto known = index.empty() ? by_index.end() : by_index.find(index);
    if (known == by_index.end()) return elements.push_back(e);
    auto& element = elements[known->second];
    std::string both;
    json::json_writer merge(both);
    write_merged(merge, element, e, depth + 1);
    element = merged.emplace_back(std::move(both));
  });
  w.begin_array();
  for (const auto e : elements) w.token(e);
  w.end_array();
}

void write_merged(json::json_writer& w, std::string_view into, std::string_view delta, int depth) {
  if (delta == "null" || delta.empty()) {
    w.token(into);
  } else if (depth == max_depth) {
    w.token(delta);
  } else if (json::walk::is_string(into) && json::walk::is_string(delta)) {
    w.token(into.substr(0, into.size() - 1)).more(delta.substr(1));
  } else if (json::walk::is_array(into) && json::walk::is_array(delta)) {
    write_merged_lists(w, into, delta, depth);
  } else if (!json::walk::is_object(into) || !json::walk::is_object(delta)) {
    w.token(delta);
  } else {
    w.begin_object();
    json::object_index before, after;
    before.open(into);
    after.open(delta);
    json::walk::members(into, [&](std::string_view key, std::string_view value) {
      write_merged(w.key(key), value, after.find(key), depth + 1);
    });
    json::walk::members(delta, [&](std::string_view key, std::string_view value) {
      if (before.find(key).empty()) w.key(key).token(value);
    });
    w.end_object();
  }
}

void write_cleaned(json::json_writer& w, std::string_view value, bool element, int depth) {
  if (depth == max_depth || (!json::walk::is_array(value) && !json::walk::is_object(value))) {
    w.token(value);
  } else if (json::walk::is_array(value)) {
    w.begin_array();
    json::walk::elements(value, [&](std::string_view e) { write_cleaned(w, e, true, depth + 1); });
    w.end_array();
  } else {
    w.begin_object();
    json::walk::members(value, [&](std::string_view key, std::string_view v) {
      if (!element || key != "index") write_cleaned(w.key(key), v, false, depth + 1);
    });
    w.end_object();
  }
}

}  // namespace

std::string merged_deltas(std::span<const std::string> deltas) {
  if (deltas.empty()) return {};
  if (deltas.size() == 1) return deltas.front();
  const auto half = deltas.size() / 2;
  const auto first = merged_deltas(deltas.first(half)), second = merged_deltas(deltas.subspan(half));
  std::string all;
  all.reserve(first.size() + second.size());
  json::json_writer w(all);
  write_merged(w, first, second, 0);
  return all;
}

std::string without_indexes(std::string_view value) {
  std::string out;
  out.reserve(value.size());
  json::json_writer w(out);
  write_cleaned(w, value, false, 0);
  return out;
}

}  // namespace mcpbx::providers::openai
