// The XDG rules: a variable that is unset, empty or relative does not count.
#include "conf/places.hpp"

namespace mcpbx::conf {
namespace {

std::optional<std::filesystem::path> absolute(const environment& env, std::string_view name) {
  const auto v = env.filled(name);
  if (!v || v->front() != '/') return {};
  return std::filesystem::path(*v);
}

result<std::filesystem::path> fitting(std::filesystem::path path) {
  constexpr std::size_t most = 107;  // sun_path of Linux without its end
  if (path.native().size() <= most) return path;
  return fail(errc::config, "the socket's path " + path.native() + " has " + std::to_string(path.native().size()) +
                                " bytes, and a Unix socket's path cannot have more than " + std::to_string(most) +
                                ": give a shorter one with --socket or MCPBX_SOCKET");
}

}  // namespace

result<std::filesystem::path> socket_path(const environment& env, std::string_view flag) {
  if (!flag.empty()) return fitting(std::filesystem::path(flag));
  if (const auto v = env.filled("MCPBX_SOCKET")) return fitting(std::filesystem::path(*v));
  if (const auto run = absolute(env, "XDG_RUNTIME_DIR")) return fitting(*run / "mcpbx/mcpbx.sock");
  if (const auto home = absolute(env, "HOME")) return fitting(*home / ".local/state/mcpbx/mcpbx.sock");
  return fail(
      errc::config,
      "there is no place for the socket, since neither XDG_RUNTIME_DIR nor HOME is set: give one with --socket or "
      "MCPBX_SOCKET");
}

bool default_socket(const environment& env, std::string_view flag) {
  return flag.empty() && !env.filled("MCPBX_SOCKET");
}

result<std::filesystem::path> state_directory(const environment& env) {
  if (const auto state = absolute(env, "XDG_STATE_HOME")) return *state / "mcpbx";
  if (const auto home = absolute(env, "HOME")) return *home / ".local/state/mcpbx";
  return fail(errc::config, "there is no place for the state, since neither XDG_STATE_HOME nor HOME is set: set HOME");
}

std::optional<std::filesystem::path> user_config_directory(const environment& env) {
  if (const auto config = absolute(env, "XDG_CONFIG_HOME")) return *config / "mcpbx";
  if (const auto home = absolute(env, "HOME")) return *home / ".config/mcpbx";
  return {};
}

}  // namespace mcpbx::conf
