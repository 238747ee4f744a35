// Every key of the table, driven by the table: right values are taken, wrong ones refused at their exact place.
#include "conf/load.hpp"
#include "conf/model/spec.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <set>

using namespace mcpbx::conf;
using namespace mcpbx::conf::documents;
using namespace mcpbx::conf::loop;
using namespace mcpbx::conf::model;

namespace {

struct example {
  const form* f;
  const char *good, *bad;
};

const std::array examples{
    example{&forms::filled, "text", ""},
    example{&forms::env_name, "A_1", "1A"},
    example{&forms::header_name, "X-Key", "X Key"},
    example{&forms::header_value, "one line", "two\\nlines"},
    example{&forms::http_url, "https://a.example/mcp", "ftp://a.example"},
    example{&forms::server_url, "https://a.example/mcp", "ftp://a.example"},
    example{&forms::endpoint_url, "unix:/run/model.sock:/v1", "ftp://a.example"},
    example{&forms::tool_glob, "git_*", ""},
    example{&forms::tool_name, "history", "no blanks"},
    example{&forms::root_place, "~/notes", "https://a.example"},
    example{&forms::loopback_address, "127.0.0.1:8421", "0.0.0.0:8421"},
    example{&forms::store_url, "sqlite:", "mysql://x"},
};

std::string good_text(const form* f) {
  for (const auto& e : examples)
    if (e.f == f) return e.good;
  return "text";
}

/// Place of a key: the text before its value (which is put on a line of its own), the text behind it, and its path.
struct position {
  const key_spec* key;
  std::string before, after, path;
};

/// The members that a section needs beside `key`.
std::string company(const section_spec& s, std::string_view key) {
  if (s.title == "server") return key == "command" || key == "url" ? "" : "\"command\": \"c\", ";
  if (s.title == "model") return key == "api" ? "\"model\": \"m\", " : "\"api\": \"rehearsal\", ";
  return "";
}

void each_key(const section_spec& s, const std::string& before, const std::string& after, const std::string& path,
              const std::function<void(const position&)>& visit) {
  for (const auto& k : s.keys) {
    const auto here = before + "{" + company(s, k.name) + "\"" + std::string(k.name) + "\":";
    const auto where = member_path(path, k.name);
    visit({&k, here, "}" + after, where});
    if (k.kind == shape::section) each_key(*k.inner, here, "}" + after, where, visit);
    if (k.kind == shape::entries) each_key(*k.inner, here + " [", "]}" + after, element_path(where, 0), visit);
    if (k.kind == shape::named) each_key(*k.inner, here + " {\"x\": ", "}}" + after, where + ".x", visit);
  }
}

void each_key(const std::function<void(const position&)>& visit) {
  each_key(root_section(), "", "", "", visit);
}

std::vector<std::string> good_values(const key_spec& k) {
  const auto text = "\"" + good_text(k.value_form) + "\"";
  const auto name = "\"" + good_text(k.name_form) + "\"";
  switch (k.kind) {
    case shape::boolean:
      return {"true", "false"};
    case shape::whole:
      return {std::to_string(k.low), std::to_string(k.high), std::to_string(k.low) + ".0"};
    case shape::real:
      return {std::to_string(k.real_low), std::to_string(k.real_high), "0.5"};
    case shape::word: {
      std::vector<std::string> all;
      for (const auto w : k.words) all.push_back("\"" + std::string(w) + "\"");
      return all;
    }
    case shape::text:
      return {text, "\"${env:X}\"", "\"a${file:/x}b${cmd:pass show x}\"", "\"$${\""};
    case shape::plain:
      return {text};
    case shape::texts:
      return {"[]", "[" + text + "]", "[" + text + ", \"${env:X}\"]"};
    case shape::plains:
      if (k.never_empty) return {"[" + text + ", " + text + "]"};
      return {"[]", "[" + text + ", " + text + "]"};
    case shape::text_map:
    case shape::plain_map:
      return {"{}", "{" + name + ": " + text + "}"};
    case shape::whole_map:
      return {"{}", "{" + name + ": " + std::to_string(k.low) + "}", "{" + name + ": " + std::to_string(k.high) + "}"};
    case shape::entries:
      return {"[]", "[" + text + ", \"${env:X}\"]", "[{\"uri\": " + text + "}, " + text + "]"};
    case shape::switch_or_text:
      return {"true", "false", text};
    case shape::any_object:
      return {"{}", R"({"a": {"b": [1, -2.5, true, null, "x"]}})"};
    case shape::section:
      return {"{}"};
    case shape::named:
      return {"{}"};
  }
  return {};
}

/// Values that are wrong where they start.
std::vector<std::string> bad_values(const key_spec& k) {
  std::vector<std::string> all{"null"};
  const auto add = [&](std::initializer_list<const char*> more) { all.insert(all.end(), more.begin(), more.end()); };
  if (k.kind != shape::boolean && k.kind != shape::switch_or_text) add({"true"});
  if (k.kind != shape::whole && k.kind != shape::real) add({"5"});
  if (k.kind != shape::section && k.kind != shape::named && k.kind != shape::text_map && k.kind != shape::plain_map &&
      k.kind != shape::whole_map && k.kind != shape::any_object)
    add({"{}"});
  if (k.kind != shape::texts && k.kind != shape::plains && k.kind != shape::entries) add({"[]"});
  switch (k.kind) {
    case shape::boolean:
      add({"\"true\"", "\"yes\""});
      break;
    case shape::whole:
      add({"\"5\"", "2.5", "1e300", "99999999999999999999"});
      all.push_back(std::to_string(k.low - 1));
      all.push_back(std::to_string(k.high + 1));
      break;
    case shape::real:
      add({"\"0.5\"", "-0.001", "1e400"});
      break;
    case shape::word:
      add({"\"nonsense\"", "\"\""});
      break;
    case shape::text:
      add({"\"${env:}\"", "\"${nope:X}\"", "\"${env:X\""});
      break;
    case shape::plain:
    case shape::switch_or_text:
      add({"\"${env:X}\""});
      break;
    default:
      break;
  }
  if (k.kind == shape::text || k.kind == shape::plain)
    for (const auto& e : examples)
      if (e.f == k.value_form) all.push_back("\"" + std::string(e.bad) + "\"");
  return all;
}

loaded load_keys(const std::string& text) {
  const std::array files{source_text{"f", text}};
  return load(files, {});
}

/// Findings that rules between keys make, which single keys are not about.
bool between_keys(const diagnostic& d) {
  return d.what.starts_with("names the ") || d.what.starts_with("needs ") || d.what.starts_with("is ");
}

}  // namespace

