// Look-up of tools and conversion of arguments. Schemas are only scanned for the types of their first level, not
// compiled.
#include "providers/text/marks/offered_tools.hpp"

#include "mcp/json/json_walk.hpp"
#include "mcp/json/json_writer.hpp"
#include "providers/model/arguments.hpp"
#include "providers/model/json_repair.hpp"
#include "providers/model/names.hpp"
#include "providers/text/marks/text_scan.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace mcpbx::providers::text::marks {
namespace {

enum types : unsigned {
  none = 0,
  string_type = 1,
  number_type = 2,
  boolean_type = 4,
  null_type = 8,
  array_type = 16,
  object_type = 32
};

unsigned type_of_word(std::string_view word) {
  if (word == "string") return string_type;
  if (word == "number" || word == "integer") return number_type;
  if (word == "boolean") return boolean_type;
  if (word == "null") return null_type;
  if (word == "array") return array_type;
  return word == "object" ? object_type : none;
}

unsigned type_of_value(std::string_view value) {
  if (json::walk::is_string(value)) return string_type;
  if (json::walk::is_object(value)) return object_type;
  if (json::walk::is_array(value)) return array_type;
  if (value == "null") return null_type;
  return value == "true" || value == "false" ? boolean_type : number_type;
}

// Returns the JSON that a text means for these types; "" if it stays a string.
std::string typed(std::string_view text, unsigned wanted) {
  if (wanted == none || (wanted & string_type) != 0) return {};
  const auto word = trimmed(text);
  if ((wanted & boolean_type) != 0) {
    if (word == "true" || word == "True" || word == "TRUE") return "true";
    if (word == "false" || word == "False" || word == "FALSE") return "false";
  }
  if ((wanted & null_type) != 0 && (word == "null" || word == "None")) return "null";
  const bool number = (wanted & number_type) != 0, list = (wanted & array_type) != 0, map = (wanted & object_type) != 0;
  if ((number && !word.empty() && (word.front() == '-' || (word.front() >= '0' && word.front() <= '9'))) ||
      (list && word.starts_with('[')) || (map && word.starts_with('{')))
    if (const auto value = json::raw_json::parse(word, max_argument_depth)) return std::string(value->text());
  if ((list && word.starts_with('[')) || (map && word.starts_with('{'))) {
    auto value = repair_json_value(word);
    if (value && json::raw_json::parse(value->text, max_argument_depth)) return std::move(value->text);
  }
  return {};
}

constexpr int max_types_depth = 8;

// Index of a tool's properties. Built in one walk through the schema, which may be long and is needed for every
// argument.
class tool_properties {
 public:
  explicit tool_properties(const tool_definition* tool) {
    if (tool == nullptr) return;
    const auto name_in = [](auto& schemas) {
      return [&schemas](std::string_view name, std::string_view schema) { schemas[std::string(name)] = schema; };
    };
    json::walk::members(tool->schema.text(), [&](std::string_view key, std::string_view value) {
      if (key == "properties") {
        schemas_.clear();
        json::walk::members(value, name_in(schemas_));
      }
      if (key == "$defs" || key == "definitions")
        json::walk::members(value, name_in(key == "$defs" ? defs_ : definitions_));
    });
  }
  bool has(const std::string& name) const { return schemas_.contains(name); }
  std::size_t size() const { return schemas_.size(); }
  // Returns the types that a property accepts; `none`: no such property.
  unsigned types_for(const std::string& name) {
    const auto found = schemas_.find(name);
    return found == schemas_.end() ? none : types_of(found->second, 0);
  }
  // Returns an element as JSON, or "" if a name stands twice in it.
  std::string json_of(const argument_tree& tree, std::string_view schema) {
    const auto wanted = schema.empty() ? none : types_of(schema, 0);
    if (tree.children.empty()) {
      const bool blank = trimmed(tree.text).empty();
      if (blank && wanted == array_type) return "[]";
      if (blank && wanted == object_type) return "{}";
      auto value = typed(tree.text, wanted);
      return value.empty() ? json::json_quoted(tree.text) : value;
    }
    const bool items = std::ranges::all_of(tree.children, [](const auto& c) { return c.name == "item"; });
    const bool list = items && (wanted & object_type) == 0;
    const auto inner = json::walk::find(schema, list ? "items" : "properties");
    std::unordered_set<std::string_view> names;
    std::string json(1, list ? '[' : '{');
    for (const auto& child : tree.children) {
      if (!list && !names.insert(child.name).second) return {};
      const auto value = json_of(child, list || inner.empty() ? inner : json::walk::find(inner, child.name));
      if (value.empty()) return {};
      if (json.size() > 1) json += ',';
      if (!list) (json += json::json_quoted(child.name)) += ':';
      json += value;
    }
    return json += list ? ']' : '}';
  }

 private:
  using named_schemas = std::unordered_map<std::string, std::string_view>;

