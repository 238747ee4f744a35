// Generates the JSON Schema: one schema per shape of value. Sections become definitions, so each is written once.
#include "conf/model/schema.hpp"

#include "conf/model/spec.hpp"
#include "mcp/json/raw_json.hpp"

#include <boost/json.hpp>

namespace mcpbx::conf::model {
namespace {

void print(std::string& out, const boost::json::value& v, int indent) {
  const std::string inner(static_cast<std::size_t>(indent) + 2, ' '), outer(static_cast<std::size_t>(indent), ' ');
  if (const auto* o = v.if_object(); o && !o->empty()) {
    out += "{\n";
    bool first = true;
    for (const auto& m : *o) {
      if (!first) out += ",\n";
      first = false;
      out += inner + json::json_quoted({m.key().data(), m.key().size()}) + ": ";
      print(out, m.value(), indent + 2);
    }
    out += "\n" + outer + "}";
  } else if (const auto* a = v.if_array(); a && !a->empty()) {
    out += "[";
    bool first = true;
    for (const auto& e : *a) {
      if (!first) out += ", ";
      first = false;
      print(out, e, indent);
    }
    out += "]";
  } else {
    out += boost::json::serialize(v);
  }
}

boost::json::string_view sv(std::string_view s) {
  return {s.data(), s.size()};
}

class writer {
 public:
  boost::json::object document() {
    boost::json::object top;
    top["$schema"] = "https://json-schema.org/draft/2020-12/schema";
    top["title"] = "The configuration of mcpbx";
    top["description"] = "JSON with comments and trailing commas; docs/configuration.md explains every key.";
    for (auto& m : section_schema(root_section())) top[m.key()] = std::move(m.value());
    top["$defs"] = std::move(definitions_);
    return top;
  }

 private:
  /// Returns the schema of a string. If references are allowed, any string with a `${` passes whatever its form.
  static boost::json::object string_schema(const key_spec& k) {
    const bool text =
        k.kind == shape::text || k.kind == shape::texts || k.kind == shape::text_map || k.kind == shape::entries;
    boost::json::object s{{"type", "string"}};
    if (k.value_form == &forms::filled)
      s["minLength"] = 1;
    else if (k.value_form)
      s["pattern"] = sv(std::string(k.value_form->regex) + (text ? "|\\$\\{" : ""));
    if (!text) s["not"] = boost::json::object{{"pattern", "\\$\\{"}};
    return s;
  }

  boost::json::object map_schema(const key_spec& k) {
    boost::json::object s{{"type", "object"}};
    if (k.most_items() != 0) s["maxProperties"] = k.most_items();
    if (k.name_form) s["propertyNames"] = boost::json::object{{"pattern", sv(k.name_form->regex)}};
    if (k.kind == shape::whole_map)
      s["additionalProperties"] = boost::json::object{{"type", "integer"}, {"minimum", k.low}, {"maximum", k.high}};
    else
      s["additionalProperties"] = string_schema(k);
    return s;
  }

  boost::json::object list_schema(const key_spec& k) {
    boost::json::object s{{"type", "array"}, {"items", string_schema(k)}};
    if (k.never_empty) s["minItems"] = 1;
    if (k.most_items() != 0) s["maxItems"] = k.most_items();
    return s;
  }

  boost::json::object reference_to(const section_spec& spec) {
    if (!definitions_.contains(sv(spec.title))) {
      definitions_[sv(spec.title)] = nullptr;  // keeps its place while inner sections add theirs
      auto made = section_schema(spec);
      definitions_[sv(spec.title)] = std::move(made);
    }
    return {{"$ref", sv("#/$defs/" + std::string(spec.title))}};
  }

  boost::json::object value_schema(const key_spec& k) {
    switch (k.kind) {
      case shape::boolean:
        return {{"type", "boolean"}};
      case shape::whole:
        return {{"type", "integer"}, {"minimum", k.low}, {"maximum", k.high}};
      case shape::real:
        return {{"type", "number"}, {"minimum", k.real_low}, {"maximum", k.real_high}};
      case shape::word: {
        boost::json::array words;
        for (const auto w : k.words) words.emplace_back(sv(w));
        return {{"enum", std::move(words)}};
      }
      case shape::text:
      case shape::plain:
        return string_schema(k);
      case shape::texts:
      case shape::plains:
        return list_schema(k);
      case shape::entries:
        return {
            {"type", "array"},
            {"maxItems", max_list_entries},
            {"items", boost::json::object{{"anyOf", boost::json::array{string_schema(k), reference_to(*k.inner)}}}}};
      case shape::text_map:
      case shape::plain_map:
      case shape::whole_map:
        return map_schema(k);
      case shape::switch_or_text:
        return {{"anyOf", boost::json::array{boost::json::object{{"type", "boolean"}}, string_schema(k)}}};
      case shape::any_object:
        return {{"type", "object"}};
      case shape::section:
        if (k.inner->has_switches)  // also the list of names that other hosts write
          return {{"anyOf", boost::json::array{reference_to(*k.inner),
                                               boost::json::object{
                                                   {"type", "array"},
                                                   {"items", boost::json::object{{"type", "string"}, {"minLength", 1}}},
                                                   {"minItems", 1}}}}};
        return reference_to(*k.inner);
      case shape::named: {
        boost::json::object entries;
        entries[sv(k.name_form->regex)] = reference_to(*k.inner);
        return {{"type", "object"}, {"patternProperties", std::move(entries)}, {"additionalProperties", false}};
      }
    }
    return {};
  }

  boost::json::object key_schema(const key_spec& k) {
    auto s = value_schema(k);
    boost::json::object out{{"description", sv(k.doc)}};
    for (auto& m : s) out[m.key()] = std::move(m.value());
    if (!k.default_json.empty()) out["default"] = boost::json::parse(sv(k.default_json));
    return out;
  }

  static boost::json::array key_list(std::initializer_list<std::string_view> keys) {
    boost::json::array out;
    for (const auto k : keys) out.emplace_back(sv(k));
    return out;
  }

  boost::json::object section_schema(const section_spec& spec) {
    boost::json::object properties;
    for (const auto& k : spec.keys) properties[sv(k.name)] = key_schema(k);
    boost::json::object s{{"type", "object"}, {"properties", std::move(properties)}};
    if (spec.has_switches)
      s["additionalProperties"] = boost::json::object{{"type", key_list({"boolean", "object"})}};
    else if (!spec.server_entry)
      s["additionalProperties"] = false;
    boost::json::array rules;
    for (const auto& n : spec.needs) {
      if (n.when.empty()) {
        s["required"] = key_list({n.key});
        continue;
      }
      boost::json::array words;
      for (const auto w : n.words) words.emplace_back(sv(w));
      boost::json::object when;
      when[sv(n.when)] = boost::json::object{{"enum", std::move(words)}};
      rules.push_back(boost::json::object{
          {"if", boost::json::object{{"required", key_list({n.when})}, {"properties", std::move(when)}}},
          {"then", boost::json::object{{"required", key_list({n.key})}}}});
    }
    if (!rules.empty()) s["allOf"] = std::move(rules);
    if (const auto [one, two] = spec.one_of_two; !one.empty())
      s["oneOf"] = boost::json::array{boost::json::object{{"required", key_list({one})}},
                                      boost::json::object{{"required", key_list({two})}}};
    return s;
  }

  boost::json::object definitions_;
};

}  // namespace

std::string json_schema() {
  std::string out;
  print(out, writer().document(), 0);
  return out + "\n";
}

}  // namespace mcpbx::conf::model
