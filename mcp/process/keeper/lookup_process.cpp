// Runs the look-up in a child. The answer travels through a pipe: one byte for its kind (an errc, or `found`), then a
// text.
#include "mcp/process/keeper/lookup_process.hpp"

#include "mcp/process/process_tree.hpp"
#include "mcp/support/read_size.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

namespace mcpbx::mcp::keepers {
namespace {

constexpr int answer_at = 3;
constexpr char found = '\xff';

void write_all(std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(answer_at, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

// Touches what the start of the program will need, its directory and its first bytes: if they block, they block here.
void touch(const process::process_spec& spec, const std::string& program) {
  if (::chdir(spec.directory.c_str()) != 0) return;
  const int fd = ::open(program.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return;
  char first = 0;
  if (::read(fd, &first, 1) >= 0) ::close(fd);
}

// Runs in the child: looks, answers, ends.
[[noreturn]] void look(const process::process_spec& spec, program_finder find, int answer, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  ::prctl(PR_SET_NAME, "mcpbx-lookup");
  // No server has number 0. The mark lets the sweep find and reap this process when the keeper dies.
  process::mark_self(process::to_limit({parent, 0, false}));
  // This closes the control socket above all: while a copy is open, the daemon does not notice the keeper's end.
  if (answer != answer_at && ::dup2(answer, answer_at) < 0) ::_exit(1);
  ::close_range(answer_at + 1, ~0U, 0);
  try {
    const auto program = find(spec);
    if (program) {
      touch(spec, *program);
      write_all(found + *program);
    } else {
      write_all(static_cast<char>(program.error().code) + program.error().message);
    }
  } catch (...) {
    ::_exit(1);  // out of memory: the parent reads no answer
  }
  ::_exit(0);
}

}  // namespace

result<lookup_process> lookup_process::begin(const process::process_spec& spec, program_finder find) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return fail(errc::io, std::string("no pipe for it: ") + std::strerror(errno));
  process::unique_fd reader(ends[0]), writer(ends[1]);
  ::fcntl(reader.get(), F_SETFL, O_NONBLOCK);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) look(spec, find, writer.get(), parent);
  if (pid < 0) return fail(errc::io, std::string("no process to look for its program: ") + std::strerror(errno));
  return lookup_process(pid, reader.release());
}

lookup_process::~lookup_process() {
  if (pid_ > 0) ::kill(pid_, SIGKILL);
}

lookup_process::lookup_process(lookup_process&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), answer_(std::move(other.answer_)), text_(std::move(other.text_)) {}

std::optional<result<std::string>> lookup_process::poll() {
  std::array<char, 4096> part;
  for (;;) {
    const ssize_t n = ::read(answer_.get(), part.data(), read_size(part.size()));
    if (n > 0) {
      text_.append(part.data(), static_cast<std::size_t>(n));
      continue;
    }
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return std::nullopt;
    break;
  }
  pid_ = -1;  // the process has ended, and may have been reaped
  if (text_.empty()) return fail(errc::io, "looking for its program ended without an answer");
  std::string text = text_.substr(1);
  if (text_.front() == found) return result<std::string>(std::move(text));
  return fail(static_cast<errc>(text_.front()), std::move(text));
}

}  // namespace mcpbx::mcp::keepers
