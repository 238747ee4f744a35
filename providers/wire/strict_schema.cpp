// Checks a schema for strict mode and stops at the first fault. The keywords are those that the APIs' own clients keep
// in a strict schema.
#include "providers/wire/strict_schema.hpp"

#include "mcp/json/json_walk.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace mcpbx::providers::wire {
namespace {

constexpr int max_levels = 10;

bool is_among(std::string_view word, std::span<const std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

// Returns true for keywords that strict mode accepts with any value.
bool is_plain_word(std::string_view keyword) {
  constexpr std::array<std::string_view, 5> plain{"title", "description", "enum", "const", "required"};
  return is_among(keyword, plain);
}

bool is_strict_format(std::string_view value) {
  constexpr std::array<std::string_view, 10> known{"date-time", "date", "time", "duration", "email",
                                                   "hostname",  "uri",  "ipv4", "ipv6",     "uuid"};
  return is_among(json::walk::text(value), known);
}

// Returns true for patterns without look-around (`(?=`), named groups and back references (`\1`).
bool is_plain_pattern(std::string_view pattern) {
  for (std::size_t i = 0; i + 1 < pattern.size(); ++i) {
    if (pattern.substr(i).starts_with("(?") && !pattern.substr(i).starts_with("(?:")) return false;
    if (pattern[i] != '\\') continue;
    if (++i; pattern[i] == 'k' || (pattern[i] >= '1' && pattern[i] <= '9')) return false;
  }
  return true;
}

class strict_judge {
 public:
  explicit strict_judge(strict_rules rules) : anthropic_(rules == strict_rules::anthropic) {}

  bool fits(std::string_view schema, int level) {
    if (!json::walk::is_object(schema) || level > max_levels) return false;
    bool fine = true, array = false, object = false, typed = false, alone = true;
    std::string_view reference, properties, required, additional, items;
    json::walk::members(schema, [&](std::string_view key, std::string_view value) {
      alone = alone && key == "$ref";
      if (key == "$ref") {
        reference = value;
      } else if (key == "properties") {
        properties = value;
      } else if (key == "required") {
        required = value;
      } else if (key == "additionalProperties") {
        additional = value;
      } else if (key == "items") {
        items = value;
      } else if (key == "type") {
        typed = true;
        object = value.find("\"object\"") != value.npos;
        array = value.find("\"array\"") != value.npos;
      } else if (key == "$defs" || key == "definitions") {
        ++definitions_;
        fine = fine && all_fit(value, level);
        --definitions_;
      } else if (key == "anyOf") {
        json::walk::elements(value, [&](std::string_view s) {
          typed = true;
          fine = fine && fits(s, level);
        });
      } else {
        fine = fine && (is_plain_word(key) || takes(key, value));
      }
    });
    if (!fine) return false;
    if (!reference.empty()) return alone && leads_on(reference);
    if (!typed || (array && items.empty()) || (!items.empty() && !fits(items, level + 1))) return false;
    if (!object && properties.empty()) return true;
    return additional == "false" && (properties.empty() || all_fit(properties, level + 1)) &&
           complete(properties, required);
  }

 private:
  bool all_fit(std::string_view map, int level) {
    bool fine = json::walk::is_object(map);
    json::walk::members(map, [&](std::string_view, std::string_view s) { fine = fine && fits(s, level); });
    return fine;
  }

  // Returns true if each property is required.
  static bool complete(std::string_view properties, std::string_view required) {
    std::vector<std::string> names;
    json::walk::elements(required, [&](std::string_view name) { names.push_back(json::walk::text(name)); });
    bool fine = true;
    json::walk::members(properties, [&](std::string_view key, std::string_view) {
      fine = fine && std::ranges::find(names, key) != names.end();
    });
    return fine;
  }

  // Returns true if strict mode accepts the reference. Anthropic refuses recursive definitions, so for it a definition
  // must not refer to another one.
  bool leads_on(std::string_view reference) const {
    const auto to = json::walk::text(reference);
    return (to.starts_with("#/$defs/") || to.starts_with("#/definitions/")) && !(anthropic_ && definitions_ > 0);
  }

  // Returns true for keywords that only some APIs accept, or only with some values.
  bool takes(std::string_view key, std::string_view value) const {
    if (key == "format") return is_strict_format(value);
    if (anthropic_) return key == "minItems" && (value == "0" || value == "1");
    if (key == "pattern") return is_plain_pattern(json::walk::text(value));
    constexpr std::array<std::string_view, 8> openai{"$schema",          "minimum",    "maximum",  "exclusiveMinimum",
                                                     "exclusiveMaximum", "multipleOf", "minItems", "maxItems"};
    return is_among(key, openai);
  }

  bool anthropic_;
  int definitions_ = 0;  // number of open `$defs` around the walk
};

}  // namespace

bool is_strict_schema(std::string_view schema, strict_rules rules) {
  return json::walk::find(schema, "type") == "\"object\"" && json::walk::find(schema, "anyOf").empty() &&
         strict_judge(rules).fits(schema, 1);
}

}  // namespace mcpbx::providers::wire
