// Spawns processes by Boost.Process v2 with one initializer of our own. Boost 1.81 does not include the first two
// headers itself, so they must come before it.
#include "mcp/process/spawn.hpp"

#include "mcp/process/core_files.hpp"
#include "mcp/process/process_tree.hpp"
#include "mcp/process/program_lookup.hpp"

// clang-format off
#include <boost/optional.hpp>
#include <boost/type_traits.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/process/v2.hpp>
// clang-format on
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

namespace mcpbx::mcp::process {
namespace {

namespace bp = boost::process::v2;

// Settings that the child makes between fork and exec.
struct child_setup {
  rlim_t mark;
  pid_t parent;

  bp::error_code on_exec_setup(bp::posix::default_launcher&, const bp::filesystem::path&, const char* const*) const {
    ::setpgid(0, 0);
    // If the keeper died before the death signal was set, nothing would ever end this process.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(127);
    mark_self(mark);
    allow_core_files_again();
    // The keeper ignores and blocks signals; its children start with the defaults.
    for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    // Boost's own loop over the descriptors misses some (1.81 and 1.83).
    ::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
    return {};
  }
  // Boost would call exit() here, which runs our own exit handlers in the child.
  template <class... Anything>
  void on_exec_error(Anything&&...) const {
    ::_exit(127);
  }
};

class pipe_pair {
 public:
  pipe_pair() {
    if (::pipe2(ends_.data(), O_CLOEXEC) != 0) number_ = errno;
  }
  ~pipe_pair() {
    for (int fd : ends_)
      if (fd >= 0) ::close(fd);
  }
  pipe_pair(const pipe_pair&) = delete;
  pipe_pair& operator=(const pipe_pair&) = delete;
  int failure() const { return number_; }
  int reader() const { return ends_[0]; }
  int writer() const { return ends_[1]; }
  int release_reader() { return std::exchange(ends_[0], -1); }
  int release_writer() { return std::exchange(ends_[1], -1); }

 private:
  std::array<int, 2> ends_{-1, -1};
  int number_ = 0;
};

}  // namespace

result<spawned_process> spawn_process(const process_spec& spec, const std::string& program, rlim_t mark) {
  pipe_pair input, output, errors;
  for (const auto* p : {&input, &output, &errors})
    if (p->failure() != 0) return fail(errc::io, std::string("no pipe for it: ") + std::strerror(p->failure()));

  const bp::filesystem::path executable(program);
  const std::vector<std::string> arguments(spec.argv.begin() + 1, spec.argv.end());
  // The context is never run: it only gives the launcher an executor.
  boost::asio::io_context context(1);
  bp::posix::default_launcher launcher;
  bp::error_code failed;
  try {
    auto process = launcher(context.get_executor(), failed, executable, arguments,
                            bp::process_stdio{input.reader(), output.writer(), errors.writer()},
                            bp::process_environment(spec.environment), bp::process_start_dir(spec.directory),
                            child_setup{mark, ::getpid()});
    if (!failed) process.detach();  // reaped by the keeper's own loop
  } catch (const std::exception& e) {
    if (launcher.pid <= 0) return fail(errc::io, std::string("starting it failed: ") + e.what());
  }
  if (failed) {
    // Boost 1.81 leaves a child that could not exec as a zombie.
    if (launcher.pid > 0) ::waitpid(launcher.pid, nullptr, 0);
    return fail(failed.value() == ENOENT ? errc::not_found : errc::io, explain_exec_failure(program, failed.value()));
  }
  // The child makes this call too. With both, the group exists before anybody learns its number.
  ::setpgid(launcher.pid, launcher.pid);
  return spawned_process{launcher.pid, input.release_writer(), output.release_reader(), errors.release_reader()};
}

}  // namespace mcpbx::mcp::process
