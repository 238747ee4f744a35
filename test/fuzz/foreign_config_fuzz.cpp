// Any bytes as the file of any program: reading never crashes, what is taken passes our own loader, and our entry goes
// in and out of a file without a trace.
#include "conf/hosts/import/foreign_servers.hpp"
#include "conf/hosts/install/own_entry.hpp"
#include "conf/load.hpp"
#include "mcp/json/json_writer.hpp"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace {

using namespace mcpbx::conf;
using namespace mcpbx::conf::documents;
using namespace mcpbx::conf::imports;
using namespace mcpbx::conf::install;
using namespace mcpbx::conf::programs;

void require(bool holds) {
  if (!holds) std::abort();
}

void check_findings(const std::vector<diagnostic>& findings) {
  for (const auto& d : findings) {
    const auto text = d.text();
    require(!text.empty() && text.find('\n') == text.npos && !d.what.empty());
  }
}

void check_import(const program& p, const std::string& text, const std::string& folder) {
  const std::array files{foreign_file{"/home/me/f", text, folder, false}};
  const auto made = read_servers(p, files, {}, {});
  check_findings(made.errors);
  for (const auto& s : made.servers) {
    check_findings(s.errors);
    check_findings(s.notices);
    require((s.fate == server_fate::refused) == !s.errors.empty());
    if (s.fate != server_fate::taken) continue;
    const std::array ours{source_text{"f", "{\"mcpServers\": {\"x\": " + json_of(s.entry) + "}}"}};
    require(load(ours, {}).ok());
  }
}

void check_install(const program& p, const std::string& text) {
  if (!can_install(p) || !p.own_file.empty()) return;
  const std::array<std::string, 2> off{"git", "web"};
  const auto before = has_own_entry(p, text, "f");
  if (!before || *before) return;
  const auto made = with_own_entry(p, text, {"/usr/bin/mcpbx", {"mcp"}}, off, "f");
  if (!made) return;
  require(has_own_entry(p, made->text, "f").value());
  const auto back = without_own_entry(p, made->text, text, made->switched_off, "f");
  if (back) require(!has_own_entry(p, *back, "f").value());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto all = all_programs();
  const auto& p = all[data[0] % all.size()];
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  check_import(p, text, (data[0] & 0x80) != 0 ? "/home/me/p" : "");
  check_install(p, text);
  return 0;
}
