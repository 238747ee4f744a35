// Files that go with a question.
#pragma once
#include "mcp/support/error.hpp"

#include <string>
#include <vector>

namespace mcpbx::cli {

/// What all files of one question may hold together, bytes: as base64 they still fit into one message.
inline constexpr std::size_t most_attached = 16u << 20;

/// The user's message for `mcpbx/chat`: the question, then one block per file. By its content a file is an image (PNG,
/// JPEG, GIF, WebP), a PDF, or text (UTF-8), which is quoted under its name; the errors name the file and the mend
/// (invalid_argument: none of these, or together more than `most_attached`; io: not readable).
result<std::string> message_with_files(const std::string& question, const std::vector<std::string>& paths);

}  // namespace mcpbx::cli
