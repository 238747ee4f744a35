// The keys of other hosts act or are refused; none is passed over that would have kept a tool from being called.
#include "conf/hosts/host_keys.hpp"

#include "conf/load.hpp"
#include "mcp/support/text.hpp"
#include "test/support/host_spellings.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>

using namespace mcpbx::conf;
using namespace mcpbx::conf::documents;
using namespace mcpbx::conf::hosts;
using namespace mcpbx::conf::model;

namespace {

loaded load_entry(std::string_view members) {
  const std::array files{source_text{"f", R"({"mcpServers": {"x": {"command": "c", )" + std::string(members) + "}}}"}};
  return load(files, {});
}

bool any_match(const std::vector<std::string>& globs, std::string_view name) {
  return std::ranges::any_of(globs, [&](const auto& g) { return mcpbx::glob_match(g, name); });
}

bool is_offered(const server_entry& s, std::string_view tool) {
  const auto& t = s.tools;
  return !s.disabled && (t.allow.empty() || any_match(t.allow, tool)) && !any_match(t.deny, tool);
}

const server_entry& entry(const loaded& l) {
  REQUIRE_MESSAGE(l.ok(), l.error_text());
  return l.config.servers.at(0);
}

std::string notices(std::string_view members) {
  return listing(load_entry(members).config.notices);
}

}  // namespace

TEST_CASE("D5: every way to keep a tool away acts or is an error that names the word that was meant") {
  for (const auto& s : mcpbx::test::host_spellings) {
    CAPTURE(s.members);
    const auto made = load_entry(s.members);
    CHECK(made.ok() == s.acts);
    if (made.ok())
      CHECK_FALSE(is_offered(made.config.servers.at(0), "counter"));
    else
      CHECK_MESSAGE(made.error_text().find(s.says) != std::string::npos, made.error_text());
  }
}

TEST_CASE("hosts: what is not kept away stays offered") {
  for (const std::string_view members :
       {R"("enabled": true)", R"("isActive": true)", R"("active": true)", R"("quarantined": false)",
        R"("disabledTools": ["counter"])", R"("excludeTools": [])", R"("includeTools": ["echo"])",
        R"("tools": ["echo"])", R"("tools": ["*"])", R"("tools": {"counter": false, "echo": true})",
        R"("tools": {"echo": {"enabled": true}})", R"("sandboxEnabled": false)", R"("disabled_prompts": [])",
        R"("expose_prompts": true)", R"("tools": {"allow": ["e*"]}, "includeTools": ["echo", "x"])"}) {
    CAPTURE(members);
    const auto made = load_entry(members);
    CHECK(is_offered(entry(made), "echo"));
  }
}

TEST_CASE("hosts: keys that act say so and the stricter of two that disagree holds") {
  CHECK(notices(R"("excludeTools": ["a"])") ==
        "f:1:39: is taken for \"tools.deny\", in \"mcpServers.x.excludeTools\": nothing needs to be done\n");
  CHECK(notices(R"("disabled": false, "enabled": false)").find("the stricter one holds") != std::string::npos);
  CHECK(notices(R"("tools": {"allow": ["a"]}, "tools_": 1, "includeTools": ["a"])").find("what both offer") !=
        std::string::npos);
  CHECK(entry(load_entry(R"("tools": {"deny": ["a"]}, "excludeTools": ["b"], "disabled_tools": ["c"])")).tools.deny ==
        std::vector<std::string>{"a", "b", "c"});
  CHECK(entry(load_entry(R"("tools": {"a": {"name": "b"}})")).tools.rename == string_map{{"a", "b"}});
}

TEST_CASE("hosts: keys that would loosen approvals loosen none and those that ask are kept") {
  for (const std::string_view members : {R"("trust": true)", R"("autoApprove": ["a"])", R"("alwaysAllow": ["*"])",
                                         R"("approvalPolicy": "never")", R"("autoApprove": true)"}) {
    CAPTURE(members);
    const auto made = load_entry(std::string(members) + R"(, "approve": ["a"])");
    CHECK(entry(made).approve == std::vector<std::string>{"a"});
    CHECK(listing(made.config.notices).find("loosens nothing here") != std::string::npos);
  }
  using names = std::vector<std::string>;
  CHECK(entry(load_entry(R"("trust": false)")).approve == names{"*"});
  CHECK(entry(load_entry(R"("approvalPolicy": "always")")).approve == names{"*"});
  CHECK(entry(load_entry(R"("default_tools_approval_mode": "prompt", "approve": ["a"])")).approve == names{"a", "*"});
  CHECK(entry(load_entry(R"("disabledAutoApproveTools": ["a", "b"])")).approve == names{"a", "b"});
  CHECK(entry(load_entry(R"("tools": {"a": {"approval_mode": "prompt"}})")).approve == names{"a"});
  CHECK_FALSE(load_entry(R"("approval_mode": "sometimes")").ok());
  CHECK_FALSE(load_entry(R"("trust": "no")").ok());
}

