// Loading: parse each file, merge the trees, walk the result beside the key table, then the rules between keys.
#include "conf/load.hpp"

#include "conf/document/merge.hpp"
#include "conf/hosts/host_adopt.hpp"
#include "conf/hosts/host_keys.hpp"
#include "conf/model/key_words.hpp"
#include "conf/model/loop_levels.hpp"
#include "conf/model/spec.hpp"
#include "conf/rules.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

namespace mcpbx::conf {
namespace {

constexpr std::size_t most_findings = 200;

class checker {
 public:
  checker(std::span<const source_text> files, const environment& env, loaded& out)
      : files_(files), env_(env), out_(out) {}

  void check(const documents::node& root, bool syntax_errors) {
    if (root.is(documents::node::kind::broken)) return;
    if (!root.is(documents::node::kind::object)) {
      error(root.at, "the configuration must be an object, not " + std::string(documents::words_for(root.type)), "",
            "write { … } around it");
      return;
    }
    check_section(root, model::root_section(), &out_.config, {"", "", false});
    const report_fn rule_error = [this](const std::string& path, std::string what, std::string mend) {
      error(place_of(path), std::move(what), path, std::move(mend));
    };
    const report_fn rule_notice = [this](const std::string& path, std::string what, std::string mend) {
      notice(place_of(path), std::move(what), path, std::move(mend));
    };
    if (!root.find("models")) add_environment_models(out_.config, env_);
    add_demo_model(out_.config);
    // After an error a name may seem to be missing only because its definition could not be read.
    if (!syntax_errors) check_rules(out_.config, rule_error, rule_notice);
    assign_prefixes(out_.config, rule_notice);
  }

 private:
  /// Position of the walk: the path that errors show, and its pattern with `*` for names, as later_rules() has it.
  struct spot {
    std::string path, pattern;
    bool server_entry;

    spot member(std::string_view key) const {
      return {documents::member_path(path, key), pattern.empty() ? std::string(key) : pattern + "." + std::string(key),
              server_entry};
    }
    spot name(std::string_view key, bool server) const {
      return {documents::member_path(path, key), pattern + ".*", server || server_entry};
    }
  };

  void add(std::vector<documents::diagnostic>& list, const documents::place& at, std::string what, std::string path,
           std::string mend) {
    if (list.size() > most_findings) return;
    if (list.size() == most_findings) {
      what = "too many findings; the rest is not listed";
      mend = "see to those above first";
    }
    list.push_back({at.file < files_.size() ? files_[at.file].name : "", at.line, at.column, std::move(what),
                    std::move(path), std::move(mend)});
  }
  void error(const documents::place& at, std::string what, std::string path, std::string mend) {
    add(out_.errors, at, std::move(what), std::move(path), std::move(mend));
  }
  void notice(const documents::place& at, std::string what, std::string path, std::string mend) {
    add(out_.config.notices, at, std::move(what), std::move(path), std::move(mend));
  }

  /// Returns the place of the value at `path`, or of the nearest value around it that stands in a file.
  documents::place place_of(std::string path) const {
    while (!path.empty()) {
      if (const auto i = places_.find(path); i != places_.end()) return i->second;
      const auto cut = path.find_last_of(".[");
      path.resize(cut == path.npos ? 0 : cut);
    }
    return {0, 1, 1};
  }

  void check_section(const documents::node& n, const model::section_spec& spec, void* target, const spot& at) {
    for (const auto& m : n.members) {
      if (const auto* k = spec.find(m.key))
        check_key(*k, m.value, target, at.member(m.key), m.at);
      else
        unknown_key(m, spec, at.member(m.key).path);
    }
    if (n.damaged) return;  // a key that seems to be missing may only be unreadable
    for (const auto& need : spec.needs) check_need(n, need, at.path);
    const auto [one, two] = spec.one_of_two;
    if (one.empty()) return;
    const auto *a = n.find(one), *b = n.find(two);
    const auto pair = "\"" + std::string(one) + "\" or \"" + std::string(two) + "\"";
    if (!a && !b) error(n.at, "needs " + pair, at.path, "add one of the two");
    if (a && b)
      error(b->at, "has both \"" + std::string(one) + "\" and \"" + std::string(two) + "\"", at.path,
            "take one of the two out");
  }