TEST_CASE("keys: every key takes the values of its type and range") {
  int keys = 0;
  each_key([&](const position& p) {
    ++keys;
    for (const auto& v : good_values(*p.key)) {
      const auto text = p.before + "\n  " + v + p.after;
      CAPTURE(text);
      auto made = load_keys(text);
      std::erase_if(made.errors, between_keys);
      CHECK(made.error_text() == "");
    }
  });
  CHECK(keys > 100);
}

TEST_CASE("D5: every key refuses wrong types and values at the exact place with a mend") {
  each_key([&](const position& p) {
    for (const auto& v : bad_values(*p.key)) {
      const auto text = p.before + "\n  " + v + p.after;
      CAPTURE(text);
      auto made = load_keys(text);
      std::erase_if(made.errors, between_keys);
      REQUIRE(made.errors.size() == 1);
      const auto& e = made.errors[0];
      CHECK(e.file == "f");
      CHECK(e.line == 2);
      CHECK(e.column == 3);
      CHECK(e.path == p.path);
      CHECK_FALSE(e.what.empty());
      CHECK_FALSE(e.mend.empty());
      CHECK(e.text().starts_with("f:2:3: "));
    }
  });
}

TEST_CASE("keys: elements of lists and maps are refused at their own place") {
  each_key([&](const position& p) {
    const auto& k = *p.key;
    const auto refuses = [&](const std::string& value, std::uint32_t column) {
      const auto text = p.before + "\n  " + value + p.after;
      CAPTURE(text);
      auto made = load_keys(text);
      std::erase_if(made.errors, between_keys);
      REQUIRE(made.errors.size() == 1);
      CHECK(made.errors[0].line == 2);
      CHECK(made.errors[0].column == column);
      CHECK(made.errors[0].path.starts_with(p.path));
      CHECK_FALSE(made.errors[0].mend.empty());
    };
    const auto good = "\"" + good_text(k.value_form) + "\"";
    const bool list = k.kind == shape::texts || k.kind == shape::plains || k.kind == shape::entries;
    const bool map = k.kind == shape::text_map || k.kind == shape::plain_map;
    const auto name = "\"" + good_text(k.name_form) + "\"";
    if (list) refuses("[" + good + ", 5]", static_cast<std::uint32_t>(6 + good.size()));
    if (map) refuses("{" + name + ": 5}", static_cast<std::uint32_t>(6 + name.size()));
    if (k.kind == shape::whole_map)
      for (const auto& wrong : {std::string("\"5\""), std::to_string(k.low - 1), std::to_string(k.high + 1)})
        refuses("{" + name + ": " + wrong + "}", static_cast<std::uint32_t>(6 + name.size()));
    for (const auto& e : examples) {
      if (list && e.f == k.value_form) refuses("[\"" + std::string(e.bad) + "\"]", 4);
      if (map && e.f == k.value_form)
        refuses("{" + name + ": \"" + e.bad + "\"}", static_cast<std::uint32_t>(6 + name.size()));
      if (map && e.f == k.name_form) refuses("{\"" + std::string(e.bad) + "\": " + good + "}", 4);
    }
  });
}

