// Walks the document beside the key table, which knows the keys of mcpbx that are secret; names decide about all
// others.
#include "conf/edit/literal_secrets.hpp"

#include "conf/document/jsonc.hpp"
#include "conf/edit/json_spans.hpp"
#include "conf/model/references.hpp"
#include "conf/model/secrets.hpp"
#include "conf/model/spec.hpp"
#include "mcp/json/raw_json.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace mcpbx::conf::edit {
namespace {

/// Returns the part of a header's value behind its scheme: "Bearer X" gives X (RFC 9110, section 11.4).
std::string_view behind_scheme(std::string_view value) {
  const auto blank = value.find(' ');
  if (blank == value.npos || blank > 16 || value.find(' ', blank + 1) != value.npos) return value;
  for (const char c : value.substr(0, blank))
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-')) return value;
  return value.substr(blank + 1);
}

/// Returns true for the path of a file under a name that says so: `--token-file ~/t`, `X_CREDENTIALS=/k.json`.
bool is_path_of_file(std::string_view name, std::string_view value) {
  if (!value.starts_with('/') && !value.starts_with("~/") && !value.starts_with("./")) return false;
  std::string upper(name);
  for (auto& c : upper) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return std::ranges::any_of(std::array{"FILE", "PATH", "DIR", "CREDENTIALS"},
                             [&](std::string_view end) { return upper.ends_with(end); });
}

/// Returns true for a token with a known beginning, such as providers give theirs, under any key.
bool is_marked_token(std::string_view value) {
  static constexpr std::array<std::string_view, 16> marks{"sk-",   "ghp_",  "gho_",     "ghs_", "github_pat_", "glpat-",
                                                          "xoxb-", "xoxp-", "figd_",    "AKIA", "AIza",        "hf_",
                                                          "npm_",  "ntn_",  "lin_api_", "tvly-"};
  constexpr std::size_t shortest = 20;
  return value.size() >= shortest && value.find_first_of(" /\\") == value.npos &&
         std::ranges::any_of(marks, [&](std::string_view mark) { return value.starts_with(mark); });
}

class secret_walk {
 public:
  explicit secret_walk(std::vector<literal_secret>& out) : out_(out) {}

  void section(const documents::node& n, const json_span& span, const model::section_spec* spec,
               const std::string& path) {
    for (std::size_t i = 0; i < n.members.size(); ++i) {
      const auto& m = n.members[i];
      const auto& value = span.parts[i].value;
      const auto inside = documents::member_path(path, m.key);
      const auto* known = spec ? spec->find(m.key) : nullptr;
      if (known && known->inner && m.value.is(documents::node::kind::object)) {
        if (known->kind == model::shape::named)
          named(m.value, value, *known->inner, inside);
        else
          section(m.value, value, known->inner, inside);
      } else if (m.key == "args" && m.value.is(documents::node::kind::array)) {
        arguments(m.value, value, inside);
      } else if (known && (known->kind == model::shape::text || known->kind == model::shape::plain ||
                           known->kind == model::shape::word)) {
        text(m.value, value, m.key, known->is_secret, inside, m.key == "command");
      } else {
        any(m.value, value, m.key, inside);
      }
    }
  }

 private:
  void named(const documents::node& n, const json_span& span, const model::section_spec& spec,
             const std::string& path) {
    for (std::size_t i = 0; i < n.members.size(); ++i)
      if (n.members[i].value.is(documents::node::kind::object))
        section(n.members[i].value, span.parts[i].value, &spec, documents::member_path(path, n.members[i].key));
  }

  /// A value below keys that the table does not describe: names decide.
  void any(const documents::node& n, const json_span& span, std::string_view name, const std::string& path) {
    if (n.is(documents::node::kind::string)) text(n, span, name, model::secret_name(name), path, true);
    for (std::size_t i = 0; i < n.items.size(); ++i)
      any(n.items[i], span.parts[i].value, name, documents::element_path(path, i));
    for (std::size_t i = 0; i < n.members.size(); ++i)
      any(n.members[i].value, span.parts[i].value, n.members[i].key, documents::member_path(path, n.members[i].key));
  }

  void text(const documents::node& n, const json_span& span, std::string_view name, bool secret,
            const std::string& path, bool in_sentences) {
    if (!n.is(documents::node::kind::string)) return;
    const bool whole = (secret && !is_path_of_file(name, n.text)) || is_marked_token(n.text);
    if (whole && !model::has_references(n.text))
      add(n, span, behind_scheme(n.text), name, path);
    else
      parts(n, span, name, path, in_sentences);
  }

  /// Looks for secrets in a text that is none as a whole: an address, or several words.
  void parts(const documents::node& n, const json_span& span, std::string_view label, const std::string& path,
             bool in_sentences) {
    const auto found = model::address_secrets(n.text);
    if (in_sentences && (found.empty() || n.text.find(' ') != n.text.npos)) return sentence(n, span, label, path);
    for (const auto part : found) add(n, span, part, label, path);
  }

