// Finds unresolvable references with the validator's index and cuts them out of the text; other bytes stay as they are.
#include "providers/schema/adapt/schema_references.hpp"

#include "mcp/json/json_walk.hpp"
#include "mcp/support/text.hpp"
#include "providers/schema/validator/json_schema.hpp"
#include "providers/schema/validator/schema_index.hpp"
#include "providers/schema/validator/schema_program.hpp"

#include <array>
#include <cstddef>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace mcpbx::providers::adapt {
namespace {

constexpr std::array<std::string_view, 2> reference_keys{"$ref", "$dynamicRef"};
constexpr std::size_t max_reference_told = 200;  // bytes, in a description

// Maps a schema to the target of its dangling reference.
using lost_references = std::unordered_map<const schema::tree::value*, std::string_view>;

bool may_refer(std::string_view text) {
  // The names, or an escape that may be a part of them.
  return text.find("ef\"") != std::string_view::npos || text.find("\\u") != std::string_view::npos;
}

lost_references find_lost(schema::schema_index& index) {
  lost_references lost;
  // Resolving a reference may add nodes, so the size is read in each turn.
  for (schema::node_id id = 0; id < index.size(); ++id) {
    const auto* object = index.source(id).if_object();
    if (!object) continue;
    for (const auto key : reference_keys) {
      const auto* to = object->if_contains(key);
      if (!to || !to->is_string() || index.resolve(to->get_string(), id, key) != schema::no_node) continue;
      lost.try_emplace(&index.source(id), to->get_string());
      index.note(id, key, "a reference to a schema in the same document", *to);
    }
  }
  return lost;
}

class reference_mender {
 public:
  explicit reference_mender(const lost_references& lost) : lost_(lost) {}

  // `text` is what `value` was read from. As deep as the parser of values lets it be.
  void write(std::string_view text, const schema::tree::value& value) {
    if (const auto lost = lost_.find(&value); lost != lost_.end()) return write_any(text, value, lost->second);
    const char* done = text.data();
    const auto part = [&](std::string_view inner, const schema::tree::value* v) {
      if (!v) return;
      out_.append(done, inner.data());
      write(inner, *v);
      done = inner.data() + inner.size();
    };
    if (const auto* object = value.if_object())
      json::walk::members(text, [&](std::string_view key, std::string_view v) { part(v, object->if_contains(key)); });
    std::size_t index = 0;
    if (const auto* list = value.if_array())
      json::walk::elements(text, [&](std::string_view v) {
        part(v, index < list->size() ? &(*list)[index] : nullptr);
        ++index;
      });
    out_.append(done, text.data() + text.size());
  }

  std::string take() { return std::move(out_); }

 private:
  void write_any(std::string_view text, const schema::tree::value& value, std::string_view reference) {
    std::string told;
    out_ += '{';
    json::walk::members(text, [&](std::string_view key, std::string_view v) {
      if (key == "description") told = json::walk::text(v) + " ";
      if (key == "description" || key == reference_keys[0] || key == reference_keys[1]) return;
      json::append_quoted(out_, key);
      out_ += ':';
      const auto* known = value.get_object().if_contains(key);
      known ? write(v, *known) : void(out_ += v);
      out_ += ',';
    });
    const auto cut = cut_utf8(reference, max_reference_told);
    told.append("(its form is told by \"").append(cut).append(cut.size() < reference.size() ? "…" : "");
    out_ += R"("description":)";
    json::append_quoted(out_, told + "\", which is not known here)");
    out_ += '}';
  }

  const lost_references& lost_;
  std::string out_;
};

}  // namespace

json::raw_json mend_references(const json::raw_json& schema, std::vector<std::string>& changes) {
  if (!may_refer(schema.text()) || schema.text().size() > schema::json_schema::max_text) return schema;
  auto document = schema::parsed_schema(schema);
  if (!document) return schema;
  schema::program p;
  p.documents.push_back(std::move(*document));
  schema::schema_index index(p, {});
  if (!index.open()) return schema;
  const auto lost = find_lost(index);
  if (lost.empty()) return schema;
  for (const auto& note : p.notes) changes.push_back(schema::describe(note, "inputSchema"));
  reference_mender mender(lost);
  mender.write(schema.text(), p.documents.front().root);
  return json::raw_json::own(mender.take());
}

}  // namespace mcpbx::providers::adapt
