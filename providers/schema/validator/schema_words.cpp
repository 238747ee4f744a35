// Words for violations, written for a model: names are quoted as JSON, values are cut, alternatives are listed.
#include "mcp/redact/hidden_text.hpp"
#include "mcp/support/text.hpp"
#include "providers/schema/validator/schema_evaluator.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace mcpbx::providers::schema {
namespace {

constexpr std::size_t max_shown = 60;   // bytes of a value in a sentence
constexpr std::size_t max_listed = 12;  // names or values in a list

// Joins words to a list and says how many are left out: `all` may be shorter than `total`.
std::string listed(const std::vector<std::string>& all, std::string_view last, std::size_t total) {
  std::string out;
  const auto n = std::min(all.size(), max_listed);
  for (std::size_t i = 0; i < n; ++i) {
    if (i > 0) out += i + 1 == total ? last : std::string_view(", ");
    out += all[i];
  }
  if (n < total) out += " … (" + std::to_string(total) + " in all)";
  return out;
}

std::string type_words(std::uint64_t bits) {
  static constexpr std::array<std::pair<json_type, std::string_view>, 7> words{{{type_string, "a string"},
                                                                                {type_number, "a number"},
                                                                                {type_integer, "an integer"},
                                                                                {type_boolean, "true or false"},
                                                                                {type_object, "an object"},
                                                                                {type_array, "an array"},
                                                                                {type_null, "null"}}};
  std::vector<std::string> all;
  for (const auto& [bit, text] : words)
    if (bits & bit) all.emplace_back(text);
  return listed(all, " or ", all.size());
}

std::string value_words(const tree::array& values) {
  if (values.empty()) return "nothing, because the schema allows no value here";
  std::vector<std::string> all;
  for (const auto& v : values) {
    if (all.size() == max_listed) break;
    all.push_back(shown(v));
  }
  auto out = listed(all, " or ", values.size());
  return values.size() == 1 ? out : "one of " + out;
}

std::string number_text(const tree::value& v) {
  std::array<char, 40> room;
  const auto written = [&](auto n) {
    return std::string(room.data(), std::to_chars(room.data(), room.data() + room.size(), n).ptr);
  };
  if (v.kind() == tree::kind::int64) return written(v.get_int64());
  if (v.kind() == tree::kind::uint64) return written(v.get_uint64());
  return written(v.get_double());
}

}  // namespace

std::uint8_t types_of(const tree::value& v) {
  switch (v.kind()) {
    case tree::kind::null:
      return type_null;
    case tree::kind::bool_:
      return type_boolean;
    case tree::kind::object:
      return type_object;
    case tree::kind::array:
      return type_array;
    case tree::kind::string:
      return type_string;
    case tree::kind::double_: {
      const auto d = v.get_double();
      return std::isfinite(d) && std::floor(d) == d ? type_number | type_integer : type_number;
    }
    default:
      return type_number | type_integer;
  }
}

// Writes a value up to the length that is shown, since it may be large.
void write_some(std::string& out, const tree::value& v) {
  if (out.size() > max_shown) return;
  const auto list = [&](const auto& all, char open, char close, auto write) {
    out += open;
    for (auto i = all.begin(); i != all.end() && out.size() <= max_shown; ++i) {
      if (i != all.begin()) out += ',';
      write(*i);
    }
    out += close;
  };
  const auto text = [&](std::string_view s) { json::append_quoted(out, s.substr(0, max_shown)); };
  switch (v.kind()) {
    case tree::kind::null:
      out += "null";
      return;
    case tree::kind::bool_:
      out += v.get_bool() ? "true" : "false";
      return;
    case tree::kind::string:
      return text(v.get_string());
    case tree::kind::array:
      return list(v.get_array(), '[', ']', [&](const auto& e) { write_some(out, e); });
    case tree::kind::object:
      return list(v.get_object(), '{', '}', [&](const auto& m) {
        text(m.key());
        out += ':';
        write_some(out, m.value());
      });
    default:
      out += number_text(v);
  }
}

std::string shown(const tree::value& v) {
  std::string all;
  write_some(all, v);
  return all.size() <= max_shown ? redact::printable(all) : redact::printable(cut_utf8(all, max_shown)) + "…";
}

std::string in_words(const tree::value& v) {
  switch (v.kind()) {
    case tree::kind::object: {
      const auto& o = v.get_object();
      return o.empty() ? "an empty object" : "the object " + shown(v);
    }
    case tree::kind::array:
      return v.get_array().empty() ? "an empty array" : "an array of " + counted(v.get_array().size(), "item");
    case tree::kind::string:
      return "the string " + shown(v);
    case tree::kind::null:
    case tree::kind::bool_:
      return shown(v);
    default:
      return "the number " + shown(v);
  }
}

