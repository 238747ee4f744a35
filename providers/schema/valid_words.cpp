// What the standard demands of each keyword's value.
#include "providers/schema/valid_words.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::providers {
namespace {

template <std::size_t N>
bool one_of(std::string_view word, const std::array<std::string_view, N>& list) {
  return std::ranges::find(list, word) != list.end();
}

constexpr std::array<std::string_view, 7> types{"object", "array", "string", "number", "integer", "boolean", "null"};
constexpr std::array<std::string_view, 9> texts{
    "description", "title", "$comment", "format", "pattern", "contentEncoding", "contentMediaType", "$ref", "$anchor"};
constexpr std::array<std::string_view, 8> counts{"minLength",     "maxLength",     "minItems",    "maxItems",
                                                 "minProperties", "maxProperties", "minContains", "maxContains"};
constexpr std::array<std::string_view, 4> flags{"uniqueItems", "deprecated", "readOnly", "writeOnly"};
constexpr std::array<std::string_view, 5> maps{"patternProperties", "$defs", "definitions", "dependentSchemas",
                                               "dependentRequired"};
constexpr std::array<std::string_view, 10> schemas{
    "additionalProperties", "propertyNames",         "contains",       "not", "if", "then", "else",
    "unevaluatedItems",     "unevaluatedProperties", "additionalItems"};
constexpr std::array<std::string_view, 4> lists{"anyOf", "oneOf", "allOf", "prefixItems"};

bool is_bool(const raw_json& v) {
  return v.text() == "true" || v.text() == "false";
}

bool is_number(const raw_json& v) {
  return v.type() == raw_json::kind::number;
}

// 0, 3, 3.0.
bool is_count(const raw_json& v) {
  const auto text = v.text();
  const auto digits = text.find_first_not_of("0123456789");
  if (!is_number(v) || digits == 0) return false;
  return digits == text.npos || (text[digits] == '.' && text.find_first_not_of('0', digits + 1) == text.npos);
}

// The strings of a list that `take` lets through, each once; absent when that changes nothing, and `[]` for none.
template <class Take>
raw_json filtered(const raw_json& list, Take&& take) {
  std::vector<std::string> kept;
  const auto all = for_each_element(list, [&](raw_json e) {
    auto text = e.as_string();
    if (text && take(*text) && std::ranges::find(kept, *text) == kept.end()) kept.push_back(*std::move(text));
    return true;
  });
  if (kept.size() == all) return {};
  std::string out = "[";
  for (const auto& k : kept) out += (out.size() > 1 ? "," : "") + json_quoted(k);
  return raw_json::own(out + "]");
}

// The elements of a list that are schemas; absent when all are, and `[]` for none.
raw_json only_schemas(const raw_json& list) {
  std::string out = "[";
  bool changed = false;
  for_each_element(list, [&](raw_json e) {
    if (e.is_object() || is_bool(e))
      out.append(out.size() > 1 ? "," : "").append(e.text());
    else
      changed = true;
    return true;
  });
  return changed ? raw_json::own(out + "]") : raw_json();
}

struct change {
  std::string key;
  raw_json value;  // absent: the keyword goes
};

// What becomes of a keyword, if anything.
void judge(std::string_view key, const raw_json& value, const raw_object& schema, std::vector<change>& changes) {
  const auto out = [&] { changes.push_back({std::string(key), {}}); };
  const auto replace = [&](raw_json list, bool needs_element) {
    if (needs_element && (list ? list : value).text() == "[]") return out();
    if (list) changes.push_back({std::string(key), std::move(list)});
  };
  if (key == "type") {
    if (value.is_array())
      replace(filtered(value, [](const std::string& t) { return one_of(t, types); }), true);
    else if (!one_of(value.as_string().value_or(""), types))
      out();
  } else if (key == "required") {
    if (!value.is_array()) return out();
    replace(filtered(value, [](const std::string&) { return true; }), false);
  } else if (key == "enum") {
    if (!value.is_array() || value.text() == "[]") out();
  } else if (key == "examples") {
    if (!value.is_array()) out();
  } else if (key == "minimum" || key == "maximum" || key == "multipleOf") {
    if (!is_number(value)) out();
  } else if (key == "exclusiveMinimum" || key == "exclusiveMaximum") {
    if (is_number(value)) return;
    // Draft 4: a switch that makes the bound beside it exclusive.
    const std::string_view bound = key == "exclusiveMinimum" ? "minimum" : "maximum";
    const auto limit = schema.find(bound);
    if (!value.is_true() || !is_number(limit)) return out();
    changes.push_back({std::string(key), limit});
    changes.push_back({std::string(bound), {}});
  } else if (one_of(key, texts)) {
    if (!value.is_string()) out();
  } else if (one_of(key, counts)) {
    if (!is_count(value)) out();
  } else if (one_of(key, flags)) {
    if (!is_bool(value)) out();
  } else if (one_of(key, maps)) {
    if (!value.is_object()) out();
  } else if (one_of(key, schemas)) {
    if (!value.is_object() && !is_bool(value)) out();
  } else if (one_of(key, lists)) {
    if (!value.is_array()) return out();
    replace(only_schemas(value), true);
  }
}

}  // namespace

void mend_words(raw_object& schema) {
  std::vector<change> changes;
  schema.for_each([&](std::string_view key, const raw_json& value) { judge(key, value, schema, changes); });
  for (auto& c : changes)
    if (c.value)
      schema.set(c.key, std::move(c.value));
    else
      schema.erase(c.key);
}

}  // namespace mcpbx::providers
