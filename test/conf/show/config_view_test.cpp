// The configuration in force as people see it: each value with its origin, no secret.
#include "conf/show/config_view.hpp"

#include "conf/load.hpp"
#include "mcp/json/raw_json.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::conf;
using namespace mcpbx::conf::show;
using namespace mcpbx::json;

namespace {

struct viewed {
  raw_json whole;

  explicit viewed(const std::vector<source_text>& files, const environment& env = {},
                  const std::vector<view_override>& overrides = {})
      : whole(raw_json::parse(config_view(files, env, overrides)).value()) {}
  std::string value(std::initializer_list<std::string_view> path) const {
    raw_json at = find_member(whole, "config");
    for (const auto key : path) at = find_member(at, key);
    return std::string(at.text());
  }
  std::string origin(std::string_view path) const {
    return find_member(find_member(whole, "origins"), path).as_string().value_or("none");
  }
};

}  // namespace

TEST_CASE("config_view: each value has the file, line and column of the file that won") {
  const viewed v({{"a.json",
                   "{\n  \"mcpServers\": {\"git\": {\"command\": \"g\",\n    \"callTimeoutMs\": 5}},\n  "
                   "\"loop\": {\"maxRounds\": 3}\n}"},
                  {"b.json", "{\"mcpServers\": {\"git\": {\"disabled\": true}}, \"loop\": {\"maxRounds\": 4}}"}});
  CHECK(v.value({"mcpServers", "git", "command"}) == "\"g\"");
  CHECK(v.origin("mcpServers.git.command") == "a.json:2:37");
  CHECK(v.origin("mcpServers.git.callTimeoutMs") == "a.json:3:22");
  CHECK(v.value({"mcpServers", "git", "disabled"}) == "true");
  CHECK(v.origin("mcpServers.git.disabled") == "b.json:1:37");
  CHECK(v.value({"loop", "maxRounds"}) == "4");
  CHECK(v.origin("loop.maxRounds") == "b.json:1:67");
}

TEST_CASE("config_view: defaults are there and marked") {
  const viewed v({{"a.json", R"({"mcpServers": {"git": {"command": "g"}}})"}});
  CHECK(v.value({"loop", "maxRounds"}) == "10");
  CHECK(v.origin("loop.maxRounds") == "default");
  CHECK(v.value({"log", "level"}) == "\"info\"");
  CHECK(v.value({"mcpServers", "git", "callTimeoutMs"}) == "60000");
  CHECK(v.origin("mcpServers.git.callTimeoutMs") == "default");
  CHECK(v.value({"models", "demo", "api"}) == "\"rehearsal\"");
  CHECK(v.origin("models.demo.api") == "default");
  CHECK(v.value({"mcpServers", "git", "auth"}) == "");
}

TEST_CASE("config_view: without files the toolbox stands in, and models of the environment say so") {
  environment env;
  env.values["ANTHROPIC_API_KEY"] = "canary";
  const viewed v({}, env);
  CHECK(v.value({"mcpServers", "toolbox", "command"}) == "\"mcpbx-toolbox\"");
  CHECK(v.origin("mcpServers.toolbox.command") == "default");
  CHECK(v.value({"models", "claude", "apiKey"}) == "\"${env:ANTHROPIC_API_KEY}\"");
  CHECK(v.origin("models.claude.apiKey") == "environment");
  CHECK(v.value({"defaultModel"}) == "\"claude\"");
  CHECK(v.whole.text().find("canary") == std::string_view::npos);
}

TEST_CASE("config_view: the command line wins, secrets are masked and references stay") {
  const viewed v({{"a.json", R"({"log": {"level": "debug"}, "models": {"m": {"api": "openai-chat", "model": "x",
                                "apiKey": "canary"}, "n": {"api": "openai-chat", "model": "x", "apiKey": "${env:K}"}}})"}},
                 {}, {{{"log", "level"}, "\"trace\""}});
  CHECK(v.value({"log", "level"}) == "\"trace\"");
  CHECK(v.origin("log.level") == "command line");
  CHECK(v.value({"models", "m", "apiKey"}) == "\"***\"");
  CHECK(v.value({"models", "n", "apiKey"}) == "\"${env:K}\"");
}

TEST_CASE("config_view: a key of another host is shown as the key of ours that it means") {
  const viewed v(
      {{"a.json", "{\"mcpServers\": {\"git\": {\"command\": \"g\", \"enabled\": false, \"icon\": \"x\"}}}"}});
  CHECK(v.value({"mcpServers", "git", "disabled"}) == "true");
  CHECK(v.value({"mcpServers", "git", "icon"}) == "");
}

TEST_CASE("load: models of the environment stand in as long as no file has models of its own") {
  environment env;
  env.values["OPENAI_API_KEY"] = "k";
  const std::vector<source_text> servers{{"a.json", R"({"mcpServers": {}, "defaultModel": "gpt"})"}};
  const auto loaded = load(servers, env);
  CHECK(loaded.error_text() == "");
  CHECK(loaded.config.find_model("gpt"));
  CHECK(loaded.config.default_model == "gpt");
  const std::vector<source_text> own{{"a.json", R"({"models": {"m": {"api": "rehearsal"}}})"}};
  CHECK_FALSE(load(own, env).config.find_model("gpt"));
  CHECK_FALSE(load(own, env).config.default_model);
}
