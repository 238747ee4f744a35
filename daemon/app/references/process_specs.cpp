// Building process_spec: only here does a tool server's environment come about.
#include "daemon/app/references/process_specs.hpp"

#include "conf/model/references.hpp"
#include "conf/model/secrets.hpp"
#include "daemon/app/references/system_references.hpp"

#include <array>
#include <utility>

namespace mcpbx::daemon::references {
namespace {

constexpr std::array<const char*, 8> always_passed{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "TZ"};

// NAME -> value in order of first appearance, a later value winning.
class environment_list {
 public:
  void set(const std::string& name, const std::string& value) {
    for (auto& [n, v] : items_)
      if (n == name) {
        v = value;
        return;
      }
    items_.emplace_back(name, value);
  }
  std::vector<std::string> lines() const {
    std::vector<std::string> out;
    for (const auto& [n, v] : items_) out.push_back(n + "=" + v);
    return out;
  }

 private:
  std::vector<std::pair<std::string, std::string>> items_;
};

std::string home_of(system_references& source) {
  return source.env("HOME").value_or("/");
}

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t' || s.back() == '\r')) s.remove_suffix(1);
  return s;
}

}  // namespace

result<std::vector<std::pair<std::string, std::string>>> parse_env_file(std::string_view text,
                                                                        const std::string& path) {
  std::vector<std::pair<std::string, std::string>> out;
  for (int number = 1; !text.empty(); ++number) {
    const auto end = text.find('\n');
    std::string_view line = trimmed(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    if (line.empty() || line.front() == '#') continue;
    if (line.starts_with("export ")) line = trimmed(line.substr(7));
    const auto equals = line.find('=');
    if (equals == std::string_view::npos || equals == 0)
      return fail(errc::config, path + ":" + std::to_string(number) + ": expected NAME=value");
    std::string_view value = trimmed(line.substr(equals + 1));
    if (value.size() >= 2 && (value.front() == '"' || value.front() == '\'') && value.back() == value.front())
      value = value.substr(1, value.size() - 2);
    out.emplace_back(trimmed(line.substr(0, equals)), value);
  }
  return out;
}

result<mcp::process::process_spec> make_process_spec(const conf::model::server_entry& entry,
                                                     const std::string& own_folder, const std::string& caller_cwd) {
  system_references source;
  const std::string home = home_of(source);
  mcp::process::process_spec spec;
  spec.name = entry.name;
  spec.may_call = entry.may_call;
  spec.keep_orphans = entry.orphans == conf::model::orphan_policy::keep;

  environment_list environment;
  for (const char* name : always_passed)
    if (auto value = source.env(name)) environment.set(name, *value);
  for (const auto& name : entry.pass_env)
    if (auto value = source.env(name)) {
      conf::model::register_secrets(name, *value);
      environment.set(name, *value);
    }
  if (entry.env_file) {
    auto path = conf::model::resolve(*entry.env_file, source);
    if (!path) return std::unexpected(path.error());
    const std::string file = conf::model::under_home(*path, home);
    auto text = source.file(file);
    if (!text) return std::unexpected(text.error());
    auto lines = parse_env_file(*text, file);
    if (!lines) return std::unexpected(lines.error());
    for (const auto& [name, value] : *lines) {
      // People keep secrets in such files to keep them out of the configuration.
      conf::model::register_secrets(name, value);
      environment.set(name, value);
    }
  }
  for (const auto& [name, value] : entry.env) {
    auto resolved = conf::model::resolve(value, source);
    if (!resolved) return std::unexpected(resolved.error());
    conf::model::register_secrets(name, *resolved);
    environment.set(name, *resolved);
  }
  spec.environment = environment.lines();

  auto command = conf::model::resolve(*entry.command, source);
  if (!command) return std::unexpected(command.error());
  std::string program = conf::model::expand_home(*command, home);
  // The toolbox belongs to this daemon: it is the one beside it, wherever PATH leads.
  if (program == "mcpbx-toolbox") program = own_folder + "/mcpbx-toolbox";
  spec.argv.push_back(std::move(program));
  for (const auto& arg : entry.args) {
    auto resolved = conf::model::resolve(arg, source);
    if (!resolved) return std::unexpected(resolved.error());
    spec.argv.push_back(std::move(*resolved));
  }

  spec.directory = caller_cwd.empty() ? home : caller_cwd;
  if (entry.cwd && !entry.runs_at_caller()) {
    auto directory = conf::model::resolve(*entry.cwd, source);
    if (!directory) return std::unexpected(directory.error());
    spec.directory = conf::model::under_home(*directory, home);
  }
  return spec;
}

}  // namespace mcpbx::daemon::references
