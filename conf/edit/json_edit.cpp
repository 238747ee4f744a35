// Each edit works on a text without errors, splices bytes, and reads the outcome again: it must say what was asked for
// and nothing else, or the edit fails.
#include "conf/edit/json_edit.hpp"

#include "conf/document/jsonc.hpp"
#include "conf/edit/json_spans.hpp"
#include "conf/edit/json_style.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/json/raw_json.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::conf::edit {
namespace {

constexpr auto none = json_part::none;

struct document {
  std::string text;
  documents::node tree;
  json_span spans;
};

/// Returns true if the text holds only blanks and comments, all of them closed.
bool is_blank(std::string_view text) {
  const auto from = text.starts_with("\xEF\xBB\xBF") ? std::size_t{3} : 0;
  return behind_blanks(text, from) == text.size();
}

result<document> opened(std::string_view text, std::string_view name) {
  std::vector<documents::diagnostic> errors;
  document out{std::string(text), documents::parse_jsonc(text, 0, name, errors), {}};
  if (!errors.empty()) return fail(errc::parse, std::string(trimmed(documents::listing(errors))));
  if (!out.tree.is(documents::node::kind::object))
    return fail(errc::invalid_argument, std::string(name) + " holds " +
                                            std::string(documents::words_for(out.tree.type)) +
                                            ", not an object: write { … } around it");
  out.spans = spans_of(out.text);
  return out;
}

std::string path_text(const json_path& path, std::size_t keys) {
  std::string out;
  for (std::size_t i = 0; i < keys; ++i) out = documents::member_path(out, path[i]);
  return out;
}

/// The end of a path in a document: the value that its first `keys` keys name.
struct reached {
  const documents::node* tree;
  const json_span* span;
  std::size_t keys = 0;
  const json_span* around = nullptr;  ///< the object that has the last of these members
  std::size_t index = 0;              ///< and where in it
};

reached follow(const document& d, const json_path& path) {
  reached r{&d.tree, &d.spans};
  while (r.keys < path.size() && r.tree->is(documents::node::kind::object)) {
    const auto* m = r.tree->find(path[r.keys]);
    if (!m) break;
    r.index = static_cast<std::size_t>(m - r.tree->members.data());
    r.around = r.span;
    r.tree = &m->value;
    r.span = &r.span->parts[r.index].value;
    ++r.keys;
  }
  return r;
}

/// Fails if a value that is no object stands where the path leads on.
result<void> leads_on(const reached& r, const json_path& path, std::string_view name) {
  if (r.keys == path.size() || r.tree->is(documents::node::kind::object) || r.tree->is(documents::node::kind::null))
    return {};
  const auto at = std::string(name) + ":" + std::to_string(r.tree->at.line) + ":" + std::to_string(r.tree->at.column);
  return fail(errc::invalid_argument, at + ": \"" + path_text(path, r.keys) + "\" is " +
                                          std::string(documents::words_for(r.tree->type)) +
                                          ", not an object: make it one");
}

/// Returns the value at `path` below nothing: `json` inside of new objects for the keys from `from`.
std::string nested(const json_path& path, std::size_t from, std::string_view json) {
  std::string out(json);
  for (auto i = path.size(); i-- > from;) out = "{" + json::json_quoted(path[i]) + ": " + out + "}";
  return out;
}

/// Returns the position behind the comments that stand behind `at` on the same line, or `at`.
std::size_t behind_comments_of_line(std::string_view text, std::size_t at) {
  auto last = at;
  while (true) {
    const auto next = text.find_first_not_of(" \t", at);
    if (next == text.npos) return last;
    const auto two = text.substr(next, 2);
    if (two == "//") {
      const auto end = std::min(text.find('\n', next), text.size());
      return end > next && text[end - 1] == '\r' ? end - 1 : end;
    }
    if (two != "/*") return last;
    const auto close = text.find("*/", next + 2);
    if (close == text.npos) return last;
    last = at = close + 2;
  }
}

std::string with_new_member(const document& d, const json_span& object, const std::string& key, std::string_view json) {
  const std::string_view text = d.text;
  const auto style = style_of(text, d.spans);
  const auto close = object.end - 1;
  std::string out;
  if (object.parts.empty()) {
    const auto inside = text.substr(object.begin + 1, close - object.begin - 1);
    const bool in_one_line =
        &object != &d.spans && text.substr(d.spans.begin, d.spans.end - d.spans.begin).find('\n') == text.npos;
    if (in_one_line && inside.find("//") == inside.npos) {
      out.append(text.substr(0, close)).append(key).append(": ").append(on_one_line(json));
      return out.append(text.substr(close));
    }
    const std::string outer(margin_of(text, object.begin)), inner = outer + style.indent;
    const auto kept = inside.find_last_not_of(" \t\r\n");
    const auto keep = object.begin + 1 + (kept == inside.npos ? 0 : kept + 1);
    out.append(text.substr(0, keep)).append(style.newline).append(inner).append(key).append(": ");
    out.append(laid_out(json, style, inner)).append(style.newline).append(outer);
    return out.append(text.substr(close));
  }
  const auto& last = object.parts.back();
  const auto value_end = last.value.end;
  const bool trailing = last.comma != none;
  const auto from = trailing ? last.comma + 1 : value_end;
  auto at = behind_comments_of_line(text, from);
  const auto rest = text.find_first_not_of(" \t", at);
  const bool ends_line = rest != text.npos && (text[rest] == '\n' || text[rest] == '\r');
  if (ends_line) at = rest;
  out.append(text.substr(0, value_end)).append(trailing ? "" : ",").append(text.substr(value_end, at - value_end));
  if (first_on_line(text, last.begin) || ends_line) {
    const std::string inner(margin_of(text, last.begin));
    out.append(style.newline).append(inner).append(key).append(": ").append(laid_out(json, style, inner));
  } else {
    out.append(" ").append(key).append(": ").append(on_one_line(json));
  }
  if (trailing) out += ',';
  return out.append(text.substr(at));
}

std::string without_member(const document& d, const json_span& object, std::size_t index) {
  const std::string_view text = d.text;
  const auto& part = object.parts[index];
  const bool has_comma = part.comma != none;
  auto begin = part.begin, end = has_comma ? part.comma + 1 : part.value.end;
  const bool alone_before = first_on_line(text, begin);
  const auto behind = behind_comments_of_line(text, end);
  const auto line_end = text.find_first_not_of(" \t\r", behind);
  const bool alone_after = line_end != text.npos && text[line_end] == '\n';
  std::string out(text);
  const auto blanks_before = [&] { return begin - 1 - text.find_last_not_of(" \t", begin - 1); };
  if (alone_before && alone_after) {
    begin -= margin_of(text, begin).size();
    end = line_end + 1;
  } else if (index > 0 && index + 1 == object.parts.size() && !alone_before) {
    begin -= blanks_before();
  } else if (has_comma && !alone_after) {
    end = std::min(text.find_first_not_of(" \t", end), text.size());
  }
  if (alone_after && !alone_before) end = behind;
  if (!has_comma && index > 0) {
    const auto comma = object.parts[index - 1].comma;
    const auto between = text.substr(comma + 1, begin - comma - 1);
    if (between.find_first_not_of(" \t\r\n") == between.npos && !(alone_before && alone_after)) {
      // The rest of the line, mostly a bracket, moves up to the member before.
      out.erase(comma, end - comma);
      return out;
    }
    out.erase(begin, end - begin);
    out.erase(comma, 1);
    return out;
  }
  out.erase(begin, end - begin);
  // An object that holds nothing any more closes on its line.
  if (object.parts.size() == 1) {
    const auto close = object.end - 1 - (end - begin);
    const std::string_view inside = std::string_view(out).substr(object.begin + 1, close - object.begin - 1);
    if (inside.find_first_not_of(" \t\r\n") == inside.npos) out.erase(object.begin + 1, inside.size());
  }
  return out;
}

void set_in(documents::node& tree, const json_path& path, std::size_t from, documents::node&& value) {
  if (from == path.size()) {
    tree = std::move(value);
    return;
  }
  if (!tree.is(documents::node::kind::object)) {
    tree = {};
    tree.type = documents::node::kind::object;
  }
  auto* m = tree.find(path[from]);
  if (!m) m = &tree.members.emplace_back(documents::node_member{path[from], {}, {}});
  set_in(m->value, path, from + 1, std::move(value));
}

void remove_in(documents::node& tree, const json_path& path, std::size_t from) {
  auto* m = tree.find(path[from]);
  if (!m) return;
  if (from + 1 == path.size())
    tree.members.erase(tree.members.begin() + (m - tree.members.data()));
  else
    remove_in(m->value, path, from + 1);
}

/// Returns the text if it says what `wanted` does.
result<std::string> proven(std::string text, const documents::node& wanted, std::string_view name) {
  std::vector<documents::diagnostic> errors;
  const auto now = documents::parse_jsonc(text, 0, name, errors);
  if (!errors.empty()) return fail(errc::limit, std::string(trimmed(documents::listing(errors))));
  if (documents::json_of(now) != documents::json_of(wanted))
    return fail(errc::internal, std::string(name) +
                                    " cannot be edited without changing more than was asked for: "
                                    "edit it by hand, and report this as a bug of mcpbx");
  return text;
}

// Returns the text as `edit(document, member)` makes it of the member at `path`; unchanged if there is no such member.
template <class Edit>
result<std::string> with_member(std::string_view text, const json_path& path, std::string_view name, Edit edit) {
  if (path.empty()) return fail(errc::invalid_argument, "no member is named");
  if (is_blank(text)) return std::string(text);
  const auto d = opened(text, name);
  if (!d) return std::unexpected(d.error());
  const auto r = follow(*d, path);
  if (r.keys < path.size()) return std::string(text);
  return edit(*d, r);
}

}  // namespace

