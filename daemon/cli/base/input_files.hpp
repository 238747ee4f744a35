// What options take from files, from standard input, or as JSON on the command line.
#pragma once
#include "mcp/json/raw_json.hpp"
#include "mcp/support/error.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace mcpbx::cli {

/// What JSON in a file may hold, bytes.
inline constexpr std::size_t most_json = 16u << 20;

/// The bytes of a file for `option`. The errors name the file and the mend: invalid_argument for a folder, io when it
/// cannot be read, limit for more than `most` bytes.
result<std::string> read_file(const std::string& path, std::size_t most, std::string_view option);

/// Standard input to its end, at most 16 MiB.
result<std::string> read_stdin();

/// The JSON in a file, at most `most_json` bytes; "-" is standard input. Errors as read_file, and invalid_argument for
/// what is no JSON, naming `option`.
result<raw_json> read_json(const std::string& path, std::string_view option);
/// The same, but a text that begins with a curly bracket is the JSON itself.
result<raw_json> json_or_file(const std::string& given, std::string_view option);

/// Checked JSON on one line, as the socket takes it: a raw line break can only stand between tokens.
std::string one_line(const raw_json& value);

}  // namespace mcpbx::cli