  /// Looks at the words of a text that holds several: a command for a shell, or settings between semicolons.
  void sentence(const documents::node& n, const json_span& span, std::string_view label, const std::string& path) {
    constexpr std::string_view between = " \t\r\n;|&'\"()`";
    const std::string_view all = n.text;
    bool is_value = false;  // the word before is an option whose name is a secret's
    std::string_view option;
    for (auto at = all.find_first_not_of(between); at != all.npos;) {
      const auto end = std::min(all.find_first_of(between, at), all.size());
      const auto word = all.substr(at, end - at);
      at = all.find_first_not_of(between, end);
      const bool named = std::exchange(is_value, false);
      const auto cut = word.find_first_of("=:");
      const auto name = word.substr(0, cut);
      const auto bare = name.substr(std::min(name.find_first_not_of('-'), name.size()));
      const auto take = [&](std::string_view value, std::string_view of) {
        if (!model::has_references(value) && !value.starts_with('$') && !is_path_of_file(of, value))
          add(n, span, value, label, path);
      };
      if (is_marked_token(word)) {
        add(n, span, word, label, path);
      } else if (named && !word.starts_with('-')) {
        // "Authorization: Bearer X": the scheme stands between the name and the secret.
        if (word == "Bearer" || word == "Basic" || word == "Token")
          is_value = true;
        else
          take(word, option);
      } else if (!model::secret_name(bare)) {
        for (const auto part : model::address_secrets(word)) add(n, span, part, label, path);
      } else if (cut == word.npos || cut + 1 == word.size()) {
        is_value = word.starts_with('-') || cut != word.npos;
        option = bare;
      } else if (word.substr(cut, 3) != "://") {
        take(word.substr(cut + 1), bare);
      }
    }
  }

  void arguments(const documents::node& n, const json_span& span, const std::string& path) {
    std::string option;  // an option that takes the next word, if its name is a secret's
    for (std::size_t i = 0; i < n.items.size(); ++i) {
      const auto& word = n.items[i];
      const auto inside = documents::element_path(path, i);
      const auto of = std::exchange(option, {});
      if (!word.is(documents::node::kind::string)) continue;
      const std::string_view text = word.text;
      const auto cut = text.find_first_of("=: ");
      const auto name = text.substr(0, cut);
      const auto bare = name.substr(std::min(name.find_first_not_of('-'), name.size()));
      if (is_marked_token(text)) {
        add(word, span.parts[i].value, text, of.empty() ? "token" : std::string_view(of), inside);
      } else if (!of.empty() && !text.starts_with('-')) {
        if (!model::has_references(text) && !is_path_of_file(of, text))
          add(word, span.parts[i].value, text, of, inside);
      } else if (cut == text.npos) {
        if (text.starts_with('-') && model::secret_name(bare)) option = bare;
      } else if (model::secret_name(bare) && text.substr(cut, 3) != "://") {
        const auto value = text.substr(std::min(text.find_first_not_of(' ', cut + 1), text.size()));
        if (!model::has_references(value) && !is_path_of_file(bare, value))
          add(word, span.parts[i].value, behind_scheme(value), bare, inside);
      } else {
        parts(word, span.parts[i].value, "address", inside, true);
      }
    }
  }

  void add(const documents::node& n, const json_span& span, std::string_view part, std::string_view label,
           const std::string& path) {
    if (part.empty()) return;
    out_.push_back({path, std::string(label), std::string(part), span.begin, span.end,
                    static_cast<std::size_t>(part.data() - n.text.data())});
  }

  std::vector<literal_secret>& out_;
};

const model::section_spec* spec_of(text_of kind) {
  if (kind == text_of::configuration) return &model::root_section();
  const auto* servers = model::root_section().find("mcpServers");
  return servers ? servers->inner : nullptr;
}

}  // namespace

std::vector<literal_secret> literal_secrets(std::string_view text, text_of kind) {
  std::vector<literal_secret> found;
  std::vector<documents::diagnostic> errors;
  const auto tree = documents::parse_jsonc(text, 0, "", errors);
  if (!errors.empty() || !tree.is(documents::node::kind::object)) return found;
  secret_walk(found).section(tree, spans_of(text), spec_of(kind), "");
  std::ranges::sort(found, {}, [](const literal_secret& s) { return std::pair(s.begin, s.from); });
  // An address inside of another one's query may be found twice; the first finding covers it.
  const auto doubled = std::ranges::unique(found, [](const literal_secret& a, const literal_secret& b) {
    return a.begin == b.begin && b.from < a.from + a.value.size();
  });
  found.erase(doubled.begin(), doubled.end());
  return found;
}

std::string with_replaced(std::string_view text, const std::vector<literal_secret>& found,
                          const std::vector<std::string>& by) {
  std::string out(text);
  for (auto i = found.size(); i > 0;) {
    // All parts of one string, the last one first.
    const auto last = i;
    while (i > 0 && found[i - 1].begin == found[last - 1].begin) --i;
    const auto& one = found[i];
    const auto token = json::raw_json::parse(text.substr(one.begin, one.end - one.begin));
    auto value = token ? token->as_string() : std::nullopt;
    if (!value) continue;
    for (auto k = last; k > i; --k) value->replace(found[k - 1].from, found[k - 1].value.size(), by[k - 1]);
    out.replace(one.begin, one.end - one.begin, json::json_quoted(*value));
  }
  return out;
}

std::string masked(std::string_view text, text_of kind) {
  std::vector<documents::diagnostic> errors;
  (void)documents::parse_jsonc(text, 0, "", errors);
  if (!errors.empty()) return "(a text that cannot be read)";
  const auto found = literal_secrets(text, kind);
  return with_replaced(text, found, std::vector<std::string>(found.size(), "***"));
}

}  // namespace mcpbx::conf::edit
