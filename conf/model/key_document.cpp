// Walks through the sections of the key table. A section that several keys share is written once, under all its paths;
// one whose keys all stand in a larger section refers to that.
#include "conf/model/key_document.hpp"

#include "conf/model/key_notes.hpp"
#include "conf/model/spec.hpp"

#include <algorithm>
#include <cctype>
#include <sstream>

namespace mcpbx::conf::model {
namespace {

struct shown_section {
  const section_spec* spec;
  std::vector<std::string> paths;
};

std::string quoted(std::string_view text) {
  return "`" + std::string(text) + "`";
}

template <class List>
std::string joined(const List& words, std::string_view last) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i)
    out += (i == 0 ? "" : i + 1 == words.size() ? std::string(last) : ", ") + quoted(words[i]);
  return out;
}

// Adds a section and those below it, in the order of their keys.
void collect(std::vector<shown_section>& all, const section_spec& spec, const std::string& path) {
  const auto known = std::ranges::find(all, &spec, &shown_section::spec);
  if (known != all.end()) {
    known->paths.push_back(path);
    return;
  }
  all.push_back({&spec, {path}});
  for (const auto& k : spec.keys)
    if (k.inner)
      collect(all, *k.inner,
              (path.empty() ? "" : path + ".") + std::string(k.name) + (k.kind == shape::named ? ".NAME" : ""));
}

std::string heading_of(const shown_section& s) {
  return s.paths.front().empty() ? "At the top" : joined(s.paths, ", ");
}

// Returns the anchor that a heading has in Markdown.
std::string anchor_of(const shown_section& s) {
  std::string out;
  for (const char c : heading_of(s))
    if (std::isalnum(static_cast<unsigned char>(c)))
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    else if (c == ' ' || c == '-' || c == '_')
      out += c == ' ' ? '-' : c;
  return out;
}

class document {
 public:
  document() { collect(sections_, root_section(), ""); }

  std::string text() {
    for (const auto& s : sections_) write(s);
    return std::move(out_);
  }

 private:
  const shown_section& find(const section_spec& spec) const {
    return *std::ranges::find(sections_, &spec, &shown_section::spec);
  }

  // Returns the section that has all keys of this one with the same meaning, and more; or null.
  const shown_section* larger_than(const section_spec& spec) const {
    const auto has = [](const section_spec& other, const key_spec& k) {
      const auto* same = other.find(k.name);
      return same && same->doc == k.doc;
    };
    const shown_section* found = nullptr;
    for (const auto& s : sections_)
      if (s.spec->keys.size() > spec.keys.size() && (!found || s.spec->keys.size() > found->spec->keys.size()) &&
          std::ranges::all_of(spec.keys, [&](const key_spec& k) { return has(*s.spec, k); }))
        found = &s;
    return found;
  }

  void write(const shown_section& s) {
    out_ += "### " + heading_of(s) + "\n\n";
    if (const auto* larger = larger_than(*s.spec)) return write_part(s, *larger);
    if (!s.spec->one_of_two.first.empty())
      out_ += "Exactly one of " + quoted(s.spec->one_of_two.first) + " and " + quoted(s.spec->one_of_two.second) +
              " is needed.\n\n";
    out_ += "| key | values | default | meaning |\n|---|---|---|---|\n";
    for (const auto& k : s.spec->keys)
      out_ +=
          "| " + quoted(k.name) + " | " + values_of(k) + " | " + default_of(s, k) + " | " + meaning_of(s, k) + " |\n";
    out_ += "\n";
  }

  void write_part(const shown_section& s, const shown_section& larger) {
    std::vector<std::string_view> missing;
    for (const auto& k : larger.spec->keys)
      if (!s.spec->find(k.name)) missing.push_back(k.name);
    const auto link = link_to(heading_of(larger), *larger.spec);
    if (missing.size() <= s.spec->keys.size())
      out_ += "The keys of " + link + ", but not " + joined(missing, " and ") + ".\n\n";
    else
      out_ +=
          "Of the keys of " + link + " these, with the same values: " + joined(s.spec->key_names(), " and ") + ".\n\n";
  }

  std::string link_to(std::string_view word, const section_spec& inner) const {
    return "[" + std::string(word) + "](#" + anchor_of(find(inner)) + ")";
  }

  // The form of strings behind their type, where it says more than that they are not empty.
  static std::string with_form(std::string word, const form* f) {
    if (f == nullptr || f == &forms::filled) return word;
    if (forms::is_glob(f)) return word + ": globs";
    return word + ": " + std::string(f->says);
  }

  std::string values_of(const key_spec& k) const {
    const auto range =
        (k.in_milliseconds ? "milliseconds, " : "") + std::to_string(k.low) + " … " + std::to_string(k.high);
    const std::string keys = k.name_form == &forms::tool_glob ? "globs → " : "names → ";
    switch (k.kind) {
      case shape::boolean:
        return "true, false";
      case shape::whole:
        return range;
      case shape::real:
        return (std::ostringstream() << k.real_low << " … " << k.real_high).str();
      case shape::word:
        return joined(k.words, ", ");
      case shape::text:
        return with_form("text", k.value_form);
      case shape::texts:
        return with_form("list of text", k.value_form);
      case shape::entries:
        return "list of " + with_form("text", k.value_form) + "; or " + link_to("objects", *k.inner);
      case shape::text_map:
        return keys + with_form("text", k.value_form);
      case shape::plain:
        return with_form("string", k.value_form);
      case shape::plains:
        return with_form("list", k.value_form);
      case shape::plain_map:
        return keys + with_form("string", k.value_form);
      case shape::whole_map:
        return keys + range;
      case shape::switch_or_text:
        return "true, false, string";
      case shape::any_object:
        return "object";
      case shape::section:
        return link_to("object", *k.inner);
      case shape::named:
        return "names → " + link_to("entries", *k.inner);
    }
    return {};
  }

  static std::string default_of(const shown_section& s, const key_spec& k) {
    const auto* note = find_key_note(s.spec->title, k.name);
    std::string out(note ? note->usual : std::string_view());
    for (const auto& n : s.spec->needs)
      if (n.key == k.name)
        out += (out.empty() ? "" : "; ") +
               (n.when.empty() ? std::string("needed") : "needed for " + joined(n.words, " and "));
    if (!out.empty() || k.default_json.empty()) return out;
    std::string_view json = k.default_json;
    if (!json.starts_with('"')) return std::string(json);
    return quoted(json.substr(1, json.size() - 2));
  }

  static std::string meaning_of(const shown_section& s, const key_spec& k) {
    std::string out(k.doc);
    if (const auto* note = find_key_note(s.spec->title, k.name)) {
      if (!note->more.empty()) out += " " + std::string(note->more);
      if (!note->example.empty()) out += " Example: " + quoted(note->example);
    }
    for (const auto& rule : later_rules())
      if (is_path_of(rule.path, s, k)) out += " " + later_sentence(rule);
    return out;
  }

  static bool is_path_of(std::string_view rule, const shown_section& s, const key_spec& k) {
    return std::ranges::any_of(s.paths, [&](std::string path) {
      for (auto at = path.find("NAME"); at != std::string::npos; at = path.find("NAME")) path.replace(at, 4, "*");
      return rule == path + "." + std::string(k.name);
    });
  }

  static std::string later_sentence(const later_rule& rule) {
    if (rule.acting.empty()) return "**Not in this version.**";
    return "**In this version only " + joined(rule.acting, " and ") + " acts.**";
  }

  std::vector<shown_section> sections_;
  std::string out_;
};

}  // namespace

std::string key_document() {
  return document().text();
}

}  // namespace mcpbx::conf::model
