// The XDG rules: a variable that is unset, empty or relative does not count.
#include "conf/places.hpp"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <utility>

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

login_places login_places_of(uid_t user, const std::string& run) {
  login_places login;
  std::array<char, 16384> room;
  passwd account{};
  passwd* found = nullptr;
  if (::getpwuid_r(user, &account, room.data(), room.size(), &found) == 0 && found && found->pw_dir &&
      *found->pw_dir == '/')
    login.home = found->pw_dir;
  const std::string folder = run + "/" + std::to_string(user);
  struct stat s{};
  if (::lstat(folder.c_str(), &s) == 0 && S_ISDIR(s.st_mode) && s.st_uid == user && (s.st_mode & 022) == 0)
    login.runtime_directory = folder;
  return login;
}

environment with_places(environment env, const login_places& login) {
  if (!absolute(env, "HOME") && !login.home.empty()) env.values["HOME"] = login.home;
  const auto home = absolute(env, "HOME");
  const bool own = !login.home.empty() && home && home->lexically_normal() == std::filesystem::path(login.home);
  if (own && !absolute(env, "XDG_RUNTIME_DIR") && !login.runtime_directory.empty())
    env.values["XDG_RUNTIME_DIR"] = login.runtime_directory;
  return env;
}

environment environment_for_places() {
  auto env = environment::of_process();
  // The account would change nothing, and looking it up may ask a name service.
  if (absolute(env, "HOME") && absolute(env, "XDG_RUNTIME_DIR")) return env;
  return with_places(std::move(env), login_places_of(::geteuid()));
}

std::vector<std::filesystem::path> running_links(const environment& env) {
  std::vector<std::filesystem::path> links;
  if (const auto home = absolute(env, "HOME")) links.push_back(*home / ".local/state/mcpbx/running");
  if (const auto state = absolute(env, "XDG_STATE_HOME"))
    if (auto link = *state / "mcpbx/running"; links.empty() || links.front() != link) links.push_back(std::move(link));
  return links;
}

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