  // Returns the types that a schema accepts by its first level; `none`: it does not say. Visits each schema once,
  // because references may be many, or circular.
  unsigned types_of(std::string_view schema, int depth) {
    if (depth > max_types_depth) return none;
    if (const auto [known, fresh] = types_.try_emplace(schema.data(), none); !fresh) return known->second;
    unsigned found = none;
    json::walk::members(schema, [&](std::string_view key, std::string_view value) {
      if (key == "type") {
        if (json::walk::is_string(value)) found |= type_of_word(json::unescaped(value));
        json::walk::elements(value, [&](std::string_view word) { found |= type_of_word(json::walk::text(word)); });
      } else if (key == "enum") {
        json::walk::elements(value, [&](std::string_view one) { found |= type_of_value(one); });
      } else if (key == "const") {
        found |= type_of_value(value);
      } else if (key == "anyOf" || key == "oneOf") {
        json::walk::elements(value, [&](std::string_view branch) { found |= types_of(branch, depth + 1); });
      } else if (key == "$ref") {
        const auto ref = json::walk::text(value);
        if (ref.starts_with(defs_home)) found |= types_in(defs_, ref.substr(defs_home.size()), depth + 1);
        if (ref.starts_with(definitions_home))
          found |= types_in(definitions_, ref.substr(definitions_home.size()), depth + 1);
      }
    });
    return types_[schema.data()] = found;
  }
  unsigned types_in(const named_schemas& home, const std::string& name, int depth) {
    const auto found = home.find(name);
    return found == home.end() ? none : types_of(found->second, depth);
  }

  static constexpr std::string_view defs_home = "#/$defs/", definitions_home = "#/definitions/";
  named_schemas schemas_, defs_, definitions_;
  std::unordered_map<const char*, unsigned> types_;  // types by the schema's position in the text
};

// Converts strings of the first level where the schema accepts no string.
void fit_types(tool_call_block& call, const tool_definition* tool) {
  if (tool == nullptr || !call.arguments.is_object()) return;
  auto opened = json::raw_object::open(call.arguments);
  if (!opened) return;
  bool changed = false;
  std::vector<std::pair<std::string, std::string>> better;
  tool_properties properties(tool);
  opened->for_each([&](std::string_view key, const json::raw_json& value) {
    if (!value.is_string()) return;
    auto json = typed(value.as_string().value_or(""), properties.types_for(std::string(key)));
    if (!json.empty()) better.emplace_back(key, std::move(json));
  });
  for (auto& [key, json] : better) {
    opened->set(key, json::raw_json::own(json));
    changed = true;
  }
  if (changed) call.arguments = on_one_line(opened->json());
}

// Returns the name of the only required property if it is a string; else "".
std::string only_text(const tool_definition* tool) {
  if (tool == nullptr) return {};
  std::vector<std::string> needed;
  json::walk::elements(json::walk::find(tool->schema.text(), "required"),
                       [&](std::string_view name) { needed.push_back(json::walk::text(name)); });
  const bool one = needed.size() == 1 && (tool_properties(tool).types_for(needed[0]) & string_type) != 0;
  return one ? needed[0] : std::string();
}

void wrap(tool_call_block& call, const tool_definition* tool, std::string_view words) {
  const auto name = only_text(tool);
  // The argument's name with a value behind it: the end of the value is not certain.
  const auto behind =
      !name.empty() && words.starts_with(name) ? trimmed(words.substr(name.size())) : std::string_view();
  if (behind.starts_with('=') || behind.starts_with(':')) return wrap(call, nullptr, words);
  if (!name.empty()) {
    call.arguments = json::raw_json::own("{" + json::json_quoted(name) + ":" + json::json_quoted(words) + "}");
  } else if (takes_nothing(tool)) {
    call.arguments = json::raw_json::literal("{}");
  } else {
    call.problem =
        "The arguments are not a JSON object, so the tool was not run. Call it again with one JSON object as "
        "arguments.";
  }
}

bool means_nothing(std::string_view words) {
  for (const std::string_view word : {"", "null", "None", "none", "N/A", "n/a", "-", "{}"})
    if (words == word) return true;
  return false;
}

std::string_view meant_name(std::string_view written) {
  for (;;) {
    const auto name = without_namespace(cleaned_name(written));
    if (name.size() == written.size()) return name;
    written = name;
  }
}

}  // namespace

const tool_definition* offered_tools::find(std::string_view written) const {
  if (!set_) return nullptr;
  const auto name = meant_name(written);
  if (!index_) {
    auto all = std::make_shared<by_letters>();
    all->reserve(set_->tools.size());
    for (const auto& tool : set_->tools) all->emplace(lowered(tool.name), &tool);
    index_ = std::move(all);
  }
  const auto [first, last] = index_->equal_range(lowered(name));
  const tool_definition* alike = nullptr;
  int many = 0;
  for (auto i = first; i != last; ++i) {
    if (i->second->name == name) return i->second;
    alike = i->second;
    ++many;
  }
  return many == 1 ? alike : nullptr;
}

