// MCP content blocks as a chat-completions server takes them.
#include "providers/wire/chat_results.hpp"

#include "providers/model/json_walk.hpp"

namespace mcpbx::providers {
namespace {

bool is_shown_image(std::string_view mime) {
  return mime == "image/png" || mime == "image/jpeg" || mime == "image/gif" || mime == "image/webp";
}

// "123 bytes", of base64 text.
std::string decoded_size(std::string_view base64) {
  auto n = base64.size() / 4 * 3;
  if (base64.ends_with("=="))
    n -= 2;
  else if (base64.ends_with('='))
    n -= 1;
  return std::to_string(n) + " bytes";
}

void add_line(std::string& text, std::string_view more) {
  if (!text.empty()) text += '\n';
  text += more;
}

std::string resource_text(std::string_view resource) {
  const auto uri = walk::text(walk::find(resource, "uri")), mime = walk::text(walk::find(resource, "mimeType"));
  const auto text = walk::find(resource, "text");
  if (walk::is_string(text)) return "[resource " + uri + "]\n" + unescaped(text);
  const auto blob = walk::find(resource, "blob");
  return "[resource " + uri + (mime.empty() ? "" : ", " + mime) + ", " + decoded_size(walk::text(blob)) +
         ", not text: left out]";
}

}  // namespace

void append_call(std::string& out, const tool_call_block& call) {
  out += R"({"id":)";
  append_quoted(out, call.id);
  out += R"(,"type":"function","function":{"name":)";
  append_quoted(out, call.name);
  out += R"(,"arguments":)";
  if (call.arguments)
    append_quoted(out, call.arguments.text());
  else
    append_quoted(out, R"({"unreadable_arguments":)" + quoted(call.arguments_text) + "}");
  out += "}}";
}

result_parts convert_result(const tool_result_block& block) {
  result_parts parts;
  bool has_text = false;
  const auto object = block.result.text();
  walk::elements(walk::find(object, "content"), [&](std::string_view item) {
    const auto type = walk::text(walk::find(item, "type"));
    const auto mime = walk::text(walk::find(item, "mimeType"));
    if (type == "text") {
      has_text = true;
      add_line(parts.text, walk::text(walk::find(item, "text")));
    } else if (type == "image") {
      auto data = walk::text(walk::find(item, "data"));
      if (is_shown_image(mime)) {
        parts.images.push_back({mime, std::move(data), {}});
        add_line(parts.text, "[image " + std::to_string(parts.images.size()) + ", " + mime + ": shown below]");
      } else {
        add_line(parts.text, "[image, " + mime + ", " + decoded_size(data) + ": left out]");
      }
    } else if (type == "audio") {
      add_line(parts.text,
               "[audio, " + mime + ", " + decoded_size(walk::text(walk::find(item, "data"))) + ": left out]");
    } else if (type == "resource") {
      add_line(parts.text, resource_text(walk::find(item, "resource")));
    } else if (type == "resource_link") {
      const auto name = walk::text(walk::find(item, "name"));
      const auto about = walk::text(walk::find(item, "description"));
      add_line(parts.text, "[resource link: " + name + (name.empty() ? "" : ", ") +
                               walk::text(walk::find(item, "uri")) + (mime.empty() ? "" : ", " + mime) +
                               (about.empty() ? "" : ", " + about) + "]");
    } else if (!type.empty()) {
      add_line(parts.text, "[" + type + ": left out]");
    }
  });
  if (!has_text) {
    const auto structured = walk::find(object, "structuredContent");
    if (!structured.empty() && structured != "null") add_line(parts.text, structured);
  }
  if (block.is_error) parts.text.insert(0, "Error: ");
  return parts;
}

void append_image(std::string& out, const image_block& image) {
  out += R"({"type":"image_url","image_url":{"url":)";
  append_quoted(out, image.url.empty() ? "data:" + image.mime + ";base64," + image.data : image.url);
  out += "}}";
}

}  // namespace mcpbx::providers