  void check_need(const documents::node& n, const model::need& need, const std::string& path) {
    if (n.find(need.key)) return;
    std::string because;
    if (!need.when.empty()) {
      const auto* m = n.find(need.when);
      if (!m || !m->value.is(documents::node::kind::string) ||
          std::ranges::find(need.words, m->value.text) == need.words.end())
        return;
      because = " (" + std::string(need.when) + " is \"" + m->value.text + "\")";
    }
    error(n.at, "needs \"" + std::string(need.key) + "\"" + because, path, std::string(need.mend));
  }

  /// Returns true if further errors are not listed, so that nobody need look for a near word.
  bool is_hopeless() const { return out_.errors.size() > most_findings; }

  void unknown_key(const documents::node_member& m, const model::section_spec& spec, const std::string& path) {
    if (is_hopeless()) return;
    const auto names = spec.key_names();
    if (spec.server_entry) {
      if (const auto meant = hosts::meant_entry_key(m.key, names); !meant.empty())
        return error(m.at, "unknown key", path, "did you mean \"" + std::string(meant) + "\"?");
      if (hosts::sounds_restricting(m.key))
        return error(
            m.at, "unknown key, whose name says that it restricts something", path,
            "say it with \"disabled\", \"tools\": {\"allow\": […], \"deny\": […]} or \"approve\", or take it out");
      return notice(m.at, "unknown key; it has no effect", path, "leave it if another host needs it");
    }
    if (const auto meant = hosts::meant_key(m.key, names); !meant.empty())
      return error(m.at, "unknown key", path, "did you mean \"" + std::string(meant) + "\"?");
    if (spec.find("mcpServers") && m.key == "servers")
      return error(m.at, "unknown key", path, "did you mean \"mcpServers\"?");
    if (spec.find("mcpServers") && hosts::sounds_restricting(m.key))
      return error(m.at, "unknown key, whose name says that it restricts something", path,
                   "say it in the entries of mcpServers: \"disabled\": true, or \"tools\": {\"deny\": […]}");
    const auto home = home_of(m.key, model::root_section(), "");
    error(m.at, "unknown key", path,
          home.empty() ? "the keys here are " + model::listed(names) : "it belongs in \"" + home + "\"");
  }

  /// Finds the section that knows `key`, outside of named entries.
  static std::string home_of(std::string_view key, const model::section_spec& spec, const std::string& path) {
    for (const auto& k : spec.keys)
      if ((k.kind == model::shape::section || k.kind == model::shape::named) && k.inner->find(key))
        return k.kind == model::shape::section ? documents::member_path(path, k.name)
                                               : documents::member_path(path, k.name) + ".NAME";
    return "";
  }

  void check_key(const model::key_spec& k, const documents::node& n, void* target, const spot& at,
                 const documents::place& key_at) {
    places_.emplace(at.path, n.at);
    if (n.is(documents::node::kind::broken)) return;
    check_later(n, at, key_at);
    switch (k.kind) {
      case model::shape::section:
        if (right_kind(k, n, documents::node::kind::object, at))
          check_section(n, *k.inner, k.enter(target, k.name, n.at), at);
        return;
      case model::shape::named:
        if (right_kind(k, n, documents::node::kind::object, at)) check_named(k, n, target, at);
        return;
      case model::shape::entries:
        if (right_kind(k, n, documents::node::kind::array, at)) check_entries(k, n, target, at);
        return;
      default:
        if (check_value(k, n, at)) k.store(target, n, {at.path, at.server_entry});
    }
  }

