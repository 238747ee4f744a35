// A switch is tried in the least way first, and each try is judged by the configuration that it would lead to: keys of
// other hosts and later files can have the last word.
#include "daemon/cli/config/entry_changes.hpp"

#include "conf/edit/json_edit.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <string_view>

namespace mcpbx::cli::config {
namespace {

namespace fs = std::filesystem;

/// Returns the file without the member. A file of config.d of which nothing but empty objects (and a "$schema") would
/// be left gives nullopt.
result<std::optional<std::string>> pruned(const config_place& place, const std::string& text,
                                          const conf::edit::json_path& path, const fs::path& file) {
  auto out = conf::edit::remove_member(text, path, file.native());
  if (!out) return std::unexpected(out.error());
  if (place.file) return std::move(*out);
  const auto servers = conf::edit::member_keys(*out, {"mcpServers"}, file.native());
  const auto root = conf::edit::member_keys(*out, {}, file.native());
  if (!servers || !root) return std::move(*out);
  std::size_t others = 0;
  for (const auto& key : *root) others += key == "mcpServers" || key == "$schema" ? 0 : 1;
  std::size_t full = 0;
  for (const auto& name : *servers) {
    const auto keys = conf::edit::member_keys(*out, {"mcpServers", name}, file.native());
    full += keys && keys->empty() ? 0 : 1;
  }
  if (others == 0 && full == 0) return std::nullopt;
  return std::move(*out);
}

bool is_drop_in(const config_place& place, const fs::path& file) {
  return !place.file && file.parent_path() == place.folder / "config.d";
}

std::string files_text(const std::vector<fs::path>& files) {
  std::string out;
  for (const auto& file : files) out += (out.empty() ? "" : " and ") + file.native();
  return out;
}

/// Returns true if the entry is disabled; nullopt: the configuration is wrong or has no such entry.
std::optional<bool> is_disabled(const conf::loaded& loaded, std::string_view name) {
  if (!loaded.ok()) return std::nullopt;
  const auto* entry = loaded.config.find_server(name);
  return entry ? std::optional(entry->disabled) : std::nullopt;
}

std::unexpected<error> wrong_already(const conf::loaded& loaded) {
  return fail(errc::config, "the configuration has errors, and nothing was written:\n" +
                                std::string(trimmed(loaded.error_text())) + "\n`mcpbx edit` opens it");
}

}  // namespace

std::vector<std::string> entry_names(const config_place& place) {
  std::vector<std::string> names;
  for (const auto& r : place.read) {
    const auto keys = conf::edit::member_keys(r.text, {"mcpServers"}, r.path);
    if (!keys) continue;
    for (const auto& key : *keys)
      if (std::ranges::find(names, key) == names.end()) names.push_back(key);
  }
  return names;
}

result<void> check_entry(const config_place& place, const std::string& name) {
  const auto names = entry_names(place);
  if (std::ranges::find(names, name) != names.end()) return {};
  if (place.read.empty() && name == "toolbox")
    return fail(errc::not_found,
                "the toolbox is there because there is no configuration file; it ends with the first "
                "server that you add");
  const std::vector<std::string_view> known(names.begin(), names.end());
  return fail(errc::not_found, "there is no entry " + shell_word(name) + " in the configuration" +
                                   did_you_mean(name, known) + "; `mcpbx servers` lists them");
}

result<std::vector<file_change>> entry_removed(const config_place& place, const std::string& name) {
  if (auto good = check_entry(place, name); !good) return std::unexpected(good.error());
  std::vector<fs::path> own;
  std::vector<file_change> changes;
  for (const auto& file : files_with(place, name)) {
    if (!place.file && !is_drop_in(place, file)) {
      own.push_back(file);
      continue;
    }
    const auto text = place.text_of(file);
    auto rest = pruned(place, *text, {"mcpServers", name}, file);
    if (!rest) return std::unexpected(rest.error());
    changes.push_back({file, text, std::move(*rest)});
  }
  if (own.empty()) return changes;
  return fail(errc::config, shell_word(name) + " stands in " + files_text(own) +
                                ", which is your own file: take it out there (`mcpbx edit` opens it), or switch it off "
                                "with `mcpbx disable " +
                                shell_word(name) + "`");
}

result<std::vector<file_change>> entry_switched(const config_place& place, const std::string& name, bool disabled,
                                                const conf::environment& env) {
  if (auto good = check_entry(place, name); !good) return std::unexpected(good.error());
  const auto now = loaded_after(place, {}, env);
  if (!now.ok()) return wrong_already(now);
  if (is_disabled(now, name) == disabled) return std::vector<file_change>{};

  const auto file = place.file_of(name);
  const auto before = place.text_of(file);
  const conf::edit::json_path path{"mcpServers", name, "disabled"};
  std::vector<std::optional<std::string>> tries;
  if (!disabled && before) {
    auto without = pruned(place, *before, path, file);
    if (!without) return std::unexpected(without.error());
    tries.push_back(std::move(*without));
  }
  auto with = conf::edit::set_member(before.value_or(""), path, disabled ? "true" : "false", file.native());
  if (!with) return std::unexpected(with.error());
  tries.emplace_back(std::move(*with));
  for (auto& after : tries) {
    if (after == before) continue;
    const file_change change{file, before, after};
    if (is_disabled(loaded_after(place, {change}, env), name) == disabled) return std::vector{change};
  }
  return fail(errc::config, shell_word(name) + " would go on to be " + (disabled ? "enabled" : "disabled") +
                                ", since another key of its entry or a later file decides; it stands in " +
                                files_text(files_with(place, name)) + ": change it there (`mcpbx edit` opens it)");
}

}  // namespace mcpbx::cli::config