result<std::string> set_member(std::string_view text, const json_path& path, std::string_view json,
                               std::string_view name) {
  if (path.empty()) return fail(errc::invalid_argument, "no member is named");
  std::vector<documents::diagnostic> wrong;
  auto value = documents::parse_jsonc(json, 0, "the new value", wrong);
  if (!wrong.empty()) return fail(errc::parse, std::string(trimmed(documents::listing(wrong))));
  std::string begun(text);
  if (is_blank(text)) {
    const bool fresh_line = begun.empty() || begun.ends_with('\n') || begun == "\xEF\xBB\xBF";
    begun += fresh_line ? "{}\n" : "\n{}\n";
  }
  const auto d = opened(begun, name);
  if (!d) return std::unexpected(d.error());
  const auto r = follow(*d, path);
  if (auto good = leads_on(r, path, name); !good) return std::unexpected(good.error());
  if (r.keys == path.size() && documents::json_of(*r.tree) == documents::json_of(value)) return std::string(text);

  std::string out;
  if (r.keys == path.size() || r.tree->is(documents::node::kind::null)) {
    const auto fresh = nested(path, r.keys, json);
    const auto style = style_of(d->text, d->spans);
    const auto margin = margin_of(d->text, r.around->parts[r.index].begin);
    const bool lines = first_on_line(d->text, r.around->parts[r.index].begin);
    out = d->text.substr(0, r.span->begin) + (lines ? laid_out(fresh, style, margin) : on_one_line(fresh)) +
          d->text.substr(r.span->end);
  } else {
    out = with_new_member(*d, *r.span, json::json_quoted(path[r.keys]), nested(path, r.keys + 1, json));
  }
  auto wanted = d->tree;
  set_in(wanted, path, 0, std::move(value));
  return proven(std::move(out), wanted, name);
}