TEST_CASE(
    "keys: a reference is refused with its place in every string that takes none, so that none is taken literally") {
  std::set<std::string> refused;
  each_key([&](const position& p) {
    const auto k = p.key->kind;
    const std::string ref = "\"${env:X}\"";
    std::string value;
    if (k == shape::plain || k == shape::switch_or_text || k == shape::word) value = ref;
    if (k == shape::plains) value = "[" + ref + "]";
    if (k == shape::plain_map) value = "{\"x\": " + ref + "}";
    if (value.empty()) return;
    const auto text = p.before + "\n  " + value + p.after;
    CAPTURE(text);
    const auto made = load_keys(text);
    CHECK(std::ranges::any_of(made.errors, [&](const diagnostic& d) {
      return d.path.starts_with(p.path) &&
             (d.what == "references do not work here" || (k == shape::word && d.what.starts_with("must be ")));
    }));
    refused.insert(p.path);
  });
  for (const char* path :
       {"defaultModel", "audit", "profiles.x.tools.allow", "mcpServers.x.tools.deny", "loop.guidance"})
    CHECK_MESSAGE(refused.contains(path), path);
}

TEST_CASE("D5: a misspelt key names the key that was meant") {
  each_key([&](const position& p) {
    if (p.key->name.size() < 4 || p.path.starts_with("mcpServers.x.")) return;  // there, they are notices
    std::string text = p.before;
    const auto at = text.rfind(p.key->name);
    text.insert(at + p.key->name.size() - 1, "q");
    const auto made = load_keys(text + " {}" + p.after);
    CAPTURE(text);
    const auto found = std::ranges::find_if(made.errors, [&](const diagnostic& d) {
      return d.what == "unknown key" && d.mend == "did you mean \"" + std::string(p.key->name) + "\"?";
    });
    CHECK(found != made.errors.end());
  });
}

