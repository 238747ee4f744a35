// Reads files up to a limit, so that a device or an endless pipe gives an error.
#include "daemon/cli/base/input_files.hpp"

#include "mcp/support/text.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace mcpbx::cli {
namespace {

result<raw_json> parse(const std::string& text, std::string_view what, std::string_view option) {
  constexpr int deepest = 10'000;  // the daemon's own limit is what counts
  auto parsed = raw_json::parse(text, deepest);
  if (!parsed)
    return fail(errc::invalid_argument,
                std::string(option) + ": " + std::string(what) + " is no JSON: " + parsed.error().message);
  return parsed;
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
  constexpr std::size_t most = 16u << 20;
  std::string text;
  std::array<char, 65536> buffer{};
  for (;;) {
    const ssize_t n = ::read(0, buffer.data(), buffer.size());
    if (n == 0) return text;
    if (n < 0) return fail(errc::io, "standard input could not be read");
    text.append(buffer.data(), static_cast<std::size_t>(n));
    if (text.size() > most) return fail(errc::invalid_argument, "standard input holds more than 16 MiB");
  }
}

result<raw_json> read_json(const std::string& path, std::string_view option) {
  auto text = path == "-" ? read_stdin() : read_file(path, most_json, option);
  if (!text) return std::unexpected(text.error());
  return parse(*text, path == "-" ? "standard input" : "the file " + path, option);
}

result<raw_json> json_or_file(const std::string& given, std::string_view option) {
  return trimmed(given).starts_with('{') ? parse(given, "what stands there", option) : read_json(given, option);
}

std::string one_line(const raw_json& value) {
  std::string text(value.text());
  std::ranges::replace_if(text, [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return text;
}

}  // namespace mcpbx::cli
