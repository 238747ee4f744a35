// Gathers each schema from its references and the branches of allOf, then writes it with the keywords of the API.
#include "providers/schema/adapt/reduce.hpp"

#include "mcp/json/json_walk.hpp"
#include "mcp/support/percent.hpp"
#include "mcp/support/text.hpp"
#include "providers/schema/adapt/keywords.hpp"
#include "providers/wire/registry/registry.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <forward_list>
#include <functional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace mcpbx::providers::adapt {
namespace {

constexpr int max_reduced_depth = 32;
constexpr std::size_t max_size = 256 * 1024;
constexpr std::size_t max_work = 32u << 20;
constexpr std::ptrdiff_t max_unrolled = 3;  // resolutions of a reference inside itself
constexpr std::size_t max_told = 200;       // bytes of a value or a name in a description

bool is_one_of(std::string_view word, std::span<const std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

// Returns true for keywords that are dropped silently: a model could not heed them, or they are expressed elsewhere.
bool is_silent(std::string_view key) {
  constexpr std::array<std::string_view, 17> silent{"$schema",
                                                    "$id",
                                                    "$anchor",
                                                    "$comment",
                                                    "$defs",
                                                    "definitions",
                                                    "$dynamicRef",
                                                    "$vocabulary",
                                                    "title",
                                                    "readOnly",
                                                    "writeOnly",
                                                    "$dynamicAnchor",
                                                    "then",
                                                    "else",
                                                    "additionalProperties",
                                                    "unevaluatedProperties",
                                                    "unevaluatedItems"};
  return is_one_of(key, silent);
}

// Unescapes one step of a JSON pointer (RFC 6901, and percent signs of a URI fragment).
std::string step_of(std::string_view text) {
  const std::string plain = percent_decoded(text);
  std::string out;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    if (plain[i] == '~' && i + 1 < plain.size() && (plain[i + 1] == '0' || plain[i + 1] == '1'))
      out += plain[++i] == '0' ? '~' : '/';
    else
      out += plain[i];
  }
  return out;
}

struct named {
  std::string_view name, value;  // the unescaped name; the value as a JSON token
};

// Distinct members in order. A long list has an index, so that an object of a hundred thousand members takes linear
// time.
class named_list {
 public:
  bool contains(std::string_view name) const {
    if (!index_.empty()) return index_.contains(name);
    return std::ranges::find(entries_, name, &named::name) != entries_.end();
  }
  /// Adds `n` unless the list has its name already.
  void add(named n) {
    if (contains(n.name)) return;
    if (entries_.empty()) entries_.reserve(few / 3);  // enough for nearly all schemas
    entries_.push_back(n);
    if (entries_.size() == few)
      for (const auto& e : entries_) index_.insert(e.name);
    else if (!index_.empty())
      index_.insert(n.name);
  }
  bool empty() const { return entries_.empty(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }

 private:
  static constexpr std::size_t few = 24;
  std::vector<named> entries_;
  std::unordered_set<std::string_view> index_;
};

// A schema merged with its references and the branches of allOf. All views point into the root's text.
struct gathered {
  named_list words;  // keywords but properties and required
  named_list properties;
  named_list required;                 // only the names are used
  std::vector<std::string_view> refs;  // references that were followed
  std::string_view cut;                // recursive reference that was not followed, or ""
  bool object = false;                 // the schema has properties
};

// Writes all subschemas into one text, so that deep schemas cost no copies from level to level.
class reducer {
 public:
  reducer(std::string_view root, const wire::schema_rules& rules) : root_(root), rules_(rules) {
    out_.reserve(root.size() + root.size() / 8);
  }

  std::string run() {
    write(root_, 0);
    return std::move(out_);
  }

 private:
  void write(std::string_view schema, int depth) {
    if (!json::walk::is_object(schema) || depth > max_reduced_depth || size_ > max_size) {
      out_ += "{}";
      return;
    }
    const auto from = out_.size();
    gathered g;
    gather(schema, 0, g);
    refs_.insert(refs_.end(), g.refs.begin(), g.refs.end());
    write(g, depth);
    refs_.resize(refs_.size() - g.refs.size());
    size_ += out_.size() - from;
  }

