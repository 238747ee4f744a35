// One schema is first gathered from its references and the branches of allOf, then written in the words of the API.
#include "providers/schema/reduce.hpp"

#include "mcp/support/text.hpp"
#include "providers/model/json_walk.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

namespace mcpbx::providers {
namespace {

constexpr int max_depth = 32;
constexpr std::size_t max_size = 256 * 1024;
constexpr std::size_t max_work = 32u << 20;
constexpr std::ptrdiff_t max_unrolled = 2;  // of a reference inside of itself
constexpr std::size_t max_told = 200;       // bytes of a value in a description

bool is_one_of(std::string_view word, std::span<const std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

// What is lost without a word: it says nothing that a model could heed, or is written elsewhere.
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

// A JSON pointer's step, unescaped (RFC 6901, and percent signs of a URI fragment).
std::string step_of(std::string_view text) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10; };
  const auto is_hex = [](char c) { return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f'); };
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && is_hex(text[i + 1]) && is_hex(text[i + 2])) {
      plain += static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2]));
      i += 2;
    } else {
      plain += text[i];
    }
  }
  std::string out;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    if (plain[i] == '~' && i + 1 < plain.size() && (plain[i + 1] == '0' || plain[i + 1] == '1'))
      out += plain[++i] == '0' ? '~' : '/';
    else
      out += plain[i];
  }
  return out;
}

// A schema with what its references and allOf say: views into the root's text.
struct gathered {
  std::vector<std::pair<std::string, std::string_view>> words;  // in order, properties and required left out
  std::vector<std::pair<std::string, std::string_view>> properties;
  std::vector<std::string> required;
  std::vector<std::string> refs;  // that were followed
  bool object = false;            // it has properties

  std::string_view find(std::string_view key) const {
    for (const auto& [k, v] : words)
      if (k == key) return v;
    return {};
  }
};

class reducer {
 public:
  reducer(std::string_view root, const api_words& words) : root_(root), words_(words) {}

  std::string write(std::string_view schema, int depth) {
    if (!walk::is_object(schema) || depth > max_depth || size_ > max_size) return "{}";
    gathered g;
    gather(schema, 0, g);
    for (const auto& ref : g.refs) refs_.push_back(ref);
    auto out = write(g, depth);
    refs_.resize(refs_.size() - g.refs.size());
    size_ += out.size();
    return out;
  }

 private:
  std::string_view target(std::string_view ref) const {
    if (ref == "#") return root_;
    if (!ref.starts_with("#/")) return {};
    auto at = root_;
    ref.remove_prefix(2);
    for (bool more = true; more && !at.empty();) {
      const auto end = ref.find('/');
      more = end != std::string_view::npos;
      at = walk::find(at, step_of(ref.substr(0, end)));
      ref.remove_prefix(more ? end + 1 : ref.size());
    }
    return at;
  }

  void gather(std::string_view schema, int depth, gathered& g) {
    work_ += schema.size();
    if (depth > max_depth || work_ > max_work) return;
    std::string_view ref, all;
    walk::members(schema, [&](std::string_view key, std::string_view value) {
      if (key == "$ref") {
        ref = value;
      } else if (key == "allOf") {
        all = value;
      } else if (key == "properties") {
        g.object = g.object || walk::is_object(value);
        walk::members(value, [&](std::string_view name, std::string_view s) {
          const bool known = std::ranges::any_of(g.properties, [&](const auto& p) { return p.first == name; });
          if (!known && (walk::is_object(s) || s == "true")) g.properties.emplace_back(name, s);
        });
      } else if (key == "required") {
        walk::elements(value, [&](std::string_view name) {
          auto text = walk::text(name);
          if (std::ranges::find(g.required, text) == g.required.end()) g.required.push_back(std::move(text));
        });
      } else if (g.find(key).empty()) {
        g.words.emplace_back(key, value);
      }
    });
    if (const auto name = walk::text(ref); !name.empty()) {
      const auto followed = std::ranges::count(refs_, name) + std::ranges::count(g.refs, name);
      work_ += root_.size();
      const auto to = followed < max_unrolled && work_ <= max_work ? target(name) : std::string_view();
      if (walk::is_object(to)) {
        g.refs.push_back(name);
        gather(to, depth + 1, g);
      }
    }
    walk::elements(all, [&](std::string_view branch) { gather(branch, depth + 1, g); });
  }

