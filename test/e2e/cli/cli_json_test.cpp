// The output of each verb with --json against its schema in docs/schemas/cli.json.
#include "providers/schema/validator/json_schema.hpp"
#include "test/e2e/harness/harness.hpp"

#include <doctest/doctest.h>

#include <sys/stat.h>

#include <filesystem>
#include <set>
#include <sstream>

using namespace mcpbx::e2e;
using mcpbx::json::raw_json;

namespace {

/// The published schemas, compiled one by one. An object may have no member that its schema does not name, unless the
/// schema says that others add members there.
class published_schemas {
 public:
  published_schemas() {
    const auto file = raw_json::parse(read_file(std::string(MCPBX_SOURCE_DIR) + "/docs/schemas/cli.json"));
    REQUIRE(file.has_value());
    parts_ = std::string(mcpbx::json::find_member(*file, "$defs").text());
    constexpr std::string_view open = R"("type": "object", "properties")";
    for (auto at = parts_.find(open); at != std::string::npos; at = parts_.find(open, at + 1))
      parts_.insert(at + std::string_view(R"("type": "object", )").size(), R"("additionalProperties": false, )");
  }
  /// Returns what is wrong with a text, or "".
  std::string fault(const std::string& name, std::string_view text) const {
    const auto schema = raw_json::parse(R"({"$ref":"#/$defs/)" + name + R"(","$defs":)" + parts_ + "}");
    REQUIRE(schema.has_value());
    const auto compiled = mcpbx::providers::schema::json_schema::compile(*schema);
    REQUIRE(compiled.has_value());
    REQUIRE_MESSAGE(compiled->notes().empty(), mcpbx::providers::schema::describe(compiled->notes(), name));
    const auto value = raw_json::parse(text);
    if (!value) return "no JSON: " + std::string(text);
    const auto verdict = compiled->check(*value);
    return mcpbx::providers::schema::describe(verdict.violations, name);
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
  d.env.push_back("MCPBX_CONFIG=" + d.file("config.json"));
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
      {"why", {"why", "add"}},
      {"bench", {"bench", "s__echo", "--calls", "3", "--args", R"({"text":"x"})", "--yes"}},
      {"ask-dry-run", {"ask", "--dry-run", "what is 1 + 2", "--resource", "file:///x"}},
      {"config-show", {"config", "show"}},
      {"config-show", {"config", "show", "--origin"}},
      {"config", {"config", "check"}},
      {"doctor", {"doctor"}},
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

TEST_CASE("D4: the JSON of each verb that writes files fits its published schema") {
  world w;
  w.env.push_back("MCPBX_CONFIG=");
  w.env.push_back("EDITOR=./editor");
  w.write("other.json", R"({"mcpServers": {"git": {"command": "git-mcp", "env": {"TOKEN": "canary-1"}},
      "web": {"url": "ftp://x"}, "off": {"command": "x", "disabled": true}}})");
  const auto editor = w.write("editor", "#!/bin/sh\nprintf '{\"idleExitMs\": 1000}' >\"$1\"\n");
  REQUIRE(::chmod(editor.c_str(), 0700) == 0);
  std::filesystem::create_directories(w.file(".cursor"));
  w.write(".cursor/mcp.json", R"({"mcpServers": {"a": {"command": "true"}}})");
  const published_schemas schemas;
  struct sample {
    std::string schema;
    std::vector<std::string> words;
    int status = 0;
  };
  const std::vector<sample> samples{
      {"config-path", {"config", "path"}},
      {"add", {"add", "a", "--dry-run", "--", "true"}},
      {"add", {"add", "a", "--yes", "--", "true"}},
      {"add", {"add", "a", "--yes", "--", "true"}},
      {"add", {"add", "b", "--yes", "--env", "API_TOKEN=canary-2", "--", "true"}},
      {"disable", {"disable", "a", "--yes"}},
      {"enable", {"enable", "a", "--yes"}},
      {"import", {"import", "--dry-run"}},
      {"import", {"import", "--yes", "--from", "cursor", "other.json"}, 1},
      {"install-list", {"install", "--list"}},
      {"install-paste", {"install", "cursor", "--paste"}},
      {"install-paste", {"install", "librechat"}},
      {"install", {"install", "cursor", "--dry-run"}},
      {"install", {"install", "cursor", "--yes"}},
      {"install", {"install", "cursor", "--yes"}},
      {"uninstall", {"uninstall", "cursor", "--dry-run"}},
      {"uninstall", {"uninstall", "cursor", "--yes"}},
      {"uninstall", {"uninstall", "cursor", "--yes"}},
      {"remove", {"remove", "a", "--yes"}},
      {"edit", {"edit"}},
      {"edit", {"edit"}},
      {"config-path", {"config", "path"}},
      {"config-show", {"config", "show", "--origin"}},
      {"config-check", {"config", "check"}},
      {"doctor", {"doctor"}, 1},
      {"service", {"service", "status"}, 1},
      {"completion", {"completion", "bash"}},
      {"error", {"install", "cursr"}, 5},
  };
  for (const auto& s : samples) {
    std::vector<std::string> words{"--json"};
    words.insert(words.end(), s.words.begin(), s.words.end());
    const auto got = run_cli(w, words);
    std::string command;
    for (const auto& word : words) command += word + " ";
    CAPTURE(command);
    CAPTURE(got.out);
    CAPTURE(got.err);
    CHECK(got.status == s.status);
    CHECK(schemas.fault(s.schema, got.out) == "");
    CHECK(got.out.find('\n') == got.out.size() - 1);
  }
}

TEST_CASE("D4: each verb has a schema, but those that print no JSON of their own") {
  const world w;
  const published_schemas schemas;
  const std::set<std::string> without{"help", "mcp"};
  const auto verbs = listed_verbs(w);
  REQUIRE(verbs.size() > 20);
  for (const auto& verb : verbs) {
    CAPTURE(verb);
    CHECK((without.contains(verb) || schemas.has(verb)));
  }
}