TEST_CASE("hosts: decoration is passed over and what is harmless and unknown is a notice") {
  CHECK(notices(R"("type": "stdio", "icon": {}, "autoApprove": [], "Display_Name": 1, "disableToolCache": true)") ==
        "f:1:87: unknown key; it has no effect, in \"mcpServers.x.Display_Name\": leave it if another host needs it\n");
  CHECK(notices(R"("timeout": 60)").find("callTimeoutMs") != std::string::npos);
  CHECK(load_entry(R"("whatever": {"deny": 1}, "port": 5, "_comment": "x")").ok());
}

TEST_CASE("D5: a later file cannot take back what another host's key forbids") {
  const std::array files{
      source_text{"a", R"({"mcpServers": {"x": {"command": "c", "enabled": false, "excludeTools": ["a"]}}})"},
      source_text{"b", R"({"mcpServers": {"x": {"disabled": false, "tools": {"deny": ["b"]}}}})"}};
  const auto made = load(files, {});
  CHECK(entry(made).disabled);
  CHECK(entry(made).tools.deny == std::vector<std::string>{"b", "a"});
}

TEST_CASE("hosts: lists and switches at the top are refused with where to say it") {
  for (const std::string_view key : {"disabledMcpServers", "disabledMcpjsonServers", "allowedMcpServers", "permissions",
                                     "amp.tools.disable", "mcpServersDisabled"}) {
    CAPTURE(key);
    const std::array files{
        source_text{"f", R"({"mcpServers": {"x": {"command": "c"}}, ")" + std::string(key) + R"(": ["x"]})"}};
    CHECK(load(files, {}).error_text().find("in the entries of mcpServers") != std::string::npos);
  }
}

TEST_CASE("hosts: an empty allow list of a profile is an error too") {
  const std::array files{source_text{"f", R"({"profiles": {"p": {"tools": {"allow": []}}}})"}};
  CHECK(load(files, {}).error_text() ==
        "f:1:40: an empty list offers no tool in some programs and all of them in others, in "
        "\"profiles.p.tools.allow\": take the key out to offer all tools, or write \"deny\": [\"*\"] to offer none\n");
}

TEST_CASE("hosts: patterns have a bound in number and in length") {
  const auto list = [](std::size_t count, std::size_t length) {
    std::string out = "\"approve\": [";
    for (std::size_t i = 0; i < count; ++i) out += (i == 0 ? "\"" : ",\"") + std::string(length, 'a') + "\"";
    return out + "]";
  };
  CHECK(load_entry(list(1000, 256)).ok());
  CHECK(load_entry(list(1001, 1)).error_text().find("has 1001 patterns, more than 1000") != std::string::npos);
  CHECK(load_entry(list(1, 257)).error_text().find("1 to 256 characters") != std::string::npos);
  std::string names = "\"excludeTools\": [\"x\"";
  for (int i = 0; i < 1000; ++i) names += ",\"y\"";
  CHECK_FALSE(load_entry(names + "]").ok());
}

TEST_CASE("hosts: a list that allows a tool with certain arguments only is an error, one that denies it so denies it") {
  CHECK_FALSE(load_entry(R"-("allowedTools": ["echo(only this)", "add"])-").ok());
  CHECK(load_entry(R"-("disabledTools": ["echo(only this)"])-").ok());
}

TEST_CASE("hosts: tools may be named as other hosts show them, with their server's name in front") {
  const auto denied = load_entry(R"("disabledTools": ["x__echo", "mcp__x__add", "y__log"])");
  CHECK_FALSE(is_offered(entry(denied), "echo"));
  CHECK_FALSE(is_offered(entry(denied), "add"));
  CHECK_FALSE(is_offered(entry(denied), "x__echo"));
  CHECK(is_offered(entry(denied), "log"));
  const auto allowed = load_entry(R"("enabled_tools": ["mcp__x__add"])");
  CHECK(is_offered(entry(allowed), "add"));
  CHECK_FALSE(is_offered(entry(allowed), "echo"));
}

TEST_CASE("hosts: the words meant are found whatever their case and separators") {
  const std::array<std::string_view, 3> known{"maxRetries", "tools", "startTimeoutMs"};
  CHECK(meant_key("MAX-RETRIES", known) == "maxRetries");
  CHECK(meant_key("start_timeout_ms", known) == "startTimeoutMs");
  CHECK(meant_key("t o o l", known) == "tools");
  CHECK(meant_key("", known) == "");
  CHECK(meant_key("__", known) == "");
  CHECK(meant_key(std::string(100'000, 'a'), known) == "");
  for (const std::string_view key :
       {"Read-Only", "hideTools", "omitTools", "removeTools", "selectedTools", "requireConsent", "alwaysAsk", "paused",
        "suspended", "skipTools", "toolPolicy", "bannedTools", "onlyTools"})
    CHECK_MESSAGE(sounds_restricting(key), key);
  CHECK_FALSE(sounds_restricting("port"));
}