  static void member(std::string& out, std::string_view key, std::string_view value) {
    if (out.size() > 1) out += ',';
    append_quoted(out, key);
    out += ':';
    out += value;
  }

  std::string list(std::string_view schemas, int depth) {
    std::string out = "[";
    walk::elements(schemas, [&](std::string_view s) {
      if (out.size() > 1) out += ',';
      out += write(s, depth + 1);
    });
    return out + "]";
  }

  std::string write(const gathered& g, int depth) {
    std::string out = "{", told;
    const auto tell = [&](std::string_view key, std::string_view value) {
      if (!told.empty()) told += "; ";
      told.append(key).append(": ");
      const auto cut = cut_utf8(value, max_told);
      told.append(cut).append(cut.size() < value.size() ? "…" : "");
    };
    std::string_view description;
    const bool any = !g.find("anyOf").empty();
    for (const auto& [key, value] : g.words) {
      if (key == "description") {
        description = value;
      } else if (key == "type") {
        member(out, key, value);
      } else if (key == "enum" || (key == "const" && g.find("enum").empty())) {
        const auto values = key == "enum" ? std::string(value) : "[" + std::string(value) + "]";
        const auto plain = words_.plain_enums ? plain_values(values) : values;
        if (plain.size() > 2) member(out, "enum", plain);
        if (plain.size() != values.size() && words_.plain_enums) tell("one of", values);
      } else if (key == "anyOf" || (key == "oneOf" && !any)) {
        if (auto branches = list(value, depth); branches.size() > 2) member(out, "anyOf", branches);
      } else if (key == "items") {
        member(out, key, write(value, depth + 1));
      } else if (key == "prefixItems" && words_.prefix_items) {
        member(out, key, list(value, depth));
      } else if (key == "additionalProperties" && words_.additional_properties) {
        member(out, key, walk::is_object(value) ? write(value, depth + 1) : std::string(value));
      } else if (is_one_of(key, words_.kept)) {
        member(out, key, value);
      } else if (!is_silent(key)) {
        tell(key, value);
      }
    }
    if (!description.empty() || !told.empty()) {
      auto text = walk::text(description);
      if (!told.empty()) text += (text.empty() ? "(" : " (") + told + ")";
      member(out, "description", json_quoted(text));
    }
    if (g.object || !g.properties.empty()) write_properties(out, g, depth);
    return out + "}";
  }

  void write_properties(std::string& out, const gathered& g, int depth) {
    std::string properties = "{";
    for (const auto& [name, schema] : g.properties) member(properties, name, write(schema, depth + 1));
    member(out, "properties", properties + "}");
    std::string required = "[";
    for (const auto& name : g.required) {
      if (std::ranges::none_of(g.properties, [&](const auto& p) { return p.first == name; })) continue;
      if (required.size() > 1) required += ',';
      append_quoted(required, name);
    }
    if (required.size() > 1) member(out, "required", required + "]");
  }

  // Texts and numbers only; compact, so that what was taken out shows in the size.
  static std::string plain_values(std::string_view list) {
    std::string out = "[", all = "[";
    walk::elements(list, [&](std::string_view value) {
      if (all.size() > 1) all += ',';
      all += value;
      const char c = value.front();
      if (c != '"' && c != '-' && (c < '0' || c > '9')) return;
      if (out.size() > 1) out += ',';
      out += value;
    });
    out += ']';
    return out.size() == all.size() + 1 ? std::string(list) : out;
  }

  std::string_view root_;
  const api_words& words_;
  std::vector<std::string> refs_;  // on the way from the root to here
  std::size_t size_ = 0;           // of what was written
  std::size_t work_ = 0;           // bytes that were read
};

}  // namespace

raw_json reduce_schema(const raw_json& schema, const api_words& words) {
  return raw_json::own(reducer(schema.text(), words).write(schema.text(), 0));
}

}  // namespace mcpbx::providers
