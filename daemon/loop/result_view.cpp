// Works on the content list's elements; nothing inside an element that is kept whole is touched.
#include "daemon/loop/result_view.hpp"

#include "mcp/support/text.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <string>

namespace mcpbx::daemon {
namespace {

bool blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

bool is_text(const raw_json& element) {
  return find_member(element, "type").text() == R"("text")";
}

raw_json text_only(std::string_view text, bool is_error) {
  std::string json = R"({"content":[{"type":"text","text":)";
  append_quoted(json, text);
  json += is_error ? R"(}],"isError":true})" : "}]}";
  return raw_json::own(json);
}

// Whether the content says nothing: no element, or blank texts only. An escape is taken for something, except the
// escaped line breaks that tools print.
bool says_nothing(const raw_json& content) {
  bool nothing = true;
  for_each_element(content, [&](raw_json element) {
    if (!is_text(element)) return nothing = false;
    const auto text = find_member(element, "text");
    if (text.text().size() <= 2) return true;
    // A text that begins with a plain visible character need not be unescaped to know.
    const char first = text.text()[1];
    nothing = first == '\\' || first == ' ' ? blank(text.as_string().value_or("")) : false;
    return nothing;
  });
  return nothing;
}

raw_json cut(const raw_json& result, bool is_error, std::size_t max_bytes) {
  std::string json = R"({"content":[)";
  std::size_t left = max_bytes, whole = result.text().size();
  std::size_t cut_text = 0, left_out = 0, left_out_bytes = 0;
  bool first = true;
  const auto separate = [&] {
    if (!first) json += ',';
    first = false;
  };
  const auto add_head = [&](std::string_view text) {
    const auto head = cut_utf8(text, left);
    cut_text += text.size() - head.size();
    left -= head.size();
    if (head.empty()) return;
    separate();
    json += R"({"type":"text","text":)";
    append_quoted(json, head);
    json += '}';
  };
  const auto content = find_member(result, "content");
  // Servers send structured content beside a text that says the same; alone it is all there is.
  if (says_nothing(content)) add_head(find_member(result, "structuredContent").text());
  for_each_element(content, [&](raw_json element) {
    const auto size = element.text().size();
    if (size <= left) {
      separate();
      json += element.text();
      left -= size;
      return true;
    }
    if (!is_text(element)) {
      ++left_out;
      left_out_bytes += size;
      return true;
    }
    add_head(find_member(element, "text").as_string().value_or(""));
    return true;
  });
  if (cut_text == 0 && left_out == 0) return raw_json::own(json + (is_error ? R"(],"isError":true})" : "]}"));
  std::string notice = fmt::format("[This result of {} bytes was cut to the {} that are allowed", whole, max_bytes);
  if (cut_text) notice += fmt::format("; {} bytes of text are missing here", cut_text);
  if (left_out) notice += fmt::format("; {} parts that are no text ({} bytes) were left out", left_out, left_out_bytes);
  notice += ". Ask for less at a time if you need what is missing.]";
  separate();
  json += R"({"type":"text","text":)";
  append_quoted(json, notice);
  json += is_error ? R"(}],"isError":true})" : "}]}";
  return raw_json::own(json);
}

}  // namespace

raw_json model_view(const raw_json& result, bool is_error, std::int64_t max_bytes, std::string_view empty_text) {
  if (const auto most = static_cast<std::size_t>(std::max<std::int64_t>(max_bytes, 0)); result.text().size() > most) {
    // The content decides, not the members around it: they are kept only while the whole fits.
    return cut(result, is_error, most);
  }
  const auto content = find_member(result, "content");
  if (says_nothing(content) && !find_member(result, "structuredContent"))
    return text_only(is_error ? "The tool reported an error and said nothing about it." : empty_text, is_error);
  return result;
}

}  // namespace mcpbx::daemon
