// Vendor fields that arrive in pieces.
#include "providers/wire/chat_delta.hpp"

#include "providers/model/json_walk.hpp"
#include "providers/wire/delta_merge.hpp"

namespace mcpbx::providers {
namespace {

// Parts of one reasoning detail share index and type: their texts go on, their other members replace.
bool merge_part(std::string& into, std::string_view piece) {
  if (!walk::is_object(into) || !walk::is_object(piece)) return false;
  const auto index = walk::find(piece, "index");
  if (index.empty() || walk::find(into, "index") != index || walk::find(into, "type") != walk::find(piece, "type"))
    return false;
  std::string merged = "{";
  auto put = [&](std::string_view key, std::string_view value) {
    if (merged.size() > 1) merged += ',';
    append_quoted(merged, key);
    merged += ':';
    merged += value;
  };
  walk::members(into, [&](std::string_view key, std::string_view value) {
    const auto more = walk::find(piece, key);
    const bool text = key == "text" || key == "summary" || key == "data";
    if (text && walk::is_string(value) && walk::is_string(more)) {
      std::string joined(value.substr(0, value.size() - 1));
      joined += more.substr(1);
      put(key, joined);
    } else {
      put(key, more.empty() || more == "null" ? value : more);
    }
  });
  walk::members(piece, [&](std::string_view key, std::string_view value) {
    if (walk::find(into, key).empty()) put(key, value);
  });
  into = merged + "}";
  return true;
}

}  // namespace

bool vendor_fields::is_reasoning(std::string_view key) {
  return key.starts_with("reasoning") || key.starts_with("thinking");
}

bool vendor_fields::kept(std::string_view key) {
  return is_reasoning(key) || key == "custom_content" || key == "extra_content";
}

void vendor_fields::add(std::string_view key, std::string_view value) {
  if (value.empty() || value == "null") return;
  field* f = nullptr;
  for (auto& known : fields_)
    if (known.key == key) f = &known;
  const char kind = key == "custom_content" ? 'm' : walk::is_string(value) ? '"' : walk::is_array(value) ? '[' : 'v';
  if (f == nullptr) f = &fields_.emplace_back(field{std::string(key), {}, {}, {}, {}, kind});
  if (f->kind != kind) *f = field{std::string(key), {}, {}, {}, {}, kind};
  if (kind == '"') {
    f->text += f->joiner.take(value);
  } else if (kind == '[') {
    walk::elements(value, [&](std::string_view element) {
      if (f->elements.empty() || !merge_part(f->elements.back(), element)) f->elements.emplace_back(element);
    });
  } else if (kind == 'm') {
    f->elements.emplace_back(value);
  } else {
    f->value = value;
  }
}

void vendor_fields::write_value(std::string& out, const field& f) {
  if (f.kind == '"') {
    append_quoted(out, f.text);
  } else if (f.kind == '[') {
    out += '[';
    for (std::size_t i = 0; i < f.elements.size(); ++i) {
      if (i != 0) out += ',';
      out += f.elements[i];
    }
    out += ']';
  } else if (f.kind == 'm') {
    out += without_indexes(merged_deltas(f.elements));
  } else {
    out += f.value;
  }
}

void vendor_fields::write(std::string& out, bool reasoning) const {
  for (const auto& f : fields_) {
    if (!reasoning && is_reasoning(f.key)) continue;
    out += ',';
    append_quoted(out, f.key);
    out += ':';
    write_value(out, f);
  }
}

raw_json vendor_fields::object() const {
  if (fields_.empty()) return {};
  std::string all;
  write(all);
  all.front() = '{';
  return raw_json::own(all + "}");
}

}  // namespace mcpbx::providers
