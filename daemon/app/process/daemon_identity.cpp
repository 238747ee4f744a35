// Keeps the identity in the file `daemon-id` of the state folder, made once and never changed.
#include "daemon/app/process/daemon_identity.hpp"

#include "conf/places.hpp"
#include "daemon/guard/state_file.hpp"
#include "mcp/async/system_time.hpp"
#include "mcp/support/text.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <string_view>

namespace mcpbx::daemon::process {
namespace {

constexpr std::size_t digits = 32;

bool is_identity(std::string_view text) {
  return text.size() == digits &&
         std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

}  // namespace

result<std::string> daemon_identity(const conf::environment& env) {
  auto folder = conf::state_directory(env);
  if (!folder) return std::unexpected(folder.error());
  const auto path = (*folder / "daemon-id").string();
  if (auto made = guard::make_folder_of(path); !made) return std::unexpected(made.error());
  // Locks, so that two daemons starting at once create one identity.
  auto lock = guard::state_lock::take(path);
  if (!lock) return std::unexpected(lock.error());
  auto text = guard::read_state_file(path, 4096);
  if (!text) return std::unexpected(text.error());
  if (*text) {
    std::string id = **text;
    while (id.ends_with('\n')) id.pop_back();
    if (is_identity(id)) return id;
    return fail(errc::io, path + " is not what a daemon wrote; delete it, and this daemon gets a new identity");
  }
  auto id = passing_identity();
  if (auto written = guard::replace_state_file(path, id + "\n"); !written) return std::unexpected(written.error());
  return id;
}

std::string passing_identity() {
  async::system_random random;
  return hex(random.next(), 16) + hex(random.next(), 16);
}

std::string boot_identity() {
  std::string id;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> id;
  return id;
}

std::string daemon_label() {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host = {"an unknown host"};
  return "mcpbxd " + std::to_string(::getpid()) + " on " + host.data();
}

}  // namespace mcpbx::daemon::process
