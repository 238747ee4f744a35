// Converts MCP tool results block by block.
#include "providers/wire/results.hpp"

#include "mcp/json/json_skip.hpp"
#include "mcp/json/json_walk.hpp"
#include "mcp/support/byte_search.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace mcpbx::providers::wire {
namespace {

// Removes the blanks between values, since a model is charged for each.
std::string compact(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  const char* const end = json.data() + json.size();
  for (const char* p = byte_search::skip_blanks(json.data(), end); p != end; p = byte_search::skip_blanks(p, end)) {
    const char* const next = *p == '"' ? json::json_skip::string(p, end) : p + 1;
    out.append(p, next);
    p = next;
  }
  return out;
}

class converter {
 public:
  explicit converter(const result_rules& rules) : rules_(rules) {}

  void take(std::string_view item) {
    const auto type = json::walk::text(json::walk::find(item, "type"));
    if (type == "text") {
      has_text_ = true;
      add_line(json::walk::text(json::walk::find(item, "text")));
    } else if (type == "image" || type == "audio") {
      add_media(type, "", json::walk::text(json::walk::find(item, "mimeType")),
                json::walk::text(json::walk::find(item, "data")));
    } else if (type == "resource") {
      add_resource(json::walk::find(item, "resource"));
    } else if (type == "resource_link") {
      add_link(item);
    } else if (!type.empty()) {
      add_line("[" + type + ": left out]");
    }
  }

  converted_result finish(std::string_view object, bool is_error) {
    const auto structured = has_text_ ? std::string_view() : json::walk::find(object, "structuredContent");
    if (!structured.empty() && structured != "null") {
      out_.structured_alone = !is_error && out_.parts.empty() && out_.beside.empty();
      add_line(compact(structured));
    }
    if (is_error && rules_.error_prefix) {
      if (out_.parts.empty() || !out_.parts.front().is_text()) out_.parts.insert(out_.parts.begin(), result_part{});
      out_.parts.front().text.insert(0, "Error: ");
    }
    return std::move(out_);
  }

 private:
  void add_line(std::string_view more) {
    if (out_.parts.empty() || !out_.parts.back().is_text())
      out_.parts.emplace_back();
    else if (!out_.parts.back().text.empty())
      out_.parts.back().text += '\n';
    out_.parts.back().text += more;
  }

  media_place place_of(std::string_view mime) const {
    if (rules_.takes != nullptr && !rules_.takes(mime)) return media_place::none;
    if (is_shown_image(mime)) return rules_.images;
    return mime == "application/pdf" ? rules_.documents : rules_.others;
  }

  void add_media(const std::string& kind, std::string name, std::string mime, std::string data) {
    mime = std::string(media_type(mime));
    const auto place = mime.empty() || data.empty() ? media_place::none : place_of(mime);
    if (place == media_place::none) return add_line("[" + kind + ", " + media_words(mime, data) + ": left out]");
    result_part part{{}, std::move(mime), std::move(data), std::move(name)};
    if (place == media_place::inside) return out_.parts.push_back(std::move(part));
    add_line("[" + kind + " " + std::to_string(out_.beside.size() + 1) + ", " + part.mime + ": shown below]");
    out_.beside.push_back(std::move(part));
  }

  void add_resource(std::string_view resource) {
    const auto uri = json::walk::text(json::walk::find(resource, "uri"));
    const auto text = json::walk::find(resource, "text");
    if (json::walk::is_string(text)) return add_line("[resource " + uri + "]\n" + json::unescaped(text));
    const auto mime = std::string(media_type(json::walk::text(json::walk::find(resource, "mimeType"))));
    auto blob = json::walk::text(json::walk::find(resource, "blob"));
    if (!mime.empty() && !blob.empty() && place_of(mime) != media_place::none) {
      add_line("[resource " + uri + ", " + mime + "]");
      return add_media("resource", uri.substr(uri.rfind('/') + 1), mime, std::move(blob));
    }
    add_line("[resource " + uri + (mime.empty() ? "" : ", ") + media_words(mime, blob) + ", not text: left out]");
  }

  void add_link(std::string_view item) {
    const auto name = json::walk::text(json::walk::find(item, "name")),
               mime = json::walk::text(json::walk::find(item, "mimeType"));
    const auto about = json::walk::text(json::walk::find(item, "description"));
    add_line("[resource link: " + name + (name.empty() ? "" : ", ") + json::walk::text(json::walk::find(item, "uri")) +
             (mime.empty() ? "" : ", " + mime) + (about.empty() ? "" : ", " + about) + "]");
  }

  const result_rules& rules_;
  converted_result out_;
  bool has_text_ = false;
};

}  // namespace

std::string_view media_type(std::string_view mime) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> names{
      {{"image/jpg", "image/jpeg"},
       {"image/pjpeg", "image/jpeg"},
       {"image/x-png", "image/png"},
       {"audio/x-wav", "audio/wav"},
       {"audio/wave", "audio/wav"},
       {"audio/mp3", "audio/mpeg"},
       {"application/x-pdf", "application/pdf"}}};
  mime = trimmed(mime.substr(0, mime.find(';')));
  const auto known = std::ranges::find(names, mime, [](const auto& n) { return n.first; });
  return known == names.end() ? mime : known->second;
}

bool is_shown_image(std::string_view mime) {
  mime = media_type(mime);
  return mime == "image/png" || mime == "image/jpeg" || mime == "image/gif" || mime == "image/webp";
}

std::string media_words(std::string_view mime, std::string_view base64) {
  std::size_t padding = base64.ends_with("==") ? 2 : base64.ends_with('=') ? 1 : 0;
  const auto n = base64.size() / 4 * 3;
  padding = std::min(padding, n);
  return std::string(mime) + (mime.empty() ? "" : ", ") + std::to_string(n - padding) + " bytes";
}

std::string converted_result::text() const {
  std::string all;
  bool first = true;
  for (const auto& p : parts) {
    if (!p.is_text()) continue;
    if (!std::exchange(first, false)) all += '\n';
    all += p.text;
  }
  return all;
}

converted_result convert_result(const tool_result_block& block, const result_rules& rules) {
  converter c(rules);
  const auto object = block.result.text();
  json::walk::elements(json::walk::find(object, "content"), [&](std::string_view item) { c.take(item); });
  return c.finish(object, block.is_error);
}

void media_beside::take(converted_result& converted, std::string_view tool) {
  if (converted.beside.empty()) return;
  from_ += (from_.empty() ? "" : ", ") + std::to_string(converted.beside.size()) + " from ";
  from_ += tool;
  std::ranges::move(converted.beside, std::back_inserter(parts_));
}

std::string media_beside::words(std::string_view what) const {
  return std::string(what) + " of the tool results above: " + from_;
}

}  // namespace mcpbx::providers::wire
