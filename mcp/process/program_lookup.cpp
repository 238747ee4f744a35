// Implements the look-up of programs as execvp does it, and the sentences about failures.
#include "mcp/process/program_lookup.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

namespace mcpbx::mcp::process {
namespace {

// The path that execvp uses if the environment has no PATH.
constexpr std::string_view default_path = "/bin:/usr/bin";

std::string_view path_of(const process_spec& spec) {
  constexpr std::string_view name = "PATH=";
  for (const std::string_view entry : spec.environment)
    if (entry.starts_with(name)) return entry.substr(name.size());
  return default_path;
}

std::string in_quotes(std::string_view text) {
  return '"' + std::string(text) + '"';
}

std::string absolute(const std::string& path, const std::string& directory) {
  return path.starts_with('/') ? path : directory + '/' + path;
}

enum class verdict { runnable, missing, directory, not_executable, unreachable };

verdict look_at(const std::string& file, int& number) {
  struct stat s{};
  if (::stat(file.c_str(), &s) != 0) {
    number = errno;
    return number == ENOENT || number == ENOTDIR ? verdict::missing : verdict::unreachable;
  }
  if (S_ISDIR(s.st_mode)) return verdict::directory;
  return ::access(file.c_str(), X_OK) == 0 ? verdict::runnable : verdict::not_executable;
}

result<void> check_directory(const std::string& directory) {
  struct stat s{};
  if (!directory.starts_with('/'))
    return fail(errc::invalid_argument, "the working directory " + in_quotes(directory) + " is not absolute");
  if (::stat(directory.c_str(), &s) != 0) {
    if (errno == ENOENT) return fail(errc::not_found, "no such directory " + in_quotes(directory) + " (its cwd)");
    return fail(errc::io, "the working directory " + in_quotes(directory) + ": " + std::strerror(errno));
  }
  if (!S_ISDIR(s.st_mode))
    return fail(errc::invalid_argument, "the working directory " + in_quotes(directory) + " is not a directory");
  if (::access(directory.c_str(), X_OK) != 0)
    return fail(errc::io, "the working directory " + in_quotes(directory) + ": " + std::strerror(errno));
  return {};
}

result<std::string> judge(const std::string& file, const std::string& shown) {
  int number = 0;
  switch (look_at(file, number)) {
    case verdict::runnable:
      return file;
    case verdict::missing:
      return fail(errc::not_found, "no such program " + in_quotes(shown));
    case verdict::directory:
      return fail(errc::invalid_argument, in_quotes(shown) + " is a directory, not a program");
    case verdict::not_executable:
      return fail(errc::invalid_argument, in_quotes(shown) + " is not executable: chmod +x " + shown);
    case verdict::unreachable:
      break;
  }
  return fail(errc::io, in_quotes(shown) + ": " + std::strerror(number));
}

std::string first_bytes(const std::string& file) {
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return {};
  std::array<char, 256> buffer;
  const ssize_t n = ::read(fd, buffer.data(), buffer.size());
  ::close(fd);
  return n > 0 ? std::string(buffer.data(), static_cast<std::size_t>(n)) : std::string();
}

// Returns the interpreter that a "#!" line names, or "".
std::string interpreter_of(std::string_view head) {
  if (!head.starts_with("#!")) return {};
  head.remove_prefix(2);
  const auto begin = head.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  head.remove_prefix(begin);
  return std::string(head.substr(0, head.find_first_of(" \t\r\n")));
}

}  // namespace

result<std::string> find_program(const process_spec& spec) {
  if (spec.argv.empty() || spec.argv.front().empty()) return fail(errc::invalid_argument, "there is no command to run");
  if (auto checked = check_directory(spec.directory); !checked) return std::unexpected(checked.error());
  const std::string& name = spec.argv.front();
  if (name.find('/') != std::string::npos) return judge(absolute(name, spec.directory), name);

  const std::string_view path = path_of(spec);
  std::string not_executable;
  for (std::size_t begin = 0; begin <= path.size();) {
    const auto end = std::min(path.find(':', begin), path.size());
    std::string directory(path.substr(begin, end - begin));
    begin = end + 1;
    if (directory.empty()) directory = ".";  // POSIX: an empty entry is the working directory
    const std::string file = absolute(directory, spec.directory) + '/' + name;
    int number = 0;
    const verdict found = look_at(file, number);
    if (found == verdict::runnable) return file;
    if (found == verdict::not_executable && not_executable.empty()) not_executable = file;
  }
  if (!not_executable.empty()) return judge(not_executable, not_executable);
  return fail(errc::not_found, "no such program " + in_quotes(name) + " in PATH=" + std::string(path));
}

std::string explain_exec_failure(const std::string& program, int number) {
  const std::string head = first_bytes(program);
  const bool is_elf = head.starts_with(
      "\x7f"
      "ELF");
  if (number == ENOENT || number == ENOTDIR) {
    if (const auto interpreter = interpreter_of(head); !interpreter.empty()) {
      std::string why =
          in_quotes(program) + " names the interpreter " + in_quotes(interpreter) + ", which does not exist";
      const auto line = std::string_view(head).substr(0, head.find('\n'));
      if (line.ends_with('\r')) why += " (its first line ends in CR LF: convert the file to LF)";
      return why;
    }
    if (is_elf) return in_quotes(program) + " was built for another system: its loader is missing";
  }
  if (number == ENOEXEC) {
    if (is_elf) return in_quotes(program) + " was built for another processor";
    return in_quotes(program) +
           " is neither a program nor a script with a \"#!\" line: name its interpreter as the command";
  }
  if (number == EACCES)
    return in_quotes(program) +
           " may not be executed here (its interpreter is not executable, or the file system is noexec)";
  if (number == E2BIG) return "the arguments and the environment are larger than the system takes";
  return in_quotes(program) + ": " + std::strerror(number);
}

}  // namespace mcpbx::mcp::process
