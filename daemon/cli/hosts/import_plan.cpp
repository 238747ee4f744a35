// Joins the reading of all programs.
#include "daemon/cli/hosts/import_plan.hpp"

#include "mcp/files/whole_file.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace mcpbx::cli::hosts {
namespace {

constexpr std::size_t most_secret_bytes = 65'536;

}  // namespace

std::size_t import_plan::refused() const {
  return static_cast<std::size_t>(
      std::ranges::count(servers, conf::imports::server_fate::refused, &conf::imports::foreign_server::fate));
}

std::vector<conf::model::server_entry> with_secrets(std::vector<conf::model::server_entry> servers,
                                                    const std::string& secrets, const std::string& home) {
  const auto resolve = [&](conf::model::reference_string& s) {
    constexpr std::string_view open = "${file:";
    for (auto at = s.text.find(open); at != s.text.npos; at = s.text.find(open, at + 1)) {
      const auto end = s.text.find('}', at);
      if (end == s.text.npos) return;
      const auto path = conf::model::expand_home(s.text.substr(at + open.size(), end - at - open.size()), home);
      if (!path.starts_with(secrets + "/")) continue;
      const auto value = files::read_whole_file(path, most_secret_bytes);
      if (value && *value) s.text.replace(at, end + 1 - at, trimmed(**value));
    }
  };
  for (auto& s : servers) {
    for (auto& a : s.args) resolve(a);
    for (auto& [name, value] : s.env) resolve(value);
    for (auto& [name, value] : s.headers) resolve(value);
    if (s.url) resolve(*s.url);
  }
  return servers;
}

std::vector<conf::imports::import_origin> origins_of(std::span<const conf::model::server_entry> ours,
                                                     const config::config_place& place) {
  std::vector<conf::imports::import_origin> all;
  if (place.file) return conf::imports::entry_origins_in(place.text_of(*place.file).value_or(""));
  for (const auto& s : ours) {
    const auto text = s.bundled ? std::nullopt : place.text_of(place.file_of(s.name));
    for (auto& mark : conf::imports::origin_marks_in(text.value_or(""))) all.push_back({s.name, std::move(mark)});
  }
  return all;
}

import_plan plan_import(std::span<const found_program> programs, std::span<const conf::model::server_entry> ours,
                        const conf::imports::own_places& own, bool ask,
                        std::span<const conf::imports::import_origin> origins) {
  import_plan plan;
  for (const auto& p : programs) {
    plan.faults.insert(plan.faults.end(), p.unreadable.begin(), p.unreadable.end());
    auto made = conf::imports::read_servers(*p.program, p.files, p.beside, own);
    for (const auto& e : made.errors) plan.faults.push_back(e.text());
    std::ranges::move(made.servers, std::back_inserter(plan.servers));
  }
  plan.rows = conf::imports::join_servers(plan.servers, ours, origins);
  for (auto& row : plan.rows) {
    if (row.name.empty()) continue;
    if (ask) conf::imports::ask_for_all(row.entry);
    const std::string title(row.server->from->title);
    if (row.server->from->asks && std::ranges::find(plan.asking, title) == plan.asking.end())
      plan.asking.push_back(title);
  }
  return plan;
}

}  // namespace mcpbx::cli::hosts