  std::string_view target(std::string_view ref) const {
    if (ref == "#") return root_;
    if (!ref.starts_with("#/")) return {};
    auto at = root_;
    ref.remove_prefix(2);
    for (bool more = true; more && !at.empty();) {
      const auto end = ref.find('/');
      more = end != std::string_view::npos;
      at = json::walk::find(at, step_of(ref.substr(0, end)));
      ref.remove_prefix(more ? end + 1 : ref.size());
    }
    return at;
  }

  // Returns true if a name is a view into the text, and so has no escapes and needs none.
  bool is_plain_text(std::string_view name) const {
    const std::less_equal<const char*> before;
    return before(root_.data(), name.data()) && before(name.data() + name.size(), root_.data() + root_.size());
  }
  // Returns the name as a view that stays valid: an unescaped copy is stored here.
  std::string_view kept(std::string_view name) {
    return is_plain_text(name) ? name : std::string_view(unescaped_.emplace_front(name));
  }
  void write_name(std::string_view name) {
    if (!is_plain_text(name)) return json::append_quoted(out_, name);
    out_ += '"';
    out_.append(name);
    out_ += '"';
  }
  // Returns the text of a string token; "" for other tokens.
  std::string_view text_of(std::string_view token) {
    if (!json::walk::is_string(token)) return {};
    if (token.find('\\') != std::string_view::npos) return unescaped_.emplace_front(json::unescaped(token));
    return token.substr(1, token.size() - 2);
  }

  void gather(std::string_view schema, int depth, gathered& g) {
    work_ += schema.size();
    if (depth > max_reduced_depth || work_ > max_work) return;
    std::string_view ref, all;
    json::walk::members(schema, [&](std::string_view key, std::string_view value) {
      if (key == "$ref") {
        ref = value;
      } else if (key == "allOf") {
        all = value;
      } else if (key == "properties") {
        g.object = g.object || json::walk::is_object(value);
        json::walk::members(value, [&](std::string_view name, std::string_view s) {
          if (json::walk::is_object(s) || s == "true") g.properties.add({kept(name), s});
        });
      } else if (key == "required") {
        json::walk::elements(value, [&](std::string_view name) { g.required.add({text_of(name), {}}); });
      } else {
        g.words.add({kept(key), value});
      }
    });
    if (const auto name = text_of(ref); !name.empty()) {
      const auto followed = std::ranges::count(refs_, name) + std::ranges::count(g.refs, name);
      work_ += root_.size();
      const auto to = work_ <= max_work ? target(name) : std::string_view();
      if (json::walk::is_object(to) && followed >= max_unrolled) {
        g.cut = name;
      } else if (json::walk::is_object(to)) {
        g.refs.push_back(name);
        gather(to, depth + 1, g);
      }
    }
    json::walk::elements(all, [&](std::string_view branch) { gather(branch, depth + 1, g); });
  }

  // Writes a comma unless the next item is the first behind the bracket at `opened`.
  void comma(std::size_t opened) {
    if (out_.size() > opened + 1) out_ += ',';
  }
  // Begins a member of the object whose brace is at `opened`.
  void key(std::size_t opened, std::string_view name) {
    comma(opened);
    out_ += '"';
    out_.append(name);
    out_ += "\":";
  }

  void list(std::string_view schemas, int depth) {
    const auto opened = out_.size();
    out_ += '[';
    json::walk::elements(schemas, [&](std::string_view s) {
      comma(opened);
      write(s, depth + 1);
    });
    out_ += ']';
  }

  void write(const gathered& g, int depth) {
    const auto opened = out_.size();
    out_ += '{';
    std::string told;
    const auto tell = [&](std::string_view name, std::string_view value) {
      if (!told.empty()) told += "; ";
      told.append(name).append(": ");
      const auto cut = cut_utf8(value, max_told);
      told.append(cut).append(cut.size() < value.size() ? "…" : "");
    };
    if (!g.cut.empty()) told = recursion(g.cut);
    std::string_view description;
    for (const auto& [name, value] : g.words) {
      if (name == "description") {
        description = value;
      } else if (name == "type") {
        key(opened, name);
        out_ += value;
      } else if (name == "enum" || (name == "const" && !g.words.contains("enum"))) {
        if (!write_values(opened, value, name == "const")) tell("one of", name == "const" ? in_list(value) : value);
      } else if (name == "anyOf" || (name == "oneOf" && !g.words.contains("anyOf"))) {
        const auto before = out_.size();
        key(opened, "anyOf");
        list(value, depth);
        if (out_.ends_with("[]")) out_.resize(before);
      } else if (name == "items") {
        key(opened, name);
        write(value, depth + 1);
      } else if (name == "prefixItems" && rules_.prefix_items) {
        key(opened, name);
        list(value, depth);
      } else if (name == "additionalProperties" && rules_.additional_properties) {
        key(opened, name);
        if (json::walk::is_object(value))
          write(value, depth + 1);
        else
          out_ += value;
      } else if (is_one_of(name, rules_.kept)) {
        key(opened, name);
        out_ += value;
      } else if (!is_silent(name)) {
        tell(name, value);
      }
    }
    if (!description.empty() || !told.empty()) {
      key(opened, "description");
      write_description(description, told);
    }
    if (g.object || !g.properties.empty()) write_properties(opened, g, depth);
    out_ += '}';
  }