  void check_named(const model::key_spec& k, const documents::node& n, void* target, const spot& at) {
    for (const auto& m : n.members) {
      const auto inside = at.name(m.key, k.inner->server_entry);
      places_.emplace(inside.path, m.at);
      if (!k.name_form->accepts(m.key))
        error(m.at, "the name must be " + std::string(k.name_form->says), inside.path, std::string(k.name_form->mend));
      if (m.value.is(documents::node::kind::broken)) continue;
      if (!m.value.is(documents::node::kind::object)) {
        error(m.value.at, "must be an object, not " + std::string(documents::words_for(m.value.type)), inside.path,
              "write \"NAME\": { … }");
        continue;
      }
      if (k.inner->server_entry) {
        auto entry = m.value;
        hosts::adopt_host_keys(entry, m.key, inside.path, host_findings_);
        check_section(entry, *k.inner, k.enter(target, m.key, m.at), inside);
      } else {
        check_section(m.value, *k.inner, k.enter(target, m.key, m.at), inside);
      }
    }
  }

  void check_entries(const model::key_spec& k, const documents::node& n, void* target, const spot& at) {
    if (n.items.size() > model::max_list_entries)
      return error(
          n.at,
          "has " + std::to_string(n.items.size()) + " elements, more than " + std::to_string(model::max_list_entries),
          at.path, "write fewer");
    for (std::size_t i = 0; i < n.items.size(); ++i) {
      const auto& item = n.items[i];
      const spot inside{documents::element_path(at.path, i), at.pattern, false};
      places_.emplace(inside.path, item.at);
      if (item.is(documents::node::kind::broken)) continue;
      if (item.is(documents::node::kind::object))
        check_section(item, *k.inner, k.enter(target, "", item.at), inside);
      else if (item.is(documents::node::kind::string)) {
        if (check_string(k, item, inside.path, at.server_entry)) k.store(target, item, {inside.path, at.server_entry});
      } else
        error(item.at, "must be a string or an object, not " + std::string(documents::words_for(item.type)),
              inside.path, "write a text in quotes, or { … }");
    }
  }

  void check_later(const documents::node& n, const spot& at, const documents::place& key_at) {
    for (const auto& rule : model::later_rules()) {
      if (rule.path != at.pattern) continue;
      const auto value = n.is(documents::node::kind::integer) ? std::to_string(n.whole) : n.text;
      if (std::ranges::none_of(rule.acting, [&](std::string_view form) { return acts(form, value); }))
        notice(key_at, "is checked and kept, but this version of mcpbx does not act on it yet", at.path,
               rule.mend.empty() ? "what it does act on is " + model::listed(rule.acting) : std::string(rule.mend));
      return;
    }
  }

  /// Returns true if `value` equals `form`, or begins with the text before its final "…".
  static bool acts(std::string_view form, std::string_view value) {
    constexpr std::string_view rest = "…";
    return form.ends_with(rest) ? value.starts_with(form.substr(0, form.size() - rest.size())) : form == value;
  }

  /// Returns true if `n` is of kind `wanted`; else reports an error.
  bool right_kind(const model::key_spec& k, const documents::node& n, documents::node::kind wanted, const spot& at) {
    if (n.is(wanted)) return true;
    error(n.at, "must be " + model::expected(k) + ", not " + std::string(documents::words_for(n.type)), at.path,
          model::mend_kind(k, n));
    return false;
  }

