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

std::string imported(const program& p, const std::string& text, const std::string& beside, const std::string& folder = "") {
  const std::array files{foreign_file{"FILE", text, folder}};
  std::vector<foreign_file> narrowing;
  if (!beside.empty()) narrowing.push_back({p.format == foreign_format::yaml ? "BESIDE.yaml" : "BESIDE", beside, ""});
  const auto made = read_servers(p, files, narrowing, own_places{{"127.0.0.1:8080"}});
  std::string out = listing(made.errors, "error");
  for (const auto& s : made.servers) out += told(s);
  return out;
}

std::string import_text(std::string_view name, const std::string& text, const std::string& beside = "", const std::string& folder = "") {
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
    const std::array files{source_text{"PASTE", "{\"mcpServers\": {" + json_quoted(name) + ": " + json_of(entry) + "}}"}};
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
  CHECK_MESSAGE(fixture_text(record) == now, record.string() << " differs; record it anew with MCPBX_UPDATE=1 and look at the difference:\n" << now);
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
