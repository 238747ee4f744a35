// Both files lie in the state directory, unless `audit` names another path.
#include "daemon/app/options/guard.hpp"

#include "conf/model/references.hpp"
#include "conf/places.hpp"
#include "daemon/app/options/server_entries.hpp"
#include "mcp/client/catalog/tool_names.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::daemon::options {
namespace {

result<std::string> in_state_directory(const conf::environment& env, std::string_view name) {
  auto folder = conf::state_directory(env);
  if (!folder) return std::unexpected(folder.error());
  return (*folder / name).string();
}

pins::pin_mode mode_of(conf::model::pin_mode m) {
  switch (m) {
    case conf::model::pin_mode::off:
      return pins::pin_mode::off;
    case conf::model::pin_mode::warn:
      return pins::pin_mode::warn;
    case conf::model::pin_mode::block:
      break;
  }
  return pins::pin_mode::block;
}

std::string text_of(const std::optional<conf::model::reference_string>& s) {
  return s ? s->text : "";
}

pins::plain_name_of naming_of(const conf::model::server_entry& entry) {
  return [filter = tool_filter_of(entry)](std::string_view tool) {
    return mcp::catalogs::passes(filter.allow, filter.deny, tool) ? mcp::catalogs::plain_name(tool, filter.rename)
                                                                  : std::string();
  };
}

}  // namespace

std::string origin_of(const conf::model::server_entry& entry) {
  pins::server_origin from{text_of(entry.command), {}, text_of(entry.url), entry.pass_env, text_of(entry.env_file),
                           text_of(entry.cwd)};
  for (const auto& a : entry.args) from.args.push_back(a.text);
  for (const auto& [name, value] : entry.env) from.env_names.push_back(name);
  return pins::origin_text(std::move(from));
}

pins::pin_guard::options pin_options(const conf::model::configuration& config, const conf::environment& env) {
  pins::pin_guard::options o{in_state_directory(env, "pins.json"), {}};
  for (const auto& s : config.servers)
    o.servers.push_back({s.name, s.disabled ? pins::pin_mode::off : mode_of(s.pinning()), origin_of(s),
                         has_plain_names(s, config) ? naming_of(s) : pins::plain_name_of()});
  return o;
}

std::optional<audit::audit_log::options> audit_options(const conf::model::configuration& config,
                                                       const conf::environment& env) {
  if (!config.audit.on) return std::nullopt;
  const auto& path = config.audit.text;
  audit::audit_log::options o{in_state_directory(env, "audit.jsonl")};
  o.make_folder = path.empty();
  if (!path.empty()) {
    const std::string home = env.filled("HOME").value_or("/");
    o.path = conf::model::under_home(path, home);
  }
  return o;
}

}  // namespace mcpbx::daemon::options
