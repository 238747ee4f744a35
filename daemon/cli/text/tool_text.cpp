// Puts JSON Schema into words. Definitions are foreign: unknown forms are shown as `any`, and rows are bounded.
#include "daemon/cli/text/tool_text.hpp"

#include "mcp/redact/hidden_text.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace mcpbx::cli::text {
namespace {

constexpr int deepest = 3;
constexpr std::size_t most_rows = 200;
// Largest number of schemas that are looked at for one table: references may multiply them.
constexpr std::size_t most_schemas = 1000;

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  std::string all;
  for (const auto& w : words) all.append(all.empty() ? "" : between).append(w);
  return all;
}

std::string word_of(const json::raw_json& value) {
  return value.as_string().value_or(std::string(value.text()));
}

/// One tool's schema, with the definitions that its `$ref`s point to.
class argument_rows {
 public:
  argument_rows(const json::raw_json& root, terminals::fitted_table& table) : root_(root), table_(table) {}

  void add_members(const json::raw_json& object, const std::string& prefix, int depth) {
    const auto members = json::raw_object::open(json::find_member(object, "properties"));
    if (!members) return;
    const json::raw_json required = json::find_member(object, "required");
    members->for_each([&](std::string_view key, const json::raw_json& written) {
      if (++count_ > most_rows) return;
      const json::raw_json schema = resolved(written, 0);
      bool needed = false;
      json::for_each_element(required, [&](const json::raw_json& name) { return !(needed = name.as_string() == key); });
      const std::string name = prefix + std::string(key);
      table_.add({{{name, terminals::look::bold}, type_of(schema, 0), needed ? "yes" : "no", text_of(schema)}});
      if (depth >= deepest) return;
      add_members(schema, name + ".", depth + 1);
      add_members(resolved(json::find_member(schema, "items"), 0), name + "[].", depth + 1);
    });
  }
  std::size_t omitted() const { return count_ > most_rows ? count_ - most_rows : 0; }

 private:
  // Follows `$ref` to a place in the same schema.
  json::raw_json resolved(const json::raw_json& schema, int depth) const {
    std::string path = json::member_text(schema, "$ref");
    if (path == "#") return root_;
    if (!path.starts_with("#/") || depth > deepest) return schema;
    json::raw_json at = root_;
    for (std::size_t from = 2; from != 0;) {
      const auto slash = path.find('/', from);
      at = json::find_member(at, path.substr(from, slash - from));
      from = slash + 1;  // 0 behind the last step
    }
    return at ? resolved(at, depth + 1) : schema;
  }

  std::string type_of(const json::raw_json& schema, int depth) const {
    if (++schemas_ > most_schemas) return "any";
    std::vector<std::string> types;
    const auto add = [&](std::string type) {
      if (std::ranges::find(types, type) == types.end()) types.push_back(std::move(type));
    };
    const json::raw_json type = json::find_member(schema, "type");
    if (const auto one = type.as_string()) add(named_type(*one, schema, depth));
    json::for_each_element(type, [&](const json::raw_json& one) {
      add(named_type(word_of(one), schema, depth));
      return true;
    });
    if (types.empty() && depth < deepest)
      for (const std::string_view choice : {"anyOf", "oneOf"})
        json::for_each_element(json::find_member(schema, choice), [&](const json::raw_json& one) {
          add(type_of(resolved(one, 0), depth + 1));
          return true;
        });
    if (types.empty() && json::find_member(schema, "properties")) add("object");
    if (types.empty()) add("any");
    return joined(types, " or ");
  }

  std::string named_type(const std::string& type, const json::raw_json& schema, int depth) const {
    const json::raw_json items = json::find_member(schema, "items");
    if (type != "array" || !items.is_object() || depth >= deepest) return type;
    return "array of " + type_of(resolved(items, 0), depth + 1);
  }

