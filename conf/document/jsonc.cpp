// Builds the tree by recursive descent over at most 64 levels.
#include "conf/document/jsonc.hpp"

#include "conf/document/jsonc_reader.hpp"
#include "mcp/json/raw_json.hpp"

#include <array>
#include <charconv>
#include <unordered_map>

namespace mcpbx::conf::documents {
namespace {

std::string position(const place& at) {
  return "line " + std::to_string(at.line) + ":" + std::to_string(at.column);
}

class parser : private jsonc_reader {
 public:
  using jsonc_reader::jsonc_reader;

  node document() {
    blanks();
    if (end()) {
      report(here(), "the file holds no JSON value", "write {} or delete the file");
      return {};
    }
    node root = value(0);
    blanks();
    if (!end() && !root.is(node::kind::broken))
      report(here(), "something stands after the end of the document", "take it out, or move it inside the { }");
    return root;
  }

 private:
  node value(int depth) {
    blanks();
    const auto at = here();
    if (end()) {
      report_end("the file ends where a value is expected", "complete it");
      node n;
      n.at = at;
      return n;
    }
    const char c = peek();
    if (c != '{' && c != '[') return scalar();
    if (depth >= max_jsonc_depth)
      return broken(at, "nested deeper than " + std::to_string(max_jsonc_depth) + " levels",
                    "flatten it; no key of the configuration is that deep");
    return c == '{' ? object(depth) : array(depth);
  }

  /// Reads the comma between two members or elements. `closer` is the bracket that ends this level.
  void separator(char closer, bool starts_next) {
    blanks();
    if (peek() == ',') {
      step();
      (void)take_swallowed_comma();
    } else if (!take_swallowed_comma() && starts_next && !end() && peek() != closer) {
      report(here(), "a comma is missing before this", "write , after the value before it");
    }
  }

  /// Reports a closing bracket of the wrong kind. Returns true if it ends an outer level, and so this one too.
  bool foreign_closer(const place& opened, char closer, const int& outer_of_that_kind) {
    report(here(), std::string("\"") + peek() + "\" does not close what opened at " + position(opened),
           std::string("write \"") + closer + "\" there, or take this one out");
    if (outer_of_that_kind > 0) return true;
    step();
    return false;
  }

  node array(int depth) {
    node n;
    n.at = here();
    n.type = node::kind::array;
    const auto errors_before = error_count();
    ++arrays_;
    step();
    while (true) {
      blanks();
      if (peek() == ']') {
        step();
        break;
      }
      if (end()) {
        report_end("the file ends inside the list that opened at " + position(n.at), "write ] where it ends");
        break;
      }
      if (peek() == '}' && foreign_closer(n.at, ']', objects_)) break;
      if (peek() == '}' || peek() == ']' || end()) continue;
      if (peek() == ',') {
        report(here(), "a comma too many", "take it out");
        step();
        continue;
      }
      enter(n.items.size());
      n.items.push_back(value(depth + 1));
      leave();
      blanks();
      separator(']', peek() != '}');
    }
    --arrays_;
    n.damaged = error_count() != errors_before;
    return n;
  }

  bool key(std::string& out, const place& at) {
    const char c = peek();
    if (c == '"') {
      if (quoted_text(out)) return true;
      recover();
      return false;
    }
    if (word_start(c)) {
      report(at, "a key needs quotes", "write it in double quotes");
      while (!end() && word_part(peek())) {
        out += peek();
        step();
      }
      return true;
    }
    if (c == '\'') {
      report(at, "a key needs double quotes", "write \"…\" instead of '…'");
      out = single_quoted_text();
      return true;
    }
    report(at, "a key is expected here", "write it in double quotes, or take this out");
    recover();
    return false;
  }

  node object(int depth) {
    node n;
    n.at = here();
    n.type = node::kind::object;
    const auto errors_before = error_count();
    std::unordered_map<std::string, place> seen;
    ++objects_;
    step();
    while (true) {
      blanks();
      if (peek() == '}') {
        step();
        break;
      }
      if (end()) {
        report_end("the file ends inside the object that opened at " + position(n.at), "write } where it ends");
        break;
      }
      if (peek() == ']' && foreign_closer(n.at, '}', arrays_)) break;
      if (peek() == '}' || peek() == ']' || end()) continue;
      if (peek() == ',') {
        report(here(), "a comma too many", "take it out");
        step();
        continue;
      }
      member(n, seen, depth);
      blanks();
      separator('}', peek() == '"' || word_start(peek()));
    }
    --objects_;
    n.damaged = error_count() != errors_before;
    return n;
  }

  void member(node& n, std::unordered_map<std::string, place>& seen, int depth) {
    node_member m;
    m.at = here();
    if (!key(m.key, m.at)) return;
    enter(m.key);
    blanks();
    if (peek() == ':') {
      step();
      m.value = value(depth + 1);
    } else if (peek() == '=') {
      report(here(), "a colon stands between a key and its value", "write : instead of =");
      step();
      m.value = value(depth + 1);
    } else {
      m.value = broken(here(), "a colon and a value are missing after the key", "write : and the value");
    }
    if (const auto [other, fresh] = seen.try_emplace(m.key, m.at); fresh)
      n.members.push_back(std::move(m));
    else
      report(m.at, "this key stands twice, first at " + position(other->second), "take one of the two out");
    leave();
  }

  int arrays_ = 0, objects_ = 0;  // open levels of each kind
};

}  // namespace

const node_member* node::find(std::string_view key) const {
  for (const auto& m : members)
    if (m.key == key) return &m;
  return nullptr;
}

node_member* node::find(std::string_view key) {
  for (auto& m : members)
    if (m.key == key) return &m;
  return nullptr;
}

std::string_view words_for(node::kind k) {
  switch (k) {
    case node::kind::broken:
      return "something unreadable";
    case node::kind::null:
      return "null";
    case node::kind::boolean:
      return "true or false";
    case node::kind::integer:
      return "a number";
    case node::kind::number:
      return "a number";
    case node::kind::string:
      return "a string";
    case node::kind::array:
      return "a list";
    case node::kind::object:
      return "an object";
  }
  return "";
}

node parse_jsonc(std::string_view text, std::uint32_t file, std::string_view name, std::vector<diagnostic>& errors) {
  return parser(text, file, name, errors).document();
}

std::string json_of(const node& n) {
  switch (n.type) {
    case node::kind::broken:
    case node::kind::null:
      return "null";
    case node::kind::boolean:
      return n.truth ? "true" : "false";
    case node::kind::integer:
      return std::to_string(n.whole);
    case node::kind::number: {
      std::array<char, 32> digits{};
      return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), n.real).ptr};
    }
    case node::kind::string:
      return json::json_quoted(n.text);
    case node::kind::array: {
      std::string out = "[";
      for (const auto& i : n.items) out += (out.size() > 1 ? "," : "") + json_of(i);
      return out + "]";
    }
    case node::kind::object: {
      std::string out = "{";
      for (const auto& m : n.members)
        out += (out.size() > 1 ? "," : "") + json::json_quoted(m.key) + ":" + json_of(m.value);
      return out + "}";
    }
  }
  return "null";
}

}  // namespace mcpbx::conf::documents
