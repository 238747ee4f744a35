// Reads files up to a limit, so that a device or an endless pipe gives an error.
#include "daemon/cli/input/input_files.hpp"

#include "mcp/support/text.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace mcpbx::cli::input {
namespace {

result<json::raw_json> parse(const std::string& text, std::string_view what, std::string_view option) {
  constexpr int deepest = 10'000;  // the daemon's own limit is what counts
  auto parsed = json::raw_json::parse(text, deepest);
  if (!parsed)
    return fail(errc::invalid_argument,
                std::string(option) + ": " + std::string(what) + " is no JSON: " + parsed.error().message);
  return parsed;
}

// Reads standard input to its end, blocking or not. errc::limit: more than `most` bytes.
result<std::string> read_descriptor_0(std::size_t most) {
  std::string text;
  std::array<char, 65536> buffer{};
  for (;;) {
    const ssize_t n = ::read(0, buffer.data(), buffer.size());
    if (n == 0) return text;
    if (n > 0) {
      text.append(buffer.data(), static_cast<std::size_t>(n));
      if (text.size() > most) return fail(errc::limit, "standard input holds more");
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      pollfd input{0, POLLIN, 0};
      (void)::poll(&input, 1, -1);
    } else if (errno != EINTR) {
      return fail(errc::io, "standard input could not be read");
    }
  }
}

}  // namespace

result<std::string> read_file(const std::string& path, std::size_t most, std::string_view option) {
  std::error_code wrong;
  if (std::filesystem::is_directory(path, wrong))
    return fail(errc::invalid_argument, path + " is a folder; " + std::string(option) + " takes one file");
  std::ifstream in(path, std::ios::binary);
  if (!in) return fail(errc::io, "the file " + path + " cannot be read; see whether it is there and yours to read");
  std::string bytes(most + 1, '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (in.bad()) return fail(errc::io, "the file " + path + " could not be read to its end");
  bytes.resize(static_cast<std::size_t>(in.gcount()));
  if (bytes.size() > most)
    return fail(errc::limit, "the file " + path + " holds more than " + std::to_string(most >> 20) + " MiB");
  return bytes;
}

result<std::string> read_stdin() {
  auto text = read_descriptor_0(most_json);
  if (!text && text.error().code == errc::limit)
    return fail(errc::invalid_argument, "standard input holds more than 16 MiB");
  return text;
}

result<std::string> read_piped_input(std::size_t most, std::chrono::milliseconds patience) {
  struct stat kind{};
  if (::fstat(0, &kind) != 0) return {};
  if (!S_ISFIFO(kind.st_mode) && !S_ISSOCK(kind.st_mode) && !S_ISREG(kind.st_mode)) return {};
  if ((::fcntl(0, F_GETFL) & O_ACCMODE) == O_WRONLY) return {};
  // A program may inherit a pipe that nobody writes to and nobody closes. Once a byte has come, there is a writer.
  pollfd input{0, POLLIN, 0};
  int ready = -1;
  do ready = ::poll(&input, 1, static_cast<int>(patience.count()));
  while (ready < 0 && errno == EINTR);
  if (ready == 0) return fail(errc::timed_out, "nothing came on standard input");
  return read_descriptor_0(most);
}

result<json::raw_json> read_json(const std::string& path, std::string_view option) {
  auto text = path == "-" ? read_stdin() : read_file(path, most_json, option);
  if (!text) return std::unexpected(text.error());
  return parse(*text, path == "-" ? "standard input" : "the file " + path, option);
}

result<json::raw_json> json_or_file(const std::string& given, std::string_view option) {
  return trimmed(given).starts_with('{') ? parse(given, "what stands there", option) : read_json(given, option);
}

std::string one_line(const json::raw_json& value) {
  std::string text(value.text());
  std::ranges::replace_if(text, [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return text;
}

}  // namespace mcpbx::cli::input