std::string offered_tools::resolve(std::string_view written) const {
  const auto* tool = find(written);
  return tool != nullptr ? tool->name : std::string(meant_name(written));
}

void set_arguments(tool_call_block& call, const tool_definition* tool, std::string_view json) {
  call.arguments_text = json;
  json = trimmed(json);
  if (json::walk::is_string(json)) {
    const auto words = json::unescaped(json);
    if (!trimmed(words).starts_with('{')) {
      if (means_nothing(trimmed(words)))
        call.arguments = json::raw_json::literal("{}");
      else
        wrap(call, tool, words);
      return;
    }
  }
  read_arguments(call);
  fit_types(call, tool);
}

void set_arguments_text(tool_call_block& call, const tool_definition* tool, std::string_view words) {
  call.arguments_text = words;
  words = trimmed(words);
  if (words.starts_with('{')) {
    read_arguments(call);
    fit_types(call, tool);
  } else if (words.starts_with('"') && json::raw_json::parse(words, 1)) {
    set_arguments(call, tool, words);
  } else if (means_nothing(words)) {
    call.arguments = json::raw_json::literal("{}");
  } else {
    if (words.size() > 2 && (words.front() == '`' || words.front() == '\'') && words.back() == words.front() &&
        words.find(words.front(), 1) == words.size() - 1)
      words = words.substr(1, words.size() - 2);
    // An object that lost its first bracket must not become text.
    const bool closed = words.ends_with('}');
    const bool rest_of_object = words.starts_with('"') || words.find("\":") != words.npos ||
                                (closed && (words.find('{') == words.npos || words.substr(1).starts_with('"')));
    wrap(call, rest_of_object ? nullptr : tool, words);
  }
}

void set_untyped(tool_call_block& call, const tool_definition* tool, const std::vector<untyped_argument>& arguments) {
  // The last argument of a name counts, as in JSON.
  std::unordered_map<std::string_view, const untyped_argument*> last;
  for (const auto& a : arguments) last[a.name] = &a;
  tool_properties properties(tool);
  std::string json;
  json::json_writer w(json);
  w.begin_object();
  for (const auto& a : arguments) {
    if (last[a.name] != &a) continue;
    w.key(a.name);
    if (a.as == untyped_argument::written::json) {
      const auto value = json::raw_json::parse(trimmed(a.text), max_argument_depth);
      if (!value) {
        call.problem = "The value of the argument \"" + a.name + "\" is no JSON (" + value.error().message +
                       "), so the tool was not run. Call it again with a value that is.";
        return;
      }
      w.value(*value);
      continue;
    }
    const auto wanted = properties.types_for(a.name);
    const auto value = typed(a.text, wanted);
    const auto word = trimmed(a.text);
    const bool string = a.as == untyped_argument::written::text;
    if (!value.empty())
      w.token(value);
    else if (!string && (wanted & null_type) != 0 && (word == "null" || word == "None"))
      w.token("null");
    else
      w.value(a.text);
  }
  w.end_object();
  call.arguments_text = json;
  call.arguments = on_one_line(json::raw_json::own(json));
}

void set_tree(tool_call_block& call, const tool_definition* tool, const argument_tree& tree) {
  const std::string_view anything = R"({"type":"object"})";
  const auto schema = tool == nullptr || tool->schema.empty() ? anything : tool->schema.text();
  const auto json = tree.children.empty() ? std::string("{}") : tool_properties(tool).json_of(tree, schema);
  call.arguments_text = json;
  if (json.empty())
    call.problem = "A parameter stands twice, so the tool was not run. Call it again with each parameter once.";
  else
    call.arguments = on_one_line(json::raw_json::own(json));
}

bool takes_nothing(const tool_definition* tool) {
  return takes_no_more(tool, {});
}

bool takes_no_more(const tool_definition* tool, const std::vector<untyped_argument>& arguments) {
  if (tool == nullptr) return false;
  const tool_properties properties(tool);
  std::unordered_set<std::string_view> given;
  for (const auto& a : arguments)
    if (properties.has(a.name)) given.insert(a.name);
  return given.size() == properties.size();
}

bool has_property(const tool_definition* tool, std::string_view name) {
  return tool != nullptr && !json::walk::find(json::walk::find(tool->schema.text(), "properties"), name).empty();
}

bool knows_all_but(const tool_definition* tool, std::string_view name) {
  if (tool == nullptr || has_property(tool, name) || takes_nothing(tool)) return false;
  const auto others = json::walk::find(tool->schema.text(), "additionalProperties");
  return others.empty() || others == "false";
}

}  // namespace mcpbx::providers::text::marks
