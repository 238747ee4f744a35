// Calls libsecret's simple functions, whose types are declared here as its manual has them: its headers would make GLib
// a dependency of the build.
#include "daemon/guard/credentials/secret_service.hpp"

#include "mcp/support/encodings.hpp"
#include "mcp/support/text.hpp"

#include <openssl/rand.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string_view>

extern char** environ;

namespace mcpbx::daemon::credentials {
namespace {

constexpr std::size_t key_characters = 64, longest_output = 256;

struct secret_schema_attribute {
  const char* name;
  int type;
};
/// SecretSchema of libsecret 0.20.
struct secret_schema {
  const char* name;
  int flags;
  std::array<secret_schema_attribute, 32> attributes;
  int reserved;
  std::array<void*, 7> more;
};
using lookup_function = char* (*)(const secret_schema*, void*, void**, ...);
using store_function = int (*)(const secret_schema*, const char*, const char*, const char*, void*, void**, ...);

std::string fresh_key() {
  std::array<unsigned char, key_characters / 2> bytes{};
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) return {};
  return hex_text({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

bool is_key(std::string_view text) {
  return text.size() == key_characters && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool has_session_bus() {
  if (const char* const bus = std::getenv("DBUS_SESSION_BUS_ADDRESS"); bus != nullptr && *bus != '\0') return true;
  const char* const folder = std::getenv("XDG_RUNTIME_DIR");
  return folder != nullptr && ::access((std::string(folder) + "/bus").c_str(), F_OK) == 0;
}

}  // namespace

int print_secret_service_key() {
  void* const library = ::dlopen("libsecret-1.so.0", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return 1;
  const auto lookup = reinterpret_cast<lookup_function>(::dlsym(library, "secret_password_lookup_sync"));
  const auto store = reinterpret_cast<store_function>(::dlsym(library, "secret_password_store_sync"));
  if (lookup == nullptr || store == nullptr) return 1;
  const secret_schema schema{"mcpbx.credentials", 0, {{{"use", 0}}}, 0, {}};
  void* problem = nullptr;
  const char* const end = nullptr;
  if (const char* const found = lookup(&schema, nullptr, &problem, "use", "credentials", end);
      found != nullptr && is_key(found)) {
    std::puts(found);
    return 0;
  }
  if (problem != nullptr) return 1;
  const std::string key = fresh_key();
  if (key.empty() || store(&schema, "default", "Key of the tokens that mcpbx keeps", key.c_str(), nullptr, &problem,
                           "use", "credentials", end) == 0)
    return 1;
  std::puts(key.c_str());
  return 0;
}

result<std::string> ask_secret_service(const std::string& program, std::chrono::milliseconds limit) {
  if (!has_session_bus()) return fail(errc::unavailable, "there is no session bus");
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail(errc::unavailable, "no pipe can be made");
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::string name = program, option = secret_service_option;
  std::array<char*, 3> words{name.data(), option.data(), nullptr};
  pid_t child = 0;
  const int failed = ::posix_spawn(&child, program.c_str(), &files, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  ::close(ends[1]);
  std::string output;
  if (failed == 0) {
    bool ended = false;
    const auto until = std::chrono::steady_clock::now() + limit;
    while (output.size() < longest_output) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count();
      pollfd wait{ends[0], POLLIN, 0};
      if (left <= 0) break;
      const int ready = ::poll(&wait, 1, static_cast<int>(left));
      if (ready < 0 && errno == EINTR) continue;
      if (ready <= 0) break;
      std::array<char, longest_output> bytes{};
      const ssize_t n = ::read(ends[0], bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      ended = n <= 0;
      if (ended) break;
      output.append(bytes.data(), static_cast<std::size_t>(n));
    }
    // A child that has closed its end is over; its number may be another process's soon.
    if (!ended) ::kill(child, SIGKILL);
    // The daemon reaps children that nobody waits for; it may have taken this one.
    while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  ::close(ends[0]);
  const auto key = trimmed(output);
  if (!is_key(key)) return fail(errc::unavailable, "the Secret Service gives no key");
  return std::string(key);
}

}  // namespace mcpbx::daemon::credentials
