// Joins vendor fields that arrive in pieces.
#include "providers/wire/openai/chat_delta.hpp"

#include "mcp/json/json_walk.hpp"
#include "providers/wire/openai/delta_merge.hpp"

#include <algorithm>

namespace mcpbx::providers::openai {

std::string_view vendor_fields::element::find(std::string_view key) const {
  if (members.empty()) return json::walk::find(json, key);
  const auto found = places.find(key);
  return found == places.end() ? std::string_view() : std::string_view(members[found->second].second);
}

void vendor_fields::element::put(std::string_view key, std::string_view value) {
  const auto [place, fresh] = places.try_emplace(std::string(key), members.size());
  if (fresh)
    members.emplace_back(key, value);
  else
    members[place->second].second = value;
}

// Merges a piece into a reasoning detail of the same index and type: appends texts, replaces other members.
bool vendor_fields::element::merge(std::string_view piece) {
  if (!json::walk::is_object(piece) || (members.empty() && !json::walk::is_object(json))) return false;
  const auto index = json::walk::find(piece, "index");
  if (index.empty() || find("index") != index || find("type") != json::walk::find(piece, "type")) return false;
  if (members.empty()) {
    json::walk::members(json, [&](std::string_view key, std::string_view value) { put(key, value); });
    json.clear();
  }
  json::walk::members(piece, [&](std::string_view key, std::string_view more) {
    const auto known = places.find(key);
    if (known == places.end()) return put(key, more);
    auto& value = members[known->second].second;
    const bool text = key == "text" || key == "summary" || key == "data";
    if (text && json::walk::is_string(value) && json::walk::is_string(more)) {
      value.pop_back();
      value += more.substr(1);
    } else if (more != "null") {
      value = more;
    }
  });
  return true;
}

void vendor_fields::element::write(json::json_writer& w) const {
  if (members.empty()) return void(w.token(json));
  w.begin_object();
  for (const auto& [key, value] : members) w.key(key).token(value);
  w.end_object();
}

bool vendor_fields::is_reasoning(std::string_view key) {
  return key.starts_with("reasoning") || key.starts_with("thinking");
}

bool vendor_fields::kept(std::string_view key) {
  return is_reasoning(key) || key == "custom_content" || key == "extra_content";
}

void vendor_fields::add(std::string_view key, std::string_view value) {
  if (value.empty() || value == "null") return;
  const auto known = places_.find(key);
  field* f = known == places_.end() ? nullptr : &fields_[known->second];
  const char kind = key == "custom_content"        ? 'm'
                    : json::walk::is_string(value) ? '"'
                    : json::walk::is_array(value)  ? '['
                                                   : 'v';
  const auto fresh = [&] { return field{std::string(key), {}, {}, {}, {}, {}, kind, 0}; };
  if (f == nullptr) {
    if (fields_.size() == max_fields) return;
    places_.emplace(key, fields_.size());
    f = &fields_.emplace_back(fresh());
  }
  if (f->kind == 'x') return;
  if (f->kind != kind) *f = fresh();
  if (kind == '"') {
    f->text += f->joiner.take(value);
  } else if (kind == '[') {
    json::walk::elements(value, [&](std::string_view one) {
      if (f->elements.empty() || !f->elements.back().merge(one))
        f->elements.push_back(element{std::string(one), {}, {}});
    });
  } else if (kind == 'm') {
    f->values += 1 + static_cast<std::size_t>(std::ranges::count(value, ','));
    if (f->values <= max_merged)
      f->deltas.emplace_back(value);
    else
      *f = field{std::string(key), {}, {}, {}, {}, {}, 'x', 0};
  } else {
    f->value = value;
  }
}

void vendor_fields::write_value(json::json_writer& w, const field& f) {
  if (f.kind == '"') {
    w.value(f.text);
  } else if (f.kind == '[') {
    w.begin_array();
    for (const auto& e : f.elements) e.write(w);
    w.end_array();
  } else if (f.kind == 'm') {
    w.token(without_indexes(merged_deltas(f.deltas)));
  } else {
    w.token(f.value);
  }
}

void vendor_fields::write(json::json_writer& w, bool reasoning) const {
  for (const auto& f : fields_)
    if (f.kind != 'x' && (reasoning || !is_reasoning(f.key))) write_value(w.key(f.key), f);
}

bool vendor_fields::empty() const {
  return std::ranges::all_of(fields_, [](const field& f) { return f.kind == 'x'; });
}

json::raw_json vendor_fields::object() const {
  if (empty()) return {};
  std::string all;
  json::json_writer w(all);
  w.begin_object();
  write(w);
  w.end_object();
  return w.json();
}

}  // namespace mcpbx::providers::openai