result<std::string> remove_member(std::string_view text, const json_path& path, std::string_view name) {
  return with_member(text, path, name, [&](const document& d, const reached& r) {
    auto wanted = d.tree;
    remove_in(wanted, path, 0);
    return proven(without_member(d, *r.around, r.index), wanted, name);
  });
}

result<std::string> comment_member(std::string_view text, const json_path& path, std::span<const std::string> lines,
                                   std::string_view name) {
  return with_member(text, path, name, [&](const document& d, const reached& r) {
    const auto at = r.around->parts[r.index].begin;
    const std::string margin(margin_of(d.text, at)), newline = style_of(d.text, d.spans).newline;
    // A member in the midst of a line begins a new one, since a comment takes the rest of its line.
    std::string comment = first_on_line(d.text, at) ? "" : newline + margin;
    for (const auto& line : lines) comment += line + newline + margin;
    return proven(std::string(d.text).insert(at, comment), d.tree, name);
  });
}

result<std::optional<std::string>> member_text(std::string_view text, const json_path& path, std::string_view name) {
  if (is_blank(text)) return std::nullopt;
  const auto d = opened(text, name);
  if (!d) return std::unexpected(d.error());
  const auto r = follow(*d, path);
  if (r.keys < path.size()) return std::nullopt;
  return d->text.substr(r.span->begin, r.span->end - r.span->begin);
}

result<std::vector<std::string>> member_keys(std::string_view text, const json_path& path, std::string_view name) {
  std::vector<std::string> keys;
  if (is_blank(text)) return keys;
  const auto d = opened(text, name);
  if (!d) return std::unexpected(d.error());
  const auto r = follow(*d, path);
  if (r.keys == path.size() && r.tree->is(documents::node::kind::object))
    for (const auto& m : r.tree->members) keys.push_back(m.key);
  return keys;
}

}  // namespace mcpbx::conf::edit
