// Judges the value of each keyword by the standard.
#include "providers/schema/adapt/valid_words.hpp"

#include "providers/schema/adapt/keywords.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace mcpbx::providers::adapt {
namespace {

// Returns the distinct strings of a list that `take` accepts; absent if that is the list itself, `[]` for none.
template <class Take>
json::raw_json filtered(const json::raw_json& list, Take&& take) {
  std::vector<std::string> kept;
  std::unordered_set<std::string> known;
  const auto all = json::for_each_element(list, [&](json::raw_json e) {
    auto text = e.as_string();
    if (text && take(*text) && known.insert(*text).second) kept.push_back(*std::move(text));
    return true;
  });
  if (kept.size() == all) return {};
  std::string out = "[";
  for (const auto& k : kept) out += (out.size() > 1 ? "," : "") + json::json_quoted(k);
  return json::raw_json::own(out + "]");
}

// Returns the elements of a list that are schemas; absent if all are, `[]` for none.
json::raw_json only_schemas(const json::raw_json& list) {
  std::string out = "[";
  bool changed = false;
  json::for_each_element(list, [&](json::raw_json e) {
    if (e.is_object() || is_flag(e.text()))
      out.append(out.size() > 1 ? "," : "").append(e.text());
    else
      changed = true;
    return true;
  });
  return changed ? json::raw_json::own(out + "]") : json::raw_json();
}

struct change {
  std::string key;
  json::raw_json value;  // absent: remove the keyword
};

// Appends the change that a keyword needs, if any.
void judge(std::string_view key, const json::raw_json& value, const json::raw_object& schema,
           std::vector<change>& changes) {
  const auto out = [&] { changes.push_back({std::string(key), {}}); };
  const auto replace = [&](json::raw_json list, bool needs_element) {
    if (needs_element && !is_filled((list ? list : value).text())) return out();
    if (list) changes.push_back({std::string(key), std::move(list)});
  };
  const auto must = [&](bool holds) {
    if (!holds) out();
  };
  const auto what = find_keyword(key);
  switch (what) {
    case keyword::type:
      if (value.is_array())
        replace(filtered(value, [](const std::string& t) { return is_type(json::json_quoted(t)); }), true);
      else
        must(is_type(json::json_quoted(value.as_string().value_or(""))));
      break;
    case keyword::required:
      if (!value.is_array()) return out();
      replace(filtered(value, [](const std::string&) { return true; }), false);
      break;
    case keyword::bound: {
      if (fits(what, value.text())) return;
      // Draft 4: a switch that makes the bound beside it exclusive.
      const std::string_view bound = key == "exclusiveMinimum" ? "minimum" : "maximum";
      const auto limit = schema.find(bound);
      if (!value.is_true() || !fits(what, limit.text())) return out();
      changes.push_back({std::string(key), limit});
      changes.push_back({std::string(bound), {}});
      break;
    }
    case keyword::schema_list:
      if (!value.is_array()) return out();
      replace(only_schemas(value), true);
      break;
    case keyword::properties:
    case keyword::items:
      break;
    default:
      must(fits(what, value.text()));
  }
}

}  // namespace

void mend_words(json::raw_object& schema) {
  std::vector<change> changes;
  schema.for_each([&](std::string_view key, const json::raw_json& value) { judge(key, value, schema, changes); });
  for (auto& c : changes)
    if (c.value)
      schema.set(c.key, std::move(c.value));
    else
      schema.erase(c.key);
}

}  // namespace mcpbx::providers::adapt