  // Describes a reference that is not followed again. The model has read its form further out.
  static std::string recursion(std::string_view ref) {
    if (ref == "#") return "of the form of all arguments";
    const auto name = step_of(ref.substr(ref.rfind('/') + 1));
    return "of the form of the \"" + std::string(cut_utf8(name, max_told)) + "\" that it is part of";
  }

  void write_description(std::string_view token, std::string_view told) {
    if (told.empty() && json::walk::is_string(token) && token.find('\\') == std::string_view::npos) {
      out_ += token;  // as it would be written
      return;
    }
    auto text = json::walk::text(token);
    if (!told.empty()) text.append(text.empty() ? "(" : " (").append(told).append(")");
    json::append_quoted(out_, text);
  }

  void write_properties(std::size_t opened, const gathered& g, int depth) {
    key(opened, "properties");
    const auto properties = out_.size();
    out_ += '{';
    for (const auto& [name, schema] : g.properties) {
      comma(properties);
      write_name(name);
      out_ += ':';
      write(schema, depth + 1);
    }
    out_ += '}';
    const auto before = out_.size();
    key(opened, "required");
    const auto required = out_.size();
    out_ += '[';
    for (const auto& r : g.required) {
      if (!g.properties.contains(r.name)) continue;
      comma(required);
      write_name(r.name);
    }
    out_ += ']';
    if (out_.ends_with("[]")) out_.resize(before);
  }

  static std::string in_list(std::string_view value) { return "[" + std::string(value) + "]"; }

  // Writes the member `enum`: `value` itself, or a list of it alone. Returns false if the API does not accept all of
  // it.
  bool write_values(std::size_t opened, std::string_view value, bool only) {
    const auto is_plain = [](std::string_view v) {
      return v.front() == '"' || v.front() == '-' || (v.front() >= '0' && v.front() <= '9');
    };
    bool plain = true;
    const auto look = [&](std::string_view v) { plain = plain && is_plain(v); };
    if (only)
      look(value);
    else
      json::walk::elements(value, look);
    if (plain || !rules_.plain_enums) {
      if (!only && !is_filled(value)) return true;
      key(opened, "enum");
      if (only)
        out_.append("[").append(value).append("]");
      else
        out_ += value;
      return true;
    }
    const auto before = out_.size();
    key(opened, "enum");
    const auto list = out_.size();
    out_ += '[';
    if (!only)
      json::walk::elements(value, [&](std::string_view v) {
        if (!is_plain(v)) return;
        comma(list);
        out_ += v;
      });
    out_ += ']';
    if (out_.ends_with("[]")) out_.resize(before);
    return false;
  }

  std::string_view root_;
  const wire::schema_rules& rules_;
  std::string out_;
  std::forward_list<std::string> unescaped_;  // copies of names that had escapes
  std::vector<std::string_view> refs_;        // references followed between the root and here
  std::size_t size_ = 0;                      // bytes written
  std::size_t work_ = 0;                      // bytes read
};

}  // namespace

json::raw_json reduce_schema(const json::raw_json& schema, const wire::schema_rules& rules) {
  return json::raw_json::own(reducer(schema.text(), rules).run());
}

json::raw_json schema_for(std::string_view api, const json::raw_json& schema) {
  const auto* known = registry::find_api(api);
  return known != nullptr && known->schema.partial ? reduce_schema(schema, known->schema) : schema;
}

}  // namespace mcpbx::providers::adapt
