// Compares the daemon's start with the files and variables of now, and waits for its end by a pidfd.
#include "daemon/cli/link/daemon_age.hpp"

#include "daemon/cli/link/text_lists.hpp"
#include "mcp/socket/peer_process.hpp"
#include "mcp/support/text.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <vector>

namespace mcpbx::cli::link {
namespace {

using steady = std::chrono::steady_clock;

}  // namespace

daemon_news what_is_new(const json::raw_json& hello, const variable_source& here, const variable_source& there) {
  if (const auto files = texts_of(hello, "changedFiles"); !files.empty())
    return {listed(files) + (files.size() == 1 ? " has" : " have") + " changed since the daemon read " +
                (files.size() == 1 ? "it" : "them"),
            true};
  // Compare only if this program names a file: a host that dropped the variable asks for nothing.
  if (const auto named = here("MCPBX_CONFIG"); named && !named->empty()) {
    std::error_code failed;
    const auto mine = std::filesystem::weakly_canonical(*named, failed);
    const auto its = texts_of(hello, "configuration");
    if (its.size() != 1 || std::filesystem::weakly_canonical(its.front(), failed) != mine)
      return {"the daemon does not read " + *named + ", which MCPBX_CONFIG names", false};
  }
  // For the same reason ignore variables that are not set here.
  std::vector<std::string> other;
  for (const auto& name : texts_of(hello, "variables"))
    if (const auto mine = here(name); there && mine && !mine->empty() && there(name) != mine) other.push_back(name);
  if (other.empty()) return {};
  return {listed(other) + (other.size() == 1 ? " is" : " are") + " not what the daemon was started with", false};
}

std::optional<variable_source> variables_of(std::int64_t pid) {
  const mcp::process::unique_fd file(
      ::open(("/proc/" + std::to_string(pid) + "/environ").c_str(), O_RDONLY | O_CLOEXEC));
  if (pid <= 0 || file.get() < 0) return std::nullopt;
  std::string text;
  std::array<char, 65536> buffer;
  ssize_t n = 0;
  while ((n = ::read(file.get(), buffer.data(), buffer.size())) > 0)
    text.append(buffer.data(), static_cast<std::size_t>(n));
  if (n < 0) return std::nullopt;
  const auto values = std::make_shared<std::map<std::string, std::string, std::less<>>>();
  for (std::size_t at = 0; at < text.size();) {
    const auto line = std::string_view(text).substr(at, text.find('\0', at) - at);
    if (const auto equals = line.find('='); equals != std::string_view::npos)
      values->emplace(line.substr(0, equals), line.substr(equals + 1));
    at += line.size() + 1;
  }
  return [values](std::string_view name) -> std::optional<std::string> {
    const auto found = values->find(name);
    return found == values->end() ? std::nullopt : std::optional(found->second);
  };
}

variable_source own_variables() {
  return [](std::string_view name) -> std::optional<std::string> {
    const char* value = std::getenv(std::string(name).c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  };
}

std::int64_t seen_process(const daemon_connection& link, std::int64_t pid) {
  return mcp::socket::peer_of(link.fd(), false).pid == pid ? pid : -1;
}

bool is_socket_of_systemd(const daemon_connection& link) {
  const auto pid = mcp::socket::peer_of(link.fd(), false).pid;
  const mcp::process::unique_fd file(::open(("/proc/" + std::to_string(pid) + "/comm").c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 16> name{};
  if (pid <= 0 || file.get() < 0) return false;
  const auto n = ::read(file.get(), name.data(), name.size());
  return n > 0 && std::string_view(name.data(), static_cast<std::size_t>(n)) == "systemd\n";
}

daemon_end::daemon_end(const daemon_connection& link, const json::raw_json& hello) : link_(link.fd()) {
  const auto pid = seen_process(link, json::find_member(hello, "pid").as_integer().value_or(-1));
  // Use the system call, because the header of glibc 2.36 does not declare pidfd_open for C++.
  if (pid > 0)
    process_ = mcp::process::unique_fd(static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(pid), 0)));
}

bool daemon_end::wait() const {
  pollfd end = process_.get() >= 0 ? pollfd{process_.get(), POLLIN, 0} : pollfd{link_, POLLRDHUP, 0};
  const auto deadline = steady::now() + std::chrono::seconds(12);
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - steady::now());
    if (left.count() <= 0) return false;
    if (::poll(&end, 1, static_cast<int>(left.count())) > 0) return true;
  }
}

}  // namespace mcpbx::cli::link
