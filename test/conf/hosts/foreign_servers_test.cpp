// One file for each program with every key that it knows: what is imported, and what the same entries are when they are
// pasted, as recorded texts. MCPBX_UPDATE=1 records them anew.
#include "conf/hosts/import/foreign_servers.hpp"

#include "conf/hosts/import/same_servers.hpp"
#include "conf/load.hpp"
#include "mcp/json/json_writer.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

using namespace mcpbx;
using namespace mcpbx::conf;
using namespace mcpbx::conf::documents;
using namespace mcpbx::conf::imports;
using namespace mcpbx::conf::model;
using namespace mcpbx::conf::programs;
using namespace mcpbx::conf::read;
using namespace mcpbx::json;

namespace {

const std::filesystem::path fixtures = std::string(MCPBX_SOURCE_DIR) + "/test/conf/hosts/programs";

std::string fixture_text(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string_view ending(foreign_format format) {
  return format == foreign_format::toml ? ".toml" : format == foreign_format::yaml ? ".yaml" : ".json";
}

std::string told(const foreign_server& s) {
  std::string out = "== " + s.name;
  if (s.fate == server_fate::skipped) return out + ": left out, " + s.why + "\n";
  out += s.fate == server_fate::refused ? ": refused\n" : "\n" + json_of(s.entry) + "\n";
  out += listing(s.errors, "error") + listing(s.notices, "note");
  for (const auto& [name, words] : s.to_set) out += "set " + name + ": " + words + "\n";
  return out;
}

std::string imported(const program& p, const std::string& text, const std::string& beside,
                     const std::string& folder = "") {
  const std::array files{foreign_file{"/home/me/FILE", text, folder, false}};
  std::vector<foreign_file> narrowing;
  if (!beside.empty())
    narrowing.push_back({p.format == foreign_format::yaml ? "BESIDE.yaml" : "BESIDE", beside, "", false});
  const auto made = read_servers(p, files, narrowing, own_places{{"127.0.0.1:8080"}});
  std::string out = listing(made.errors, "error");
  for (const auto& s : made.servers) out += told(s);
  return out;
}

std::string import_text(std::string_view name, const std::string& text, const std::string& beside = "",
                        const std::string& folder = "") {
  const auto* p = find_program(name);
  REQUIRE(p);
  return imported(*p, text, beside, folder);
}

/// The entries of a JSON file as they are when a person pastes them.
std::string pasted(const program& p, const std::string& text) {
  std::vector<diagnostic> errors;
  const auto tree = read_foreign(p.format, text, 0, "FILE", errors);
  const auto* section = tree.find(p.section);
  if (section == nullptr) return "";
  std::string out;
  const auto one = [&](const std::string& name, const node& entry) {
    const std::array files{
        source_text{"PASTE", "{\"mcpServers\": {" + json_quoted(name) + ": " + json_of(entry) + "}}"}};
    const auto made = load(files, {});
    out += "== " + name + (made.ok() ? "\n" : ": refused\n") + made.error_text();
    if (made.ok()) out += listing(made.config.notices, "note");
  };
  for (const auto& m : section->value.members) one(m.key, m.value);
  for (const auto& i : section->value.items) one("x", i);
  return out;
}

void compare(const std::filesystem::path& record, const std::string& now) {
  if (std::getenv("MCPBX_UPDATE") != nullptr) std::ofstream(record, std::ios::binary) << now;
  CHECK_MESSAGE(fixture_text(record) == now,
                record.string() << " differs; record it anew with MCPBX_UPDATE=1 and look at the difference:\n"
                                << now);
}

}  // namespace

TEST_CASE("programs: each has a file with all of its keys, which is imported and pasted as recorded") {
  for (const auto& p : all_programs()) {
    CAPTURE(p.name);
    const std::string name(p.name);
    const auto text = fixture_text(fixtures / (name + std::string(ending(p.format))));
    REQUIRE_MESSAGE(!text.empty(), "test/conf/hosts/programs has no file for " << name);
    const auto beside = fixture_text(fixtures / (name + ".beside"));
    compare(fixtures / (name + ".imported.txt"), imported(p, text, beside));
    compare(fixtures / (name + ".pasted.txt"), pasted(p, text));
  }
}

TEST_CASE(
    "programs: an empty list of allowed tools offers none where the program offers none, and all where it offers all") {
  const auto none = R"("tools":{"deny":["*"]})";
  CHECK(import_text("gemini-cli", R"({"mcpServers": {"x": {"command": "c", "includeTools": []}}})").find(none) !=
        std::string::npos);
  CHECK(import_text("codex", "[mcp_servers.x]\ncommand = \"c\"\nenabled_tools = []\n").find(none) != std::string::npos);
  CHECK(import_text("copilot-cli", R"({"mcpServers": {"x": {"command": "c", "tools": []}}})").find(none) !=
        std::string::npos);
  CHECK(import_text("crush", R"({"mcp": {"x": {"type": "stdio", "command": "c", "enabled_tools": []}}})") ==
        "== x\n{\"command\":\"c\"}\n");
  CHECK(import_text("goose", "extensions: {x: {type: stdio, cmd: c, available_tools: []}}") ==
        "== x\n{\"command\":\"c\"}\n");
}

TEST_CASE("programs: a timeout of 600 is ten minutes in one program and less than a second in another") {
  const std::string entry = R"({"mcpServers": {"x": {"command": "c", "timeout": 600}}})";
  CHECK(import_text("cline", entry) == "== x\n{\"command\":\"c\",\"callTimeoutMs\":600000}\n");
  CHECK(import_text("gemini-cli", entry) == "== x\n{\"command\":\"c\",\"callTimeoutMs\":600}\n");
  CHECK(import_text("claude-code", entry).find("is below a second") != std::string::npos);
  CHECK(import_text("junie", entry).find("its unit is not known") != std::string::npos);
}

TEST_CASE("programs: a switch that contradicts another one leaves the server off") {
  const std::string entry = R"({"mcpServers": {"x": {"command": "c", "enabled": true, "disabled": true}}})";
  CHECK(import_text("cline", entry).find(R"("disabled":true)") != std::string::npos);
  CHECK(import_text("1mcp", R"({"mcpServers": {"x": {"command": "c", "disabled": "{{off}}"}}})").find("x: refused") !=
        std::string::npos);
}

TEST_CASE("programs: a variable is one only where the program replaces it") {
  const auto header = [](std::string_view value) {
    return R"({"mcpServers": {"x": {"url": "https://a.example", "headers": {"A": ")" + std::string(value) + "\"}}}}";
  };
  CHECK(import_text("gemini-cli", header("$N")).find(R"("A":"${N}")") != std::string::npos);
  CHECK(import_text("cursor", header("$N")).find(R"("A":"$N")") != std::string::npos);
  CHECK(import_text("claude-desktop", header("${N}")).find(R"("A":"$${N}")") != std::string::npos);
  CHECK(import_text("gemini-cli", header("$${N}")).find("a $ stands in front of a variable") != std::string::npos);
  CHECK(import_text("cursor", header("${workspaceFolder}")).find("the folder that is open in the editor") !=
        std::string::npos);
  CHECK(import_text("cursor", header("${workspaceFolder}"), "", "/home/me/p").find(R"("A":"/home/me/p")") !=
        std::string::npos);
}

TEST_CASE("programs: paths of a project's file are made absolute, and those of a user's file are pointed out") {
  const std::string entry =
      R"({"mcpServers": {"x": {"command": "./bin/s", "args": [".", "./a", "../b", "c"], "cwd": "sub", "envFile": ".env"}}})";
  const auto made = import_text("cursor", entry, "", "/home/me/p");
  CHECK(
      made.find(
          R"({"command":"/home/me/p/bin/s","args":["/home/me/p","/home/me/p/a","/home/me/p/../b","c"],"envFile":"/home/me/p/.env","cwd":"/home/me/p/sub"})") !=
      std::string::npos);
  CHECK(import_text("cursor", entry).find("a folder without an absolute path") != std::string::npos);
}

TEST_CASE("programs: a broken file gives its place and no server") {
  CHECK(import_text("cursor", "{\"mcpServers\": {\n  \"x\": {\"command\": \"c\"}\n")
            .find("/home/me/FILE:3:1: error: the file ends inside the object") == 0);
  CHECK(import_text("cursor", "{'mcpServers': {}}").find("a key needs double quotes") != std::string::npos);
  CHECK(import_text("cursor", "{\"mcpServers\": {\"x\": {}, \"x\": {}}}").find("this key stands twice") !=
        std::string::npos);
  CHECK(import_text("cursor", "{\"mcpServers\": [1]}").find("must be an object of servers, not a list") !=
        std::string::npos);
  CHECK(import_text("cursor", "[]").find("must be an object, not a list") != std::string::npos);
  CHECK(import_text("codex", "[mcp_servers.x\n").find("/home/me/FILE:1:15: error: this is not TOML") == 0);
  CHECK(import_text("codex", "a = 1\na = 2\n").find("this is not TOML") != std::string::npos);
  CHECK(import_text("goose", "extensions:\n  x: {cmd: c\n").find("this is not YAML") != std::string::npos);
  CHECK(import_text("goose", "extensions: &a {x: {cmd: c}}\n").find("an anchor") != std::string::npos);
  CHECK(import_text("goose", "extensions: {x: *a}\n").find("an alias") != std::string::npos);
  CHECK(import_text("goose", "a: 1\na: 2\n").find("/home/me/FILE:2:1: error: this key stands twice") == 0);
  CHECK(import_text("goose", "a: 1\n---\nb: 2\n").find("a second document") != std::string::npos);
  CHECK(import_text("goose", "a: !x 1\n").find("a tag") != std::string::npos);
  CHECK(import_text("goose", "a: \"\\0\"\n").find("NUL") != std::string::npos);
  CHECK(import_text("goose", std::string(200, '[')).find("nested deeper") != std::string::npos);
  CHECK(import_text("codex", "a = " + std::string(200, '[')).find("this is not TOML") != std::string::npos);
  std::string deep = "a";
  for (int i = 0; i < 100'000; ++i) deep += ".a";
  CHECK(import_text("codex", deep + " = 1\n").find("more than 64 parts") != std::string::npos);
  CHECK(import_text("codex", "x = {" + deep + " = 1}\n").find("more than 64 parts") != std::string::npos);
  CHECK(import_text("cursor", std::string(max_foreign_bytes + 1, ' ')).find("more than 32 MiB") != std::string::npos);
  std::string many = "[";
  for (int i = 0; i < 2'000'002; ++i) many += "1,";
  CHECK(import_text("cursor", many + "1]").find("more than 2,000,000 values") != std::string::npos);
  // Nested lists need few commas.
  std::string nested = R"({"mcpServers":{},"x":[)";
  const std::string one = std::string(50, '[') + std::string(50, ']') + ",";
  for (int i = 0; i < 40'001; ++i) nested += one;
  CHECK(import_text("cursor", nested + "1]}").find("more than 2,000,000 values") != std::string::npos);
  // Claude Code keeps its history beside its servers.
  const std::string history = R"({"history": [")" + std::string(8u << 20, 'x') + R"("], "mcpServers": )";
  CHECK(import_text("claude-code", history + R"({"a": {"command": "b"}}})") == "== a\n{\"command\":\"b\"}\n");
  CHECK(import_text("goose", "") == "");
  CHECK(import_text("codex", "") == "");
}

TEST_CASE("programs: servers are refused while the file that narrows them cannot be read") {
  const auto made = import_text("claude-code", R"({"mcpServers": {"x": {"command": "c"}}})", "{\"permissions\": ");
  CHECK(made.find("== x: refused") != std::string::npos);
  CHECK(made.find("BESIDE:1:17") != std::string::npos);
}

TEST_CASE(
    "programs: servers are refused while another file of a program that keeps rules in its files cannot be read") {
  const foreign_file good{"/home/me/a.json", R"({"mcpServers": {"x": {"command": "c"}}})", "", false};
  const auto fate = [&](std::string_view name, const foreign_file& other) {
    const auto made = read_servers(*find_program(name), std::array{good, other}, {}, {});
    REQUIRE(made.servers.size() == 1);
    return std::pair(made.servers.front().fate, made.errors.size());
  };
  const foreign_file broken{"/home/me/b.json", R"({"tools": {"exclude": ["delete")", "", false};
  CHECK(fate("gemini-cli", broken) == std::pair(server_fate::refused, std::size_t{1}));
  CHECK(fate("cline", broken) == std::pair(server_fate::taken, std::size_t{1}));
  const foreign_file rules{"/home/me/b.json", "{", "", true};
  CHECK(fate("cline", rules) == std::pair(server_fate::refused, std::size_t{0}));
}

TEST_CASE("programs: a file that is read for its rules gives no server, and narrows those of the others") {
  const std::array files{
      foreign_file{"/p/.mcp.json", R"({"mcpServers": {"a": {"command": "a"}, "b": {"command": "b"}}})", "/p", false},
      foreign_file{"/home/me/.claude.json",
                   R"({"mcpServers": {"c": {"command": "c"}},
                                         "projects": {"/p": {"disabledMcpjsonServers": ["b"]}}})",
                   "", true}};
  const auto made = read_servers(*find_program("claude-code"), files, {}, {});
  REQUIRE(made.servers.size() == 2);
  CHECK(made.servers[0].entry.find("disabled") == nullptr);
  CHECK(made.servers[1].entry.find("disabled") != nullptr);
}

TEST_CASE(
    "programs: what settings beside the servers forbid is forbidden under every name that the program has for it") {
  const auto two = [](std::string_view name, const std::string& section, const std::string& rules,
                      const std::string& beside = "") {
    return import_text(
        name,
        "{" + rules + "\"" + section +
            R"(": {"my.git": {"type": "local", "command": ["g"]}, "web": {"type": "local", "command": ["w"]}}})",
        beside);
  };
  const auto claude = [](const std::string& settings) {
    return import_text("claude-code", R"({"mcpServers": {"git": {"command": "g"}, "web": {"command": "w"}}})",
                       settings);
  };
  const std::string off = R"(== git
{"command":"g","disabled":true}
== web
{"command":"w"}
)";
  CHECK(claude(R"({"disabledMcpjsonServers": ["git"]})") == off);
  CHECK(claude(R"({"deniedMcpServers": [{"serverName": "git"}]})") == off);
  CHECK(claude(R"({"allowedMcpServers": [{"serverName": "web"}]})") == off);
  CHECK(claude(R"({"deniedMcpServers": [{"serverUrl": "https://*"}]})").contains("== web: refused"));

  CHECK(two("opencode", "mcp", R"("permission": {"my_git_delete": "deny"}, )").contains(R"("deny":["delete"])"));
  CHECK(two("opencode", "mcp", R"("permission": "ask", )").contains(R"("approve":["*"])"));

  const auto cursor = [](const std::string& rule) {
    return import_text("cursor", R"({"mcpServers": {"git": {"command": "g"}, "web": {"command": "w"}}})",
                       R"x({"permissions": {"allow": ["Mcp(git:*)"], "deny": ["Shell(rm)", ")x" + rule + R"x("]}})x");
  };
  const std::string no_delete = R"(== git
{"command":"g","tools":{"deny":["delete"]}}
== web
{"command":"w"}
)";
  CHECK(cursor("Mcp(git:delete)") == no_delete);
  CHECK(cursor("Mcp(git, delete)") == no_delete);
  CHECK(cursor("Mcp(gi*:delete)") == no_delete);
  CHECK(cursor("Mcp(git:*)") == off);
  CHECK(cursor("Mcp(git)") == off);
  CHECK(cursor("Mcp(*:delete_*)").contains(R"({"command":"w","tools":{"deny":["delete_*"]}})"));
  CHECK(cursor("Read(git:delete)").contains(R"({"command":"g"})"));
  CHECK(import_text("cursor", R"({"mcpServers": {"git": {"command": "g"}}})", "{").contains("== git: refused"));

  const auto vscode = [](const std::string& settings) {
    return import_text("vscode", R"({"servers": {"git": {"command": "g"}, "web": {"command": "w"}}})", settings);
  };
  CHECK(vscode(R"({"chat.mcp.access": "all", "editor.fontSize": 12, /* mine */})").contains(R"({"command":"g"})"));
  CHECK(vscode(R"({"chat.mcp.access": "none"})").contains(R"({"command":"g","disabled":true})"));
  CHECK(vscode(R"({"chat.mcp.enabled": false})").contains(R"({"command":"w","disabled":true})"));
  CHECK(vscode(R"({"chat.mcp.access": "registry"})").contains("== web: refused"));
  const auto asks = [&](const std::string& tool) {
    return vscode(R"({"chat.tools.eligibleForAutoApproval": {"other": true, ")" + tool + R"(": false}})");
  };
  CHECK(asks("git/push").contains(R"({"command":"g","approve":["push"]})"));
  CHECK(asks("mcp_git_push").contains(R"({"command":"g","approve":["push"]})"));
  CHECK(asks("git").contains(R"({"command":"g","approve":["*"]})"));
  CHECK(asks("push").contains(R"({"command":"w","approve":["push"]})"));

  const auto gemini = [](const std::string& tool) {
    return import_text("gemini-cli",
                       R"({"tools": {"exclude": [")" + tool + R"("]}, "mcpServers": {"git": {"command": "g"}}})");
  };
  CHECK(gemini("git__delete").contains(R"("delete")"));
  CHECK(gemini("mcp_git_delete").contains(R"("delete")"));
  CHECK(gemini("mcp_git_*").contains(R"("disabled":true)"));

  const auto zed = [](const std::string& rules) {
    return import_text("zed", R"({"agent": {"tool_permissions": )" + rules +
                                  R"(}, "context_servers": {"git": {"command": "g", "args": []}}})");
  };
  CHECK(zed(R"({"tools": {"mcp:git:delete": {"default": "deny"}}})").contains(R"("deny":["delete"])"));
  CHECK(zed(R"({"tools": {"mcp:git:push": {"default": "confirm"}}})").contains(R"("approve":["push"])"));
  CHECK(zed(R"({"tools": {"mcp:git:push": {"always_deny": [{"pattern": "x"}]}}})").contains(R"("deny":["push"])"));
  CHECK(zed(R"({"default": "deny"})").contains(R"("deny":["*"])"));
  CHECK_FALSE(zed(R"({"default": "confirm"})").contains("approve"));
}