std::string expectation(const program&, const rule& r, const tree::value&) {
  switch (r.what) {
    case op::types:
      return type_words(r.n);
    case op::constant:
      return shown(*r.value);
    case op::one_of_values:
      return value_words(r.value->get_array());
    case op::minimum:
      return "a number of at least " + shown(*r.value);
    case op::maximum:
      return "a number of at most " + shown(*r.value);
    case op::exclusive_minimum:
      return "a number greater than " + shown(*r.value);
    case op::exclusive_maximum:
      return "a number less than " + shown(*r.value);
    case op::multiple_of:
      return "a multiple of " + shown(*r.value);
    case op::min_length:
      return "a string of at least " + counted(r.n, "character");
    case op::max_length:
      return "a string of at most " + counted(r.n, "character");
    case op::matches:
      return "a string that matches the pattern " + std::string(cut_utf8(std::string_view(r.value->get_string()), 200));
    case op::min_items:
      return "an array of at least " + counted(r.n, "item");
    case op::max_items:
      return "an array of at most " + counted(r.n, "item");
    case op::unique_items:
      return "an array without two equal items";
    case op::min_properties:
      return "an object with at least " + counted(r.n, "member");
    case op::max_properties:
      return "an object with at most " + counted(r.n, "member");
    default:
      return {};
  }
}

std::string brief(const program& p, node_id id, int depth) {
  if (depth == 0 || id == no_node) return {};
  const auto& n = p.nodes[id];
  std::string words, members;
  for (auto i = n.first; i < n.first + n.count; ++i) {
    const auto& r = p.rules[i];
    if (r.what == op::required) {
      std::vector<std::string> names;
      for (const auto& name : r.value->get_array())
        if (names.size() < max_listed) names.push_back(shown(name));
      members = " with " + listed(names, " and ", r.value->get_array().size());
    } else if (r.what == op::constant || r.what == op::one_of_values) {
      return expectation(p, r, {});
    } else if (words.empty()) {
      if (r.what == op::reference)
        words = brief(p, r.at, depth - 1);
      else
        words = expectation(p, r, {});
    }
  }
  if (!members.empty() && words.empty()) words = "an object";
  return words == "an object" ? words + members : words;
}

std::string member_step(std::string_view name) {
  const bool plain = !name.empty() && name.size() <= max_shown && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '$';
  });
  return plain ? "." + std::string(name) : "[" + shown(tree::value(name)) + "]";
}

std::string evaluator::path() const {
  std::string out;
  for (const auto& s : path_) {
    if (const auto* index = std::get_if<std::size_t>(&s)) {
      out += '[' + std::to_string(*index) + ']';
      continue;
    }
    out += member_step(std::get<std::string_view>(s));
  }
  return out;
}

void evaluator::tell(std::string expected, std::string found) {
  if (exhausted_ || enough()) return;
  violation v{path(), std::move(expected), std::move(found)};
  // allOf and $ref may report the same violation twice.
  const auto same = [&](const violation& x) { return x.path == v.path && x.expected == v.expected; };
  if (std::ranges::none_of(*told_, same)) told_->push_back(std::move(v));
}

void evaluator::tell_unknown_member(const member_rules& m, std::string_view name) {
  std::vector<std::string> names;
  std::vector<std::string_view> known;
  for (const auto& [property, id] : m.properties) {
    known.push_back(property);
    if (names.size() < max_listed) names.push_back(shown(tree::value(property)));
  }
  std::string expected = "no such member";
  if (names.empty())
    expected += m.patterns.empty() ? ": the object must be empty" : "";
  else
    expected += did_you_mean(name, known) + ": there is " + listed(names, " and ", known.size());
  tell(std::move(expected), {});
}

// Explains the nearest alternative, or lists all if none is near.
void evaluator::tell_alternatives(const std::vector<node_id>& list, const value& v) {
  auto* const kept = told_;
  const auto here = path();
  std::vector<violation> best;
  for (std::size_t i = 0; i < list.size() && i < 2 * max_listed; ++i) {
    std::vector<violation> why;
    told_ = &why;
    node_fits(list[i], v, nullptr);
    // If the value as a whole has a fault other than a missing member, this alternative was not meant.
    const bool near = !why.empty() &&
                      std::ranges::none_of(why, [&](const violation& x) { return x.path == here && !x.found.empty(); });
    if (near && (best.empty() || why.size() < best.size())) best = std::move(why);
  }
  told_ = kept;
  std::vector<std::string> forms;
  for (std::size_t i = 0; i < list.size() && i < 2 * max_listed; ++i)
    if (auto form = brief(p_, list[i]); !form.empty() && std::ranges::find(forms, form) == forms.end())
      forms.push_back(std::move(form));
  if (!best.empty()) {
    for (auto& x : best)
      if (!enough()) told_->push_back(std::move(x));
  } else if (forms.empty()) {
    tell("a value that fits one of " + counted(list.size(), "form"), in_words(v));
  } else {
    tell(listed(forms, " or ", forms.size()), in_words(v));
  }
}

std::string describe(const violation& one, std::string_view root) {
  std::string out = std::string(root) + one.path + ": expected " + one.expected;
  if (!one.found.empty()) out += ", found " + one.found;
  return out;
}

std::string describe(std::span<const violation> violations, std::string_view root) {
  std::string out;
  for (const auto& v : violations) {
    if (!out.empty()) out += '\n';
    out += "- " + describe(v, root);
  }
  return out;
}

}  // namespace mcpbx::providers::schema
