// Turns files and piped input into blocks of a question's message.
#pragma once
#include "mcp/support/error.hpp"

#include <string>
#include <vector>

namespace mcpbx::cli::input {

/// Largest total size of a question's files and input, in bytes. As base64 they still fit into one message of the
/// socket.
inline constexpr std::size_t most_attached = 16u << 20;

/// Returns the user message for `mcpbx/chat`: the question, the piped input unless it is "", and a block for each file.
/// By its content a block is an image (PNG, JPEG, GIF, WebP), a PDF, or a text in UTF-8 under its name. Errors name
/// file and fix: invalid_argument (none of these, or more than `most_attached` in all), io (unreadable).
result<std::string> message_with_files(const std::string& question, const std::string& input,
                                       const std::vector<std::string>& paths);

}  // namespace mcpbx::cli::input
