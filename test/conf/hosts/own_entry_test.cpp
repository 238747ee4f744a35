// Our entry in the files of other programs: written with comments kept, written twice as once, and taken out again
// without a trace.
#include "conf/hosts/install/own_entry.hpp"

#include "conf/hosts/install/trees.hpp"

#include <doctest/doctest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>

using namespace mcpbx;
using namespace mcpbx::conf::install;
using namespace mcpbx::conf::programs;
using namespace mcpbx::conf::read;

namespace {

const own_command ours{"/opt/my \"box\"/mcpbx", {"mcp", "--profile", "small"}};

std::string text_in(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string fixture_of(const program& p) {
  const std::string end = p.format == foreign_format::toml   ? ".toml"
                          : p.format == foreign_format::yaml ? ".yaml"
                                                             : ".json";
  return text_in(std::string(MCPBX_SOURCE_DIR) + "/test/conf/hosts/programs/" + std::string(p.name) + end);
}

edited_file with(std::string_view name, std::string_view text, const std::vector<std::string>& off = {}) {
  auto made = with_own_entry(*find_program(name), text, ours, off, "F");
  REQUIRE_MESSAGE(made, name << ": " << (made ? "" : made.error().message));
  return std::move(*made);
}

std::string without(std::string_view name, std::string_view text, std::string_view before,
                    const std::vector<std::string>& off = {}) {
  auto made = without_own_entry(*find_program(name), text, before, off, "F");
  return made ? std::move(*made) : "ERROR " + made.error().message;
}

std::string fault(std::string_view name, std::string_view text) {
  const auto made = with_own_entry(*find_program(name), text, ours, {}, "F");
  return made ? "" : made.error().message;
}

std::vector<std::string> names_in(const program& p, const std::string& text) {
  const auto tree = parsed_file(p.format, text, "F");
  REQUIRE(tree);
  std::vector<std::string> names;
  const auto* section = tree->find(p.section);
  if (section != nullptr)
    for (const auto& m : section->value.members)
      if (m.key != own_name) names.push_back(m.key);
  return names;
}

}  // namespace

TEST_CASE("own entry: in each program's file it is written, written twice as once, and taken out without a trace") {
  for (const auto& p : all_programs()) {
    if (!can_install(p) || !p.own_file.empty()) continue;
    CAPTURE(p.name);
    auto text = fixture_of(p);
    if (const auto clean = without_own_entry(p, text, text, {}, "F")) text = *clean;
    const auto names = names_in(p, text);
    const auto made = with(p.name, text, names);
    CHECK(has_own_entry(p, made.text, "F").value());
    CHECK_FALSE(has_own_entry(p, text, "F").value());
    CHECK(made.left_on.empty());
    const auto again = with(p.name, made.text, made.switched_off);
    CHECK(again.text == made.text);
    CHECK(again.switched_off.empty());
    const auto back = without(p.name, made.text, text, made.switched_off);
    const auto now = parsed_file(p.format, back, "F"), then = parsed_file(p.format, text, "F");
    REQUIRE_MESSAGE(now, back);
    CHECK_MESSAGE(same_tree(*now, *then), made.text << "\n----\n" << back);
    if (p.off != off_switch::none && p.off != off_switch::excluded) CHECK(back == text);
    // The entry alone goes as it came.
    CHECK(without(p.name, with(p.name, text).text, text) == text);
    CHECK(without(p.name, with(p.name, "").text, "").find("mcpbx") == std::string::npos);
    CHECK_FALSE(pasted_entry(p, ours).empty());
  }
}

TEST_CASE("own entry: comments, order and what the person wrote meanwhile stay") {
  const std::string before =
      "// mine\n{\n  \"mcpServers\": {\n    // git\n    \"git\": {\"command\": \"g\"}, // why\n    \"web\": {\"url\": "
      "\"https://a.example\"}\n  }\n}\n";
  const auto made = with("cline", before, {"git"});
  CHECK(made.text ==
        "// mine\n{\n  \"mcpServers\": {\n    // git\n    \"git\": {\"command\": \"g\", \"disabled\": true}, // why\n  "
        "  \"web\": {\"url\": \"https://a.example\"},\n"
        "    \"mcpbx\": {\n      \"command\": \"/opt/my \\\"box\\\"/mcpbx\",\n      \"args\": [\"mcp\", \"--profile\", "
        "\"small\"],\n      \"timeout\": 600\n    }\n  }\n}\n");
  auto changed = made.text;
  changed.replace(changed.find("https://a.example"), 17, "https://b.example");
  auto wanted = before;
  wanted.replace(wanted.find("https://a.example"), 17, "https://b.example");
  CHECK(without("cline", changed, before, made.switched_off) == wanted);
}

TEST_CASE("own entry: a server without a switch is taken out, and comes back unless the person wrote another one") {
  const std::string before = R"({"mcpServers": {"git": {"command": "g"}}})";
  const auto made = with("cursor", before, {"git", "gone"});
  CHECK(made.switched_off == std::vector<std::string>{"git"});
  CHECK(made.text.find("\"git\"") == std::string::npos);
  CHECK(without("cursor", made.text, before, made.switched_off) == before);
  const std::string other = R"({"mcpServers": {"git": {"command": "new"}, "mcpbx": {}}})";
  CHECK(without("cursor", other, before, {"git"}) == R"({"mcpServers": {"git": {"command": "new"}}})");
}

TEST_CASE("own entry: Gemini's lists of servers get the names that they need, and lose them again") {
  const std::string before = R"({"mcp": {"allowed": ["git"]}, "mcpServers": {"git": {"command": "g"}}})";
  const auto made = with("gemini-cli", before, {"git"});
  CHECK(made.text.find(R"("allowed": ["git", "mcpbx"], "excluded": ["git"])") != std::string::npos);
  CHECK(without("gemini-cli", made.text, before, made.switched_off) == before);
}

TEST_CASE("own entry: a TOML file gets a table at its end and a switch below the head of another one") {
  const std::string before =
      "# mine\n[mcp_servers.git] # why\ncommand = \"g\"\n\n[mcp_servers.git.env]\nA = \"1\"\n\n[other]\nx = 1";
  const auto made = with("codex", before, {"git"});
  CHECK(made.text ==
        "# mine\n[mcp_servers.git] # why\nenabled = false\ncommand = \"g\"\n\n[mcp_servers.git.env]\nA = "
        "\"1\"\n\n[other]\nx = 1\n\n"
        "[mcp_servers.mcpbx]\ncommand = \"/opt/my \\\"box\\\"/mcpbx\"\nargs = "
        "[\"mcp\",\"--profile\",\"small\"]\ntool_timeout_sec = 600\n");
  CHECK(without("codex", made.text + "\n# later\n[more]\ny = 2\n", before, {"git"}) ==
        before + "\n\n# later\n[more]\ny = 2\n");
}

TEST_CASE(
    "own entry: a file that is written in another way is refused, and a server that cannot be switched stays on") {
  CHECK(fault("codex", "mcp_servers = {git = {command = \"g\"}}\n").find("cannot edit without changing more") !=
        std::string::npos);
  CHECK(fault("goose", "extensions: {git: {cmd: g}}\n").find("written in braces") != std::string::npos);
  CHECK(fault("cursor", "{").find("F:1:2: the file ends inside the object") == 0);
  CHECK(fault("cursor", "[1]").find("F holds a list, not an object") == 0);
  CHECK(fault("codex", "[x\n").find("this is not TOML") != std::string::npos);
  CHECK(fault("goose", "a: [\n").find("this is not YAML") != std::string::npos);
  CHECK(with("goose", "extensions:\n  git: {cmd: g}\n", {"git"}).left_on == std::vector<std::string>{"git"});
  CHECK(with("codex", "[mcp_servers]\ngit = {command = \"g\"}\n", {"git"}).left_on == std::vector<std::string>{"git"});
}

TEST_CASE("own entry: a YAML file keeps its indentation, and an empty mapping becomes a block") {
  CHECK(
      with("goose", "a: 1\nextensions: {}\nb: 2\n").text.find("a: 1\nextensions: \n  mcpbx:\n    type: \"stdio\"\n") ==
      0);
  CHECK(with("goose", "extensions:\n").text.find("extensions:\n  mcpbx:\n") == 0);
  const std::string before =
      "extensions:\n    git:\n        cmd: g # c\n\n    web:\n        uri: u\n        enabled: true\nz: 1\n";
  const auto made = with("goose", before, {"git", "web"});
  CHECK(made.switched_off == std::vector<std::string>{"git", "web"});
  CHECK(made.text.find("    git:\n        enabled: false\n        cmd: g # c\n") != std::string::npos);
  CHECK(without("goose", made.text, before, made.switched_off) == before);
}
