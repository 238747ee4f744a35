// Parts of the key table's machinery that need no templates.
#include "conf/model/spec.hpp"

#include "mcp/json/raw_json.hpp"

namespace mcpbx::conf::model {

const key_spec* section_spec::find(std::string_view key) const {
  for (const auto& k : keys)
    if (k.name == key) return &k;
  return nullptr;
}

std::vector<std::string_view> section_spec::key_names() const {
  std::vector<std::string_view> names;
  for (const auto& k : keys) names.push_back(k.name);
  return names;
}

namespace detail {

void assign(std::vector<std::string>& to, const documents::node& n, const site&) {
  for (const auto& i : n.items) to.push_back(i.text);
}

void assign(std::vector<reference_string>& to, const documents::node& n, const site& s) {
  for (std::size_t i = 0; i < n.items.size(); ++i)
    to.push_back({n.items[i].text, documents::element_path(s.path, i), s.server_entry});
}

void assign(string_map& to, const documents::node& n, const site&) {
  for (const auto& m : n.members) to.emplace_back(m.key, m.value.text);
}

void assign(reference_map& to, const documents::node& n, const site& s) {
  for (const auto& m : n.members)
    to.emplace_back(m.key, reference_string{m.value.text, documents::member_path(s.path, m.key), s.server_entry});
}

void assign(json_text& to, const documents::node& n, const site&) {
  to.text = documents::json_of(n);
}

void assign(loop::switch_or_text& to, const documents::node& n, const site&) {
  if (n.is(documents::node::kind::boolean))
    to = {n.truth, {}};
  else
    to = {!n.text.empty(), n.text};
}

key_spec named_key(std::string_view name, std::string_view doc, shape kind) {
  key_spec k;
  k.name = name;
  k.doc = doc;
  k.kind = kind;
  return k;
}

std::string default_json(bool v) {
  return v ? "true" : "false";
}
std::string default_json(std::int64_t v) {
  return std::to_string(v);
}
std::string default_json(milliseconds v) {
  return std::to_string(v.count());
}
std::string default_json(const std::string& v) {
  return v.empty() ? std::string() : json::json_quoted(v);
}
std::string default_json(const loop::switch_or_text& v) {
  return v.text.empty() ? default_json(v.on) : default_json(v.text);
}

}  // namespace detail
}  // namespace mcpbx::conf::model