TEST_CASE("keys: the table is sound") {
  std::set<std::string> paths;
  each_key([&](const position& p) {
    const auto& k = *p.key;
    CAPTURE(p.path);
    CHECK(paths.insert(p.path).second);
    CHECK(k.doc.ends_with("."));
    if (k.kind == shape::whole) CHECK(k.low < k.high);
    if (k.kind == shape::real) CHECK(k.real_low < k.real_high);
    if (k.kind == shape::word) CHECK_FALSE(k.words.empty());
    CHECK((k.kind == shape::section || k.kind == shape::named ? k.enter != nullptr : k.store != nullptr));
  });
  for (const auto& rule : later_rules()) {
    std::string path(rule.path);
    for (auto i = path.find('*'); i != path.npos; i = path.find('*')) path[i] = 'x';
    CAPTURE(path);
    CHECK(paths.contains(path));
  }
}

TEST_CASE("keys: the defaults are the documented ones") {
  const auto made = load_keys(
      "{\"mcpServers\": {\"s\": {\"command\": \"c\"}}, \"models\": {\"m\": {\"api\": \"openai-chat\", \"model\": "
      "\"i\"}}}");
  REQUIRE(made.error_text() == "");
  const auto& c = made.config;
  const auto& s = c.servers.at(0);
  CHECK(s.start == start_mode::eager);
  CHECK(s.sharing == sharing_mode::shared);
  CHECK(s.start_timeout_ms.count() == 30'000);
  CHECK(s.call_timeout_ms.count() == 60'000);
  CHECK(s.call_hard_timeout_ms.count() == 600'000);
  CHECK(s.idle_stop_ms.count() == 0);
  CHECK(s.max_concurrency == 0);
  CHECK(s.max_instances == 16);
  CHECK_FALSE(s.trust_annotations);
  CHECK(s.max_retries == 2);
  CHECK(s.tools.serial.empty());
  CHECK(s.tools.retry.empty());
  CHECK(s.protocol == "auto");
  CHECK(s.orphans == orphan_policy::end);
  CHECK_FALSE(s.may_call);
  const auto& m = c.models.at(0);
  CHECK(m.format == tool_format::automatic);
  CHECK(m.connect_timeout_ms.count() == 10'000);
  CHECK(m.first_byte_timeout_ms.count() == 300'000);
  CHECK(m.idle_timeout_ms.count() == 120'000);
  CHECK(m.total_timeout_ms.count() == 600'000);
  CHECK(m.max_retries == 2);
  CHECK(c.tool_names == name_style::prefixed);
  CHECK(c.loop.max_rounds == 10);
  CHECK(c.loop.max_calls_per_round == 64);
  CHECK(c.loop.max_calls == 256);
  CHECK(c.loop.max_consecutive_errors == 3);
  CHECK(c.loop.max_repeated_calls == 3);
  CHECK(c.loop.timeout_ms == 120'000);
  CHECK(c.loop.question_timeout_ms == 600'000);
  CHECK_FALSE(c.loop.token_budget);
  CHECK(c.loop.on_limit == limit_policy::synthesize);
  CHECK(c.loop.on_tool_error == tool_error_policy::go_on);
  CHECK(c.loop.round_prompts == round_prompt_mode::implicit);
  CHECK(c.loop.tool_concurrency == 8);
  CHECK(c.loop.status == status_mode::names);
  CHECK_FALSE(c.loop.status_model);
  CHECK((c.loop.guidance == switch_or_text{true, {}}));
  CHECK(c.loop.empty_result_text == "No relevant content found");
  CHECK(c.loop.max_result_bytes == 102'400);
  CHECK(c.idle_exit_ms.count() == 900'000);
  CHECK(c.limits.max_message_bytes == 33'554'432);
  CHECK(c.limits.max_json_depth == 256);
  CHECK(c.limits.callers == 4096);
  CHECK(c.limits.total_bytes == 536'870'912);
  CHECK(c.limits.held_call_ms == 600'000);
  CHECK(c.log.level == log_level::info);
  CHECK(c.store.sync == store_sync::turn);
  CHECK(c.http.auth == http_auth::token);
}
