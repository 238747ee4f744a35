// One posix_spawnp().
#include "mcp/process/started_apart.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/types.h>
#include <unistd.h>

#include <system_error>

extern char** environ;

namespace mcpbx::mcp::process {

result<void> start_apart(std::vector<std::string> words) {
  std::vector<char*> pointers;
  for (auto& w : words) pointers.push_back(w.data());
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t quiet;
  posix_spawnattr_t how;
  posix_spawn_file_actions_init(&quiet);
  posix_spawnattr_init(&how);
  posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSID);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    posix_spawn_file_actions_addopen(&quiet, fd, "/dev/null", O_RDWR, 0);
  pid_t pid = 0;
  const int failed = ::posix_spawnp(&pid, words.front().c_str(), &quiet, &how, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&quiet);
  posix_spawnattr_destroy(&how);
  if (failed == 0) return {};
  return fail(errc::io, words.front() + " cannot be started: " + std::generic_category().message(failed));
}

}  // namespace mcpbx::mcp::process