  bool check_value(const model::key_spec& k, const documents::node& n, const spot& at) {
    switch (k.kind) {
      case model::shape::boolean:
        return right_kind(k, n, documents::node::kind::boolean, at);
      case model::shape::whole:
        if (!n.is(documents::node::kind::number) && !right_kind(k, n, documents::node::kind::integer, at)) return false;
        if (n.is(documents::node::kind::integer) && n.whole >= k.low && n.whole <= k.high) return true;
        error(n.at, "must be " + model::expected(k), at.path, model::mend_kind(k, n));
        return false;
      case model::shape::real:
        if (!n.is(documents::node::kind::integer) && !right_kind(k, n, documents::node::kind::number, at)) return false;
        if (n.real >= k.real_low && n.real <= k.real_high) return true;
        error(n.at, "must be " + model::expected(k), at.path, model::mend_kind(k, n));
        return false;
      case model::shape::word: {
        if (!right_kind(k, n, documents::node::kind::string, at)) return false;
        if (std::ranges::find(k.words, n.text) != k.words.end()) return true;
        const std::string near(nearest(n.text, k.words));
        error(n.at, "must be " + model::expected(k), at.path,
              near.empty() ? model::mend_kind(k, n) : "did you mean \"" + near + "\"?");
        return false;
      }
      case model::shape::text:
      case model::shape::plain:
        if (!right_kind(k, n, documents::node::kind::string, at) || !check_string(k, n, at.path, at.server_entry))
          return false;
        if (k.is_secret) check_literal_secret(n, at.path);
        return true;
      case model::shape::texts:
      case model::shape::plains:
        return right_kind(k, n, documents::node::kind::array, at) && check_list(k, n, at);
      case model::shape::text_map:
      case model::shape::plain_map:
      case model::shape::whole_map:
        return right_kind(k, n, documents::node::kind::object, at) && check_map(k, n, at);
      case model::shape::switch_or_text:
        return n.is(documents::node::kind::boolean) ||
               (right_kind(k, n, documents::node::kind::string, at) && check_string(k, n, at.path, false));
      case model::shape::any_object:
        return right_kind(k, n, documents::node::kind::object, at) && check_any(k, n, at.path);
      case model::shape::entries:
      case model::shape::section:
      case model::shape::named:
        break;
    }
    return false;
  }

  bool check_list(const model::key_spec& k, const documents::node& n, const spot& at) {
    bool good = !n.damaged && check_count(k, n, n.items.size(), at.path);
    if (k.never_empty && n.items.empty() && !n.damaged) {
      const std::string thing(model::forms::thing_of(k.value_form));
      error(n.at, "an empty list offers no " + thing + " in some programs and all of them in others", at.path,
            "take the key out to offer all " + thing + "s, or write \"deny\": [\"*\"] to offer none");
      good = false;
    }
    for (std::size_t i = 0; i < n.items.size(); ++i)
      good = check_element(k, n.items[i], documents::element_path(at.path, i), at) && good;
    return good;
  }

  /// Accepts any value without references, which nobody would resolve here.
  bool check_any(const model::key_spec& k, const documents::node& n, const std::string& path) {
    places_.emplace(path, n.at);
    bool good = !n.damaged && !n.is(documents::node::kind::broken);
    if (n.is(documents::node::kind::string)) good = check_string(k, n, path, false);
    for (std::size_t i = 0; i < n.items.size(); ++i)
      good = check_any(k, n.items[i], documents::element_path(path, i)) && good;
    for (const auto& m : n.members) good = check_any(k, m.value, documents::member_path(path, m.key)) && good;
    return good;
  }

  /// Limits the number of patterns, because each is matched with every tool.
  bool check_count(const model::key_spec& k, const documents::node& n, std::size_t count, const std::string& path) {
    const std::size_t most = k.most_items();
    if (most == 0 || count <= most) return true;
    error(n.at, "has " + std::to_string(count) + " patterns, more than " + std::to_string(most), path,
          "write fewer, with * for any characters");
    return false;
  }

  bool check_map(const model::key_spec& k, const documents::node& n, const spot& at) {
    bool good = !n.damaged && check_count(k, n, n.members.size(), at.path);
    for (const auto& m : n.members) {
      const auto path = documents::member_path(at.path, m.key);
      if (k.name_form && !k.name_form->accepts(m.key)) {
        error(m.at, "must be " + std::string(k.name_form->says), path, std::string(k.name_form->mend));
        good = false;
      }
      const bool right = check_element(k, m.value, path, at);
      if (right && k.is_secret && model::secret_name(m.key)) check_literal_secret(m.value, path);
      good = right && good;
    }
    return good;
  }

