// Comparison of files and variables with those of the daemon's start.
#include "daemon/app/started_world.hpp"

#include "mcp/support/text.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace mcpbx::daemon::app {
namespace {

// Variables that differ in every terminal.
constexpr std::array<std::string_view, 5> never_told{"PWD", "OLDPWD", "SHLVL", "TERM", "_"};

bool is_name(std::string_view text) {
  return !text.empty() && (text[0] < '0' || text[0] > '9') && std::ranges::all_of(text, [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

bool same(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino && a.st_size == b.st_size &&
         a.st_mtim.tv_sec == b.st_mtim.tv_sec && a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
}

}  // namespace

std::vector<std::string> variables_in(std::string_view text) {
  std::vector<std::string> names;
  for (std::size_t at = text.find("${"); at != std::string_view::npos; at = text.find("${", at + 2)) {
    auto name = text.substr(at + 2, 256);
    const auto end = name.find('}');
    if (end == std::string_view::npos) continue;
    name = name.substr(0, end);
    if (name.starts_with("env:")) name.remove_prefix(4);
    name = name.substr(0, name.find(":-"));
    if (is_name(name)) names.emplace_back(name);
  }
  return names;
}

started_world::started_world(conf::environment env, conf::file_options files, const conf::model::configuration& config,
                             const std::vector<conf::read_source>& read, bool idle_exit)
    : idle_exit_(idle_exit), files_(std::make_shared<read_files>(std::move(env), std::move(files), read)) {
  for (const auto& r : read) {
    paths_.push_back(r.path);
    for (auto& name : variables_in(r.text)) variables_.push_back(std::move(name));
  }
  for (const auto& s : config.servers) variables_.insert(variables_.end(), s.pass_env.begin(), s.pass_env.end());
  if (std::ranges::all_of(config.models, &conf::model::model_entry::built_in))
    variables_.insert(variables_.end(), {"ANTHROPIC_API_KEY", "OPENAI_API_KEY"});
  std::ranges::sort(variables_);
  variables_.erase(std::ranges::unique(variables_).begin(), variables_.end());
  std::erase_if(variables_, [](const auto& name) { return std::ranges::find(never_told, name) != never_told.end(); });
}

read_files::read_files(conf::environment env, conf::file_options options, const std::vector<conf::read_source>& read)
    : env_(std::move(env)), options_(std::move(options)) {
  for (const auto& r : read) files_.push_back({r.path, r.seen, stable_hash(r.text)});
}

std::vector<std::string> read_files::changed() {
  std::vector<std::string> changed;
  const auto now = conf::find_files(env_, options_);
  for (const auto& path : now ? *now : std::vector<std::filesystem::path>())
    if (std::ranges::find(files_, path.native(), &file::path) == files_.end()) changed.push_back(path.native());
  for (auto& f : files_) {
    if (!now || std::ranges::find(*now, std::filesystem::path(f.path)) == now->end()) {
      changed.push_back(f.path);
      continue;
    }
    struct stat there{};
    if (::stat(f.path.c_str(), &there) != 0) there = {};
    if (same(there, f.seen)) continue;
    const auto text = conf::read_file(f.path, options_.user);
    if (text && stable_hash(*text) == f.text)
      f.seen = there;  // rewritten with the same content
    else
      changed.push_back(f.path);
  }
  return changed;
}

void started_world::tell(json::json_writer& out, const std::vector<std::string>& changed) const {
  const auto list = [&](std::string_view key, const std::vector<std::string>& values) {
    out.key(key).begin_array();
    for (const auto& v : values) out.value(v);
    out.end_array();
  };
  out.member("idleExit", idle_exit_);
  list("configuration", paths_);
  list("changedFiles", changed);
  list("variables", variables_);
}

}  // namespace mcpbx::daemon::app
