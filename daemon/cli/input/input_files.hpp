// Reads values of options from files, from standard input, or as JSON from the command line.
#pragma once
#include "mcp/json/raw_json.hpp"
#include "mcp/support/error.hpp"

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

namespace mcpbx::cli::input {

/// Largest JSON file, in bytes.
inline constexpr std::size_t most_json = 16u << 20;

/// Reads a file for `option`. Errors name file and fix: invalid_argument (a folder), io (unreadable), limit (more than
/// `most` bytes).
result<std::string> read_file(const std::string& path, std::size_t most, std::string_view option);

/// Reads standard input to its end, at most 16 MiB.
result<std::string> read_stdin();

/// Reads standard input to its end if it is a pipe, a socket or a file; returns "" for a terminal, another device and a
/// closed one. Errors: timed_out (nothing came within `patience`), limit (more than `most` bytes), io.
result<std::string> read_piped_input(std::size_t most, std::chrono::milliseconds patience);

/// Reads the JSON in a file, at most `most_json` bytes; "-" is standard input. Errors as for read_file(), and
/// invalid_argument, naming `option`, for malformed JSON.
result<json::raw_json> read_json(const std::string& path, std::string_view option);
/// Does the same, except that a text which begins with a curly bracket is the JSON itself.
result<json::raw_json> json_or_file(const std::string& given, std::string_view option);

/// Returns checked JSON on one line, as the socket needs it. Raw line breaks can only stand between tokens.
std::string one_line(const json::raw_json& value);

}  // namespace mcpbx::cli::input