  bool check_element(const model::key_spec& k, const documents::node& n, const std::string& path, const spot& at) {
    places_.emplace(path, n.at);
    if (n.is(documents::node::kind::broken)) return false;
    if (k.kind == model::shape::whole_map) {
      if (n.is(documents::node::kind::integer) && n.whole >= k.low && n.whole <= k.high) return true;
      error(n.at,
            "must be a whole number" + std::string(k.in_milliseconds ? " of milliseconds" : "") + " from " +
                std::to_string(k.low) + " to " + std::to_string(k.high),
            path, "write a whole number in this range");
      return false;
    }
    if (n.is(documents::node::kind::string)) return check_string(k, n, path, at.server_entry);
    error(n.at, "must be a string, not " + std::string(documents::words_for(n.type)), path, "write it in quotes");
    return false;
  }

  /// Checks the references and the form of a string. Errors never show the value, which may be private.
  bool check_string(const model::key_spec& k, const documents::node& n, const std::string& path, bool server_entry) {
    const bool marked = n.text.find("${") != n.text.npos;
    const bool text = k.kind == model::shape::text || k.kind == model::shape::texts ||
                      k.kind == model::shape::text_map || k.kind == model::shape::entries;
    if (marked && text) {
      auto fault = model::find_reference_fault(n.text, server_entry);
      if (fault) error(n.at, std::move(fault->what), path, std::move(fault->mend));
      return !fault;
    }
    if (marked) {
      error(n.at, "references do not work here", path, "write the value itself");
      return false;
    }
    if (!k.value_form || k.value_form->accepts(n.text)) return true;
    error(n.at, "must be " + std::string(k.value_form->says), path, std::string(k.value_form->mend));
    return false;
  }

  void check_literal_secret(const documents::node& n, const std::string& path) {
    if (n.text.empty() || model::has_references(n.text)) return;
    notice(n.at, "a secret stands in the file itself", path, "better write ${env:NAME}, ${file:PATH} or ${cmd:WORDS}");
  }

  std::span<const source_text> files_;
  const environment& env_;
  loaded& out_;
  std::unordered_map<std::string, documents::place> places_;
  const hosts::finding_sink host_findings_{
      [this](const documents::place& at, std::string what, std::string path, std::string mend) {
        error(at, std::move(what), std::move(path), std::move(mend));
      },
      [this](const documents::place& at, std::string what, std::string path, std::string mend) {
        notice(at, std::move(what), std::move(path), std::move(mend));
      }};
};

/// Sorts by file in the given order, then by line and column.
void sort(std::vector<documents::diagnostic>& list, std::span<const source_text> files) {
  std::multimap<std::tuple<std::ptrdiff_t, std::uint32_t, std::uint32_t>, documents::diagnostic>
      sorted;  // keeps the order of equals
  for (auto& d : list) {
    const auto file = std::ranges::find(files, d.file, &source_text::name) - files.begin();
    sorted.emplace(std::tuple(file, d.line, d.column), std::move(d));
  }
  list.clear();
  for (auto& [key, d] : sorted) list.push_back(std::move(d));
}

}  // namespace

loaded load(std::span<const source_text> files, const environment& env) {
  loaded out;
  if (files.empty()) {
    out.config = defaults(env);
    return out;
  }
  documents::node merged;
  for (std::size_t i = 0; i < files.size(); ++i) {
    out.config.sources.push_back(files[i].name);
    auto tree = documents::parse_jsonc(files[i].text, static_cast<std::uint32_t>(i), files[i].name, out.errors);
    if (i == 0)
      merged = std::move(tree);
    else
      documents::merge(merged, std::move(tree));
  }
  const bool syntax_errors = !out.errors.empty();
  checker(files, env, out).check(merged, syntax_errors);
  auto whole_loop = model::default_loop();
  model::overlay(whole_loop, out.config.loop);
  model::cap(whole_loop, out.config.loop.max);
  static_cast<model::loop_settings&>(out.config.loop) = std::move(whole_loop);
  sort(out.errors, files);
  sort(out.config.notices, files);
  return out;
}

}  // namespace mcpbx::conf
