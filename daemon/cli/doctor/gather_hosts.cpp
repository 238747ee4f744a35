// Other programs that start tool servers, by the tables that `mcpbx import` has. Their files are read in child
// processes, since one of them may be on a mount that does not answer.
#include "conf/hosts/import/foreign_servers.hpp"
#include "conf/hosts/programs/programs.hpp"
#include "conf/places.hpp"
#include "daemon/cli/doctor/gather.hpp"
#include "daemon/cli/doctor/in_time.hpp"
#include "daemon/cli/hosts/found_programs.hpp"
#include "daemon/cli/hosts/import_plan.hpp"
#include "mcp/files/whole_file.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/redact/hidden_text.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

namespace mcpbx::cli::doctor {
namespace {

constexpr std::size_t most_named = 50;

// Folders below the home folder that a program has where it runs in a sandbox.
struct sandboxed_program {
  std::string_view name, folder;
};
constexpr std::array<sandboxed_program, 4> sandboxes{{{"vscode", ".var/app/com.visualstudio.code"},
                                                      {"vscode", "snap/code"},
                                                      {"zed", ".var/app/dev.zed.Zed"},
                                                      {"jan", ".var/app/ai.jan.Jan"}}};

std::string printed(const std::vector<std::string>& direct, const std::vector<std::string>& more,
                    const std::string& sandbox) {
  std::string json;
  json::json_writer w(json);
  w.begin_object().list("direct", direct).list("more", more).filled("sandbox", sandbox).end_object();
  return json;
}

std::vector<std::string> names_in(const json::raw_json& list) {
  std::vector<std::string> all;
  json::for_each_element(list, [&](const json::raw_json& one) {
    all.push_back(one.as_string().value_or(""));
    return true;
  });
  return all;
}

bool is_off(const conf::imports::foreign_server& s) {
  const auto* disabled = s.entry.find("disabled");
  return disabled != nullptr && disabled->value.truth;
}

// Our side of the comparison, which is made in the child once a program has files.
struct own_side {
  std::vector<conf::model::server_entry> servers;
  std::vector<conf::imports::import_origin> origins;
};

own_side own_side_of(const conf::model::configuration& config, const conf::environment& env) {
  const auto folder = conf::user_config_directory(env);
  config::config_place place;
  place.folder = folder.value_or("");
  for (const auto& source : config.sources)
    if (auto text = files::read_whole_file(source, conf::max_file_bytes); text && *text)
      place.read.push_back({source, {}, std::move(**text)});
  return {folder ? hosts::with_secrets(config.servers, (*folder / "secrets").native(), env.get("HOME").value_or(""))
                 : config.servers,
          hosts::origins_of(config.servers, place)};
}

// Shared by the checks of all programs.
struct comparison {
  const conf::model::configuration& config;
  conf::environment env = conf::environment_for_places();
  conf::imports::own_places own{};
  std::optional<own_side> ours{};
};

// Compares the servers of one program with ours.
std::string compared(const conf::programs::program& program, comparison& with) {
  std::vector<std::string> direct, more;
  const std::vector<hosts::found_program> found{hosts::look_for(program, with.env)};
  if (!found.front().files.empty()) {
    if (!with.ours) with.ours = own_side_of(with.config, with.env);
    const auto& ours = with.ours->servers;
    const auto plan = hosts::plan_import(found, ours, with.own, false, with.ours->origins);
    for (const auto& row : plan.rows) {
      if (row.server->fate != conf::imports::server_fate::taken || is_off(*row.server)) continue;
      const bool is_ours = std::ranges::find(ours, row.same_as, &conf::model::server_entry::name) != ours.end();
      auto& list = is_ours ? direct : more;
      const auto name = redact::printable(is_ours ? row.same_as : row.server->name);
      if ((is_ours || !row.name.empty()) && list.size() < most_named && std::ranges::find(list, name) == list.end())
        list.push_back(name);
    }
  }
  std::string sandbox;
  for (const auto& s : sandboxes)
    if (const auto home = with.env.filled("HOME"); home && s.name == program.name && sandbox.empty()) {
      const std::string folder = *home + "/" + std::string(s.folder);
      if (::access(folder.c_str(), F_OK) == 0) sandbox = folder;
    }
  return printed(direct, more, sandbox);
}

}  // namespace

void add_host_checks(check_list& checks, const conf::model::configuration& config, facts& into) {
  const auto with = std::make_shared<comparison>(comparison{config});
  if (config.http.address) with->own.addresses.push_back(config.http.address->text);
  for (const auto& program : conf::programs::all_programs())
    checks.add([&program, with] { return compared(program, *with); },
               [&program, &into](const auto& answer) {
                 if (!answer) return;  // a file that does not answer says nothing
                 const auto told = json::raw_json::own(*answer);
                 host_facts h{std::string(program.name), std::string(program.title),
                              names_in(json::find_member(told, "direct")), names_in(json::find_member(told, "more")),
                              json::member_text(told, "sandbox")};
                 if (!h.direct.empty() || !h.more.empty() || !h.sandbox.empty()) into.hosts.push_back(std::move(h));
               });
}

}  // namespace mcpbx::cli::doctor