TEST_CASE("programs: YAML scalars are read by the core schema, and TOML ones by their types") {
  std::vector<diagnostic> errors;
  CHECK(
      json_of(read_foreign(
          foreign_format::yaml,
          "a: yes\nb: true\nc: 0x1\nd: 12\ne: 1.5\nf: ~\ng: '1'\nh: !!str 2\ni: 1e3\nj: -.inf\nk: |\n  two\n  lines\n",
          0, "f", errors)) ==
      R"({"a":"yes","b":true,"c":"0x1","d":12,"e":1.5,"f":null,"g":"1","h":"2","i":1000,"j":"-.inf","k":"two\nlines\n"})");
  CHECK(json_of(read_foreign(foreign_format::toml, "z = 1\na = 2.5\n'b c' = 2026-11-27\n[t]\nx = [true, \"s\"]\n", 0,
                             "f", errors)) == R"({"z":1,"a":2.5,"b c":"2026-11-27","t":{"x":[true,"s"]}})");
  CHECK(listing(errors) == "");
  (void)read_foreign(foreign_format::toml, "a = inf\n", 0, "f", errors);
  CHECK(listing(errors).find("f:1:5: this is not TOML: inf and nan") == 0);
}

TEST_CASE(
    "same servers: one that several programs know is written once, and what one of them forbids stays forbidden") {
  const auto servers = [](std::string_view name, const std::string& text) {
    const std::array files{foreign_file{"F", text, "", false}};
    return read_servers(*find_program(name), files, {}, {}).servers;
  };
  auto all = servers(
      "cline", R"({"mcpServers": {"git": {"command": "g"}, "web": {"url": "https://a.example", "type": "http"}}})");
  for (
      auto& s : servers(
          "roo-code",
          R"({"mcpServers": {"mygit": {"command": "g", "disabledTools": ["push"]}, "web": {"url": "https://b.example", "type": "http"}}})"))
    all.push_back(std::move(s));
  for (auto& s : servers(
           "gemini-cli",
           R"({"mcpServers": {"git": {"command": "g", "includeTools": ["log", "push"]}, "old": {"command": "here"}}})"))
    all.push_back(std::move(s));
  server_entry here;
  here.name = "known";
  here.command = reference_string{"here", "", true};
  const std::array existing{here};
  const auto rows = join_servers(all, existing);
  REQUIRE(rows.size() == 6);
  CHECK(rows[0].name == "git");
  CHECK(json_of(rows[0].entry) == R"({"command":"g","tools":{"deny":["push"],"allow":["log","push"]}})");
  CHECK(rows[1].name == "web");
  CHECK(rows[2].name == "");
  CHECK(rows[2].same_as == "git");
  CHECK(rows[3].name == "web-2");
  CHECK(rows[4].same_as == "git");
  CHECK(rows[5].same_as == "known");
}

TEST_CASE("same servers: a name with characters that nobody sees becomes one that a person can type") {
  CHECK(our_name("\u202egnp\u200b") == "-gnp-");
  CHECK(our_name("new\nline\x1b[0m") == "new-line-[0m");
  CHECK(our_name(" n\u00e4me ") == "n\u00e4me");
  CHECK(our_name("") == "server");
}

TEST_CASE("programs: an error about a command of several words does not repeat the words, which may be secret") {
  const auto made = import_text("cursor", R"({"mcpServers": {"x": {"command": "npx -y p --api-key canary"}}})");
  CHECK(made.find("write \"npx\" there") != std::string::npos);
  CHECK(made.find("canary") == std::string::npos);
}

TEST_CASE("programs: a name or a rule that our configuration cannot hold refuses that server alone") {
  const auto made = import_text("opencode", "{\"tools\": {\"a_" + std::string(600, 'x') +
                                                "\": false}, \"mcp\": {\"a\": {\"type\": \"local\", \"command\": "
                                                "[\"c\"]}, \"b\": {\"type\": \"local\", \"command\": [\"c\"]}}}");
  CHECK(made.find("== b\n{\"command\":\"c\"}\n") != std::string::npos);
  const auto named = import_text("cursor", "{\"mcpServers\": {\"\\u202e" + std::string(80, 'x') +
                                               "\": {\"command\": \"c\"}, \"\": {\"command\": \"d\"}}}");
  CHECK(named.find("{\"command\":\"d\"}") != std::string::npos);
}

TEST_CASE("programs: a server of a project's file runs in the folder of the project") {
  const std::string entry = R"({"mcpServers": {"x": {"command": "c"}, "y": {"url": "https://a.example"}}})";
  CHECK(import_text("cursor", entry, "", "/home/me/p") ==
        "== x\n{\"command\":\"c\",\"cwd\":\"/home/me/p\"}\n== y\n{\"url\":\"https://a.example\"}\n");
}

TEST_CASE("programs: texts, lists and rules have bounds, so that a file of any content is read in time") {
  const auto entry = [](const std::string& members) {
    return "{\"amp.mcpServers\": {\"x\": {\"command\": \"c\", " + members + "}}}";
  };
  std::string many;
  for (int i = 0; i < 10'001; ++i) many += (i == 0 ? "\"" : ", \"") + std::to_string(i) + "\"";
  CHECK(import_text("amp", entry("\"includeTools\": [" + many + "]")).find("more than 10000 parts") !=
        std::string::npos);
  CHECK(import_text("amp", entry("\"args\": [\"" + std::string(70'000, '$') + "\"]")).find("more than 64 KiB") !=
        std::string::npos);
  const auto made =
      import_text("amp", "{\"amp.mcpServers\": {\"x\": {\"command\": \"c\"}}, \"amp.tools.disable\": [" + many + "]}");
  CHECK(made.find("more than 10000 rules") != std::string::npos);
}

TEST_CASE("programs: TOML of every form is read, and what TOML forbids is an error with its place") {
  const auto toml = [](std::string_view text) {
    std::vector<diagnostic> errors;
    const auto tree = read_foreign(foreign_format::toml, text, 0, "f", errors);
    return errors.empty() ? json_of(tree) : listing(errors);
  };
  CHECK(toml("\xEF\xBB\xBF# c\r\na.b.c = 1 # d\n\"x y\".'z.w' = 'l\\n'\n") ==
        R"({"a":{"b":{"c":1}},"x y":{"z.w":"l\\n"}})");
  CHECK(toml("[a.b]\nc = 1\n[a]\nd = 2\n[a.e]\n") == R"({"a":{"b":{"c":1},"d":2,"e":{}}})");
  CHECK(toml("[[s]]\nn = 1\n[s.t]\nm = 2\n[[s]]\nn = 3\n") == R"({"s":[{"n":1,"t":{"m":2}},{"n":3}]})");
  CHECK(toml("a = [1, # c\n 2,\n]\nb = {c.d = 1, e = []}\n") == R"({"a":[1,2],"b":{"c":{"d":1},"e":[]}})");
  CHECK(toml("a = \"\"\"\nx \\\n   y\"\"\"\"\"\nb = '''z'''\nc = \"\\u00e9\\t\"\n") ==
        "{\"a\":\"x y\\\"\\\"\",\"b\":\"z\",\"c\":\"é\\t\"}");
  CHECK(toml("a = 0xdead_beef\nb = +1.5e2\nc = 1979-05-27 07:32:00Z\nd = 07:32:00\ne = 0b11\nf = -7\n") ==
        R"({"a":3735928559,"b":150,"c":"1979-05-27 07:32:00Z","d":"07:32:00","e":3,"f":-7})");
  for (const auto& [text, place] :
       std::vector<std::pair<std::string, std::string>>{{"a = 1\na = 2\n", "f:2:1"},
                                                        {"[a]\n[a]\n", "f:2:2"},
                                                        {"a = 1\n[a]\n", "f:2:2"},
                                                        {"a = {}\n[a.b]\n", "f:2:2"},
                                                        {"a.b = 1\n[a]\n", "f:2:2"},
                                                        {"[a]\nb = 1\n[[a]]\n", "f:3:3"},
                                                        {"a = [1]\n[[a]]\n", "f:2:3"},
                                                        {"[a.b]\n[c]\n[a]\nb.d = 1\n", "f:4:1"},
                                                        {"a = {b = 1}\na.c = 2\n", "f:2:1"},
                                                        {"a = \"x\n\"\n", "f:1:5"},
                                                        {"a = 'x", "f:1:5"},
                                                        {"a = \"\\q\"\n", "f:1:6"},
                                                        {"a = \"\\ud800\"\n", "f:1:6"},
                                                        {"a = 01\n", "f:1:5"},
                                                        {"a = 1__0\n", "f:1:5"},
                                                        {"a = yes\n", "f:1:5"},
                                                        {"a = \n", "f:1:5"},
                                                        {"a\n", "f:1:2"},
                                                        {"= 1\n", "f:1:1"},
                                                        {"[a\n", "f:1:3"},
                                                        {"[]\n", "f:1:2"},
                                                        {"[[a]\n", "f:1:4"},
                                                        {"a = 1 b = 2\n", "f:1:7"},
                                                        {"a = [1 2]\n", "f:1:8"},
                                                        {"a = {b = 1\n}\n", "f:1:11"},
                                                        {"a = \x01\n", "f:1:5"},
                                                        {"# \x01\n", "f:1:3"},
                                                        {"a = \"\x01\"\n", "f:1:6"},
                                                        {"a = \xFF\n", "f:1:1"},
                                                        {"[\vx]\n", "f:1:2"},
                                                        {"\xC3\x8C = 1\n", "f:1:1"},
                                                        {"a = -0x1F\n", "f:1:5"}}) {
    CAPTURE(text);
    const auto says = toml(text);
    CHECK_MESSAGE(says.find(place + ": this is not TOML") == 0, says);
  }
}