  // Returns the description, with further rules for values in parentheses.
  std::string text_of(const json::raw_json& schema) const {
    std::vector<std::string> rules, choices;
    json::for_each_element(json::find_member(schema, "enum"), [&](const json::raw_json& value) {
      choices.push_back(word_of(value));
      return true;
    });
    if (!choices.empty()) rules.push_back("one of: " + joined(choices, ", "));
    struct rule {
      std::string_view key, before, after = "";
    };
    static constexpr std::array<rule, 10> known{{{"const", "always "},
                                                 {"default", "default "},
                                                 {"format", "format "},
                                                 {"pattern", "pattern "},
                                                 {"minimum", "at least "},
                                                 {"maximum", "at most "},
                                                 {"exclusiveMinimum", "more than "},
                                                 {"exclusiveMaximum", "less than "},
                                                 {"maxLength", "at most ", " characters"},
                                                 {"maxItems", "at most ", " elements"}}};
    for (const auto& r : known)
      if (const json::raw_json value = json::find_member(schema, r.key))
        rules.push_back(std::string(r.before) + word_of(value) + std::string(r.after));
    const std::string text = json::member_text(schema, "description");
    if (rules.empty()) return text;
    return text + (text.empty() ? "" : " ") + "(" + joined(rules, "; ") + ")";
  }

  json::raw_json root_;
  terminals::fitted_table& table_;
  std::size_t count_ = 0;
  mutable std::size_t schemas_ = 0;  // looked at so far
};

std::string annotations_in_words(const json::raw_json& definition) {
  struct hint {
    std::string_view key, yes, no;
  };
  static constexpr std::array<hint, 4> hints{{{"readOnlyHint", "read-only", "may change things"},
                                              {"destructiveHint", "may destroy", "destroys nothing"},
                                              {"idempotentHint", "repeatable", "not repeatable"},
                                              {"openWorldHint", "reaches the outside", "reaches nothing outside"}}};
  std::vector<std::string> words;
  if (const auto members = json::raw_object::open(json::find_member(definition, "annotations")))
    members->for_each([&](std::string_view key, const json::raw_json& value) {
      if (key == "title") return;
      const auto* known = std::ranges::find(hints, key, &hint::key);
      if (known == hints.end() || (value.text() != "true" && value.text() != "false"))
        words.push_back(std::string(key) + " " + word_of(value));
      else
        words.emplace_back(value.is_true() ? known->yes : known->no);
    });
  return joined(words, ", ");
}

}  // namespace

std::string summary_of(const json::raw_json& definition) {
  const std::string text = json::member_text(definition, "description");
  return text.substr(0, text.find('\n'));
}

std::vector<terminals::styled> tool_lines(const json::raw_json& list, std::size_t width, std::string_view mark) {
  std::vector<std::pair<std::string, std::string>> tools;
  std::size_t widest = 0;
  json::for_each_element(list, [&](const json::raw_json& tool) {
    tools.emplace_back(redact::printable(json::member_text(tool, "name")), redact::printable(summary_of(tool)));
    if (const auto used = terminals::display_columns(tools.back().first); used <= width * 2 / 5)
      widest = std::max(widest, used);
    return true;
  });
  const std::size_t begin = std::max<std::size_t>(widest + 2, 4), room = width > begin ? width - begin : 1;
  std::vector<terminals::styled> lines;
  for (auto& [name, text] : tools) {
    const auto used = terminals::display_columns(name);
    const bool below = used > widest;
    text = terminals::cut_columns(text, room, mark);
    terminals::styled line(terminals::look::bold, std::move(name));
    if (below) lines.push_back(std::exchange(line, terminals::styled("")));
    if (!text.empty()) line = line + std::string(begin - (below ? 0 : used), ' ') + text;
    if (!below || !text.empty()) lines.push_back(std::move(line));
  }
  return lines;
}

terminals::fitted_table tool_facts(const json::raw_json& definition, const std::string& server) {
  terminals::fitted_table table({{""}, {""}});
  table.wrap_last();
  const auto add = [&](const char* what, std::string value, terminals::look how = terminals::look::plain) {
    if (!value.empty())
      table.add({{terminals::fitted_table::cell(what, terminals::look::dim), {std::move(value), how}}});
  };
  const json::raw_json annotations = json::find_member(definition, "annotations");
  const std::string title = json::member_text(definition, "title");
  add("name", json::member_text(definition, "name"), terminals::look::bold);
  add("server", server);
  add("title", title.empty() ? json::member_text(annotations, "title") : title);
  add("description", json::member_text(definition, "description"));
  add("annotations", annotations_in_words(definition));
  return table;
}

terminals::fitted_table argument_table(const json::raw_json& schema) {
  terminals::fitted_table table({{"ARGUMENT"}, {"TYPE"}, {"REQUIRED"}, {"DESCRIPTION"}});
  table.wrap_last();
  argument_rows rows(schema, table);
  rows.add_members(schema, "", 1);
  if (rows.omitted() > 0) table.add({{"… and others"}});
  return table;
}

}  // namespace mcpbx::cli::text
