// Reads attached files and makes blocks of them. The first bytes decide about the type, not the name.
#include "daemon/cli/input/attachments.hpp"

#include "daemon/cli/input/input_files.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/support/encodings.hpp"
#include "mcp/support/utf8.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string_view>

namespace mcpbx::cli::input {
namespace {

std::string_view image_type(std::string_view bytes) {
  if (bytes.starts_with("\x89PNG\r\n\x1a\n")) return "image/png";
  if (bytes.starts_with("\xff\xd8\xff")) return "image/jpeg";
  if (bytes.starts_with("GIF87a") || bytes.starts_with("GIF89a")) return "image/gif";
  if (bytes.starts_with("RIFF") && bytes.substr(0, 12).ends_with("WEBP")) return "image/webp";
  return "";
}

// Source of a block's content.
struct origin {
  std::string heading;   ///< stands above a text
  std::string in_error;  ///< names it in a sentence
  std::string name;      ///< of a file
};

result<std::string> block_of(const origin& from, std::string_view bytes) {
  if (const auto type = image_type(bytes); !type.empty())
    return json::json_object("type", "image", "mimeType", type, "data", base64(bytes));
  if (bytes.starts_with("%PDF-"))
    return json::json_object("type", "file", "mimeType", "application/pdf", "name", from.name, "data", base64(bytes));
  if (bytes.find('\0') != std::string_view::npos || valid_utf8_prefix(bytes) != bytes.size())
    return fail(errc::invalid_argument,
                from.in_error + " is neither text (UTF-8) nor a PNG, JPEG, GIF, WebP or PDF; convert it first");
  return json::json_object("type", "text", "text", from.heading + ":\n\n" + std::string(bytes));
}

}  // namespace

result<std::string> message_with_files(const std::string& question, const std::string& input,
                                       const std::vector<std::string>& paths) {
  std::string out;
  json::json_writer w(out);
  w.begin_object().member("role", "user").key("content").begin_array();
  if (!question.empty()) w.token(json::json_object("type", "text", "text", question));
  // Some APIs take the texts of a message as one, so a blank line parts them.
  std::string gap = question.empty() ? "" : "\n\n";
  std::size_t room = most_attached - std::min(input.size(), most_attached);
  if (!input.empty()) {
    auto block = block_of({gap + "Standard input", "standard input", "input.pdf"}, input);
    if (!block) return block;
    w.token(*block);
    gap = "\n\n";
  }
  for (const auto& path : paths) {
    auto bytes = read_file(path, room, "--file");
    if (!bytes && bytes.error().code == errc::limit)
      return fail(errc::invalid_argument, "with " + path + " the files" + (input.empty() ? "" : " and standard input") +
                                              " hold more than " + std::to_string(most_attached >> 20) +
                                              " MiB; give fewer or smaller ones");
    if (!bytes) return bytes;
    room -= bytes->size();
    const auto name = std::filesystem::path(path).filename().string();
    auto block = block_of({gap + "File " + name, "the file " + name, name}, *bytes);
    if (!block) return block;
    w.token(*block);
    gap = "\n\n";
  }
  w.end_array().end_object();
  return out;
}

}  // namespace mcpbx::cli::input
