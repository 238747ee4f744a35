// Fills one property at a time: by its enum, by its type, then by its name.
#include "providers/rehearsal/fill.hpp"

#include "mcp/json/json_walk.hpp"
#include "mcp/json/json_writer.hpp"
#include "providers/rehearsal/question_words.hpp"

#include <algorithm>
#include <initializer_list>
#include <vector>

namespace mcpbx::providers::rehearsal {
namespace {

struct supply {
  const findings& from;
  std::string_view earlier;
  bool all_optional;  // a tool that demands nothing still wants something
  std::size_t numbers = 0, paths = 0, zones = 0, quoted = 0, times = 0, urls = 0;
};

struct value {
  std::string json;
  double certainty;
};
using maybe = std::optional<value>;

std::optional<std::string> take(const std::vector<std::string>& all, std::size_t& next) {
  if (next >= all.size()) return std::nullopt;
  return all[next++];
}

bool mentions(const std::vector<std::string>& words, std::initializer_list<std::string_view> wanted) {
  return std::any_of(wanted.begin(), wanted.end(),
                     [&](auto w) { return std::find(words.begin(), words.end(), w) != words.end(); });
}

maybe text(const std::optional<std::string>& found, double certainty) {
  if (!found || found->empty()) return std::nullopt;
  return value{json::json_quoted(*found), certainty};
}

// Returns the words of the clause that carry meaning, for use as a search query.
std::string significant(std::string_view clause) {
  std::string out;
  for (const auto& word : words_in(clause)) {
    if (is_filler(word) || !tool_word(word).empty() || word == "file" || word == "search" || word == "read") continue;
    if (!out.empty()) out += ' ';
    out += word;
  }
  return out;
}

maybe fill_enum(std::string_view choices, const supply& s) {
  maybe found;
  const auto clause = words_in(s.from.clause);
  json::walk::elements(choices, [&](std::string_view choice) {
    const auto words = words_in(json::walk::text(choice));
    const bool all = !words.empty() && std::all_of(words.begin(), words.end(), [&](const auto& w) {
      return std::find(clause.begin(), clause.end(), w) != clause.end();
    });
    if (!found && all) found = value{std::string(choice), 2};
  });
  return found;
}

maybe fill_zone(const std::vector<std::string>& words, bool named_zone, supply& s) {
  // "from" and "to" take the first and the second zone, whatever the order of the properties.
  const auto& all = named_zone ? s.from.zones : s.from.cities;
  if (mentions(words, {"to", "target", "destination"}))
    return all.empty() ? std::nullopt : text(all[all.size() > 1 ? 1 : 0], 2);
  if (mentions(words, {"from", "source", "origin"})) return all.size() > 1 ? text(all[0], 2) : std::nullopt;
  return text(take(all, s.zones), 2);
}

maybe fill_string(std::string_view name, std::string_view property, bool required, supply& s) {
  const auto words = words_in(name);
  const auto about = words_in(json::walk::text(json::walk::find(property, "description")));
  const auto format = json::walk::text(json::walk::find(property, "format"));
  const auto& f = s.from;
  if (mentions(words, {"timezone", "tz", "zone"})) return fill_zone(words, true, s);
  if (mentions(about, {"iana", "timezone"}) && mentions(words, {"from", "to", "source", "target", "place", "location"}))
    return fill_zone(words, true, s);
  if (mentions(words, {"city", "location", "place", "country"})) return fill_zone(words, false, s);
  if (mentions(words, {"expression", "formula", "calculation", "equation", "math"}))
    return f.expression.empty() ? text(take(f.quoted, s.quoted), 1) : text(f.expression, 5);
  if (mentions(words, {"url", "uri", "link", "href"}) || format == "uri") return text(take(f.urls, s.urls), 4);
  if (mentions(words, {"path", "file", "filename", "directory", "dir", "folder", "root"})) {
    if (auto path = take(f.paths, s.paths)) return text(path, 3);
    const bool folder =
        mentions(words, {"directory", "dir", "folder", "root"}) || mentions(about, {"directory", "folder"});
    if (required && !s.earlier.empty()) {
      const auto found = paths_in(s.earlier);
      if (!found.empty()) return text(found.front(), 2);
    }
    if (required && folder && !f.points_back) return value{"\".\"", 0};
    // A quoted name is a path where nothing else is asked for.
    return required && !folder ? text(take(f.quoted, s.quoted), 1) : std::nullopt;
  }
  if (mentions(words, {"time", "date", "datetime", "when", "timestamp"})) return text(take(f.times, s.times), 2);
  const bool wants_text =
      mentions(words, {"query", "q", "text", "pattern", "search", "keyword", "term", "needle", "phrase", "content"});
  if (mentions(words, {"name", "glob"}) && !f.called.empty()) return text(f.called, 2);
  if (!required && !(s.all_optional && wants_text)) return std::nullopt;
  if (!required)
    return f.called.empty() || !f.quoted.empty()
               ? text(s.quoted < f.quoted.size() ? f.quoted[s.quoted++] : f.subject, 2)
               : std::nullopt;
  if (auto q = take(f.quoted, s.quoted)) return text(q, 2);
  if (!f.subject.empty()) return text(f.subject, 1);
  if (!s.earlier.empty() && f.points_back) return text(std::string(s.earlier.substr(0, 2000)), 0.5);
  if (mentions(words, {"query", "q", "text", "pattern", "search", "keyword", "term", "needle", "phrase", "message",
                       "topic", "name", "input", "question"}))
    return text(significant(f.clause), 0);
  return std::nullopt;
}

maybe fill_one(std::string_view name, std::string_view property, bool required, supply& s);

maybe fill_array(std::string_view name, std::string_view property, bool required, supply& s) {
  const auto items = json::walk::find(property, "items");
  std::string all;
  double certainty = 0;
  for (int i = 0; i < 16; ++i) {
    const auto one = fill_one(name, items, required && i == 0, s);
    if (!one || one->certainty <= 0) break;
    if (!all.empty()) all += ',';
    all += one->json;
    certainty = std::max(certainty, one->certainty);
    if (json::walk::find(items, "type") == "\"string\"" && s.quoted == 0 && s.paths == 0) break;
  }
  if (all.empty()) return std::nullopt;
  return value{"[" + all + "]", certainty};
}

maybe fill_one(std::string_view name, std::string_view property, bool required, supply& s) {
  if (const auto fixed = json::walk::find(property, "const"); !fixed.empty()) return value{std::string(fixed), 0};
  const auto preset = json::walk::find(property, "default");
  auto or_preset = [&](maybe found) -> maybe {
    if (found || !required || preset.empty()) return found;
    return value{std::string(preset), 0};
  };
  if (const auto choices = json::walk::find(property, "enum"); !choices.empty()) {
    auto found = or_preset(fill_enum(choices, s));
    if (!found && required)
      json::walk::elements(choices, [&](std::string_view choice) {
        if (!found) found = value{std::string(choice), 0};
      });
    return found;
  }
  auto type = json::walk::text(json::walk::find(property, "type"));
  if (type.empty())  // "type": ["string", "null"]
    json::walk::elements(json::walk::find(property, "type"), [&](std::string_view t) {
      if (type.empty() && t != "\"null\"") type = json::walk::text(t);
    });
  const auto clause = words_in(s.from.clause);
  const auto own = words_in(name);
  const bool named = std::any_of(own.begin(), own.end(), [&](const auto& w) {
    return w.size() > 2 && std::find(clause.begin(), clause.end(), w) != clause.end();
  });
  if (type == "integer" || type == "number") {
    if (!required && !named) return std::nullopt;
    auto number = take(s.from.numbers, s.numbers);
    if (number && type == "integer" && number->find_first_of(".eE") != std::string::npos) number.reset();
    return or_preset(number ? maybe(value{*number, 2}) : std::nullopt);
  }
  if (type == "boolean") {
    if (named) return value{"true", 0.5};
    return or_preset(required && preset.empty() ? maybe(value{"false", 0}) : std::nullopt);
  }
  if (type == "array") return or_preset(fill_array(name, property, required, s));
  if (type == "object") return required ? or_preset(std::nullopt) : std::nullopt;
  return or_preset(fill_string(name, property, required, s));
}

}  // namespace

std::optional<filled> fill(const json::raw_json& schema, const findings& from, std::string_view earlier) {
  std::vector<std::string> needed;
  json::walk::elements(json::walk::find(schema.text(), "required"),
                       [&](std::string_view r) { needed.push_back(json::walk::text(r)); });
  supply s{from, earlier, needed.empty()};
  filled all;
  json::json_writer w(all.arguments);
  w.begin_object();
  bool possible = true;
  // Required properties choose first.
  for (const bool required : {true, false})
    json::walk::members(json::walk::find(schema.text(), "properties"),
                        [&](std::string_view name, std::string_view property) {
                          if ((std::find(needed.begin(), needed.end(), name) != needed.end()) != required || !possible)
                            return;
                          const auto found = fill_one(name, property, required, s);
                          if (!found) {
                            possible = possible && !required;
                            return;
                          }
                          w.key(name).token(found->json);
                          all.certainty += found->certainty;
                        });
  if (!possible) return std::nullopt;
  w.end_object();
  return all;
}

}  // namespace mcpbx::providers::rehearsal
