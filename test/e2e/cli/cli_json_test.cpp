// The output of each verb with --json against its schema in docs/schemas/cli.json.
#include "providers/schema/validator/json_schema.hpp"
#include "test/e2e/harness/harness.hpp"

#include <doctest/doctest.h>

#include <set>
#include <sstream>

using namespace mcpbx::e2e;
using mcpbx::raw_json;

namespace {

/// The published schemas, compiled one by one.
class published_schemas {
 public:
  published_schemas() {
    const auto file = raw_json::parse(read_file(std::string(MCPBX_SOURCE_DIR) + "/docs/schemas/cli.json"));
    REQUIRE(file.has_value());
    parts_ = std::string(mcpbx::find_member(*file, "$defs").text());
  }
  /// Returns what is wrong with a text, or "".
  std::string fault(const std::string& name, std::string_view text) const {
    const auto schema = raw_json::parse(R"({"$ref":"#/$defs/)" + name + R"(","$defs":)" + parts_ + "}");
    REQUIRE(schema.has_value());
    const auto compiled = mcpbx::providers::json_schema::compile(*schema);
    REQUIRE(compiled.has_value());
    REQUIRE_MESSAGE(compiled->notes().empty(), mcpbx::providers::describe(compiled->notes(), name));
    const auto value = raw_json::parse(text);
    if (!value) return "no JSON: " + std::string(text);
    const auto verdict = compiled->check(*value);
    return mcpbx::providers::describe(verdict.violations, name);
  }
  bool has(const std::string& name) const { return contains(parts_, "\n    \"" + name + "\": "); }

 private:
  std::string parts_;
};

/// Returns the verbs that `mcpbx --help` lists.
std::set<std::string> listed_verbs(const world& w) {
  std::set<std::string> all;
  std::istringstream help(run_cli(w, {"--help"}).out);
  bool inside = false;
  for (std::string line; std::getline(help, line);) {
    if (line.ends_with(':')) inside = line == "Verbs:";
    if (inside && line.starts_with("  ") && line.size() > 2 && line[2] != ' ')
      all.insert(line.substr(2, line.find(' ', 2) - 2));
  }
  return all;
}

}  // namespace

TEST_CASE("D4: the JSON of each verb fits its published schema") {
  model_process model(
      R"({"models":{"m":[{"calls":[{"name":"s__add","arguments":{"a":1,"b":2}}]},{"text":"it is 3"}]}})");
  daemon_under_test d(config().server("s").model("m", model.entry()).top("defaultModel", "\"m/m\""));
  d.wait_ready({"s"});
  const published_schemas schemas;
  const auto lines = run_cli(d, {"--json", "ask", "what is 1 + 2"});
  REQUIRE(lines.status == 0);
  std::istringstream events(lines.out);
  for (std::string line; std::getline(events, line);) CHECK_MESSAGE(schemas.fault("ask", line).empty(), line);
  const auto session = text_at(parse(run_cli(d, {"--json", "sessions"}).out), "0.session");
  struct sample {
    std::string schema;
    std::vector<std::string> words;
  };
  const std::vector<sample> samples{
      {"tools", {"tools"}},
      {"tools", {"tools", "--search", "add"}},
      {"call", {"call", "s__add", "a=1", "b=2"}},
      {"servers", {"servers"}},
      {"servers-one", {"servers", "s"}},
      {"wait", {"wait"}},
      {"status", {"status"}},
      {"top", {"top", "--once"}},
      {"stats", {"stats"}},
      {"stats", {"stats", "--by", "tool"}},
      {"stats", {"stats", "--by", "day"}},
      {"logs", {"logs", "s"}},
      {"models", {"models"}},
      {"resources", {"resources"}},
      {"resources-templates", {"resources", "templates"}},
      {"prompts", {"prompts"}},
      {"pins", {"pins"}},
      {"auth", {"auth"}},
      {"why", {"why", "s__add"}},
      {"reload", {"reload"}},
      {"restart", {"restart", "s"}},
      {"sessions", {"sessions"}},
      {"sessions-show", {"sessions", "show", session}},
      {"sessions-find", {"sessions", "find", "1"}},
      {"export", {"export", session}},
      {"export-all", {"export", "--all"}},
      {"export-file", {"export", "--all", "-o", "all.jsonl"}},
      {"sessions-rm", {"sessions", "rm", session}},
      {"error", {"sessions", "show", "ses_none"}},
      {"error", {"logs", "none"}},
      {"stop", {"stop"}},
  };
  for (const auto& s : samples) {
    std::vector<std::string> words{"--json"};
    words.insert(words.end(), s.words.begin(), s.words.end());
    const auto got = run_cli(d, words);
    CAPTURE(s.schema);
    CAPTURE(got.out);
    CAPTURE(got.err);
    CHECK((got.status == 0) == (s.schema != "error"));
    CHECK(schemas.fault(s.schema, got.out) == "");
    CHECK(got.out.find('\n') == got.out.size() - 1);
  }
}

TEST_CASE("D4: each verb has a schema, but those that print no JSON of their own") {
  const world w;
  const published_schemas schemas;
  const std::set<std::string> without{"completion", "config", "edit", "help", "mcp", "bench", "answer"};
  const auto verbs = listed_verbs(w);
  REQUIRE(verbs.size() > 20);
  for (const auto& verb : verbs) {
    CAPTURE(verb);
    CHECK((without.contains(verb) || schemas.has(verb)));
  }
}
