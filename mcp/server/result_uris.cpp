// Walks the content of results.
#include "mcp/server/result_uris.hpp"

#include "mcp/protocol/resources.hpp"
#include "mcp/search/has_word.hpp"

#include <string_view>
#include <utility>

namespace mcpbx::mcp::callers {
namespace {

void add(const json::raw_json& holder, std::vector<std::string>& to) {
  auto uri = json::find_member(holder, "uri").as_string();
  if (uri && !uri->empty() && uri->size() <= protocol::longest_uri) to.push_back(std::move(*uri));
}

void add_content(const json::raw_json& content, std::vector<std::string>& to) {
  const auto type = json::find_member(content, "type").as_string();
  if (type == "resource_link") return add(content, to);
  if (type == "resource") add(json::find_member(content, "resource"), to);
}

}  // namespace

std::vector<std::string> uris_in(const json::raw_json& result, std::string_view member) {
  std::vector<std::string> out;
  constexpr std::string_view mark = "\"uri\"";
  const std::string_view text = result.text();
  if (text.size() > longest_searched_result || !search::has_word(text, mark)) return out;
  json::for_each_element(json::find_member(result, member), [&](const json::raw_json& one) {
    if (member == "contents")
      add(one, out);
    else
      add_content(member == "messages" ? json::find_member(one, "content") : one, out);
    return out.size() < most_result_uris;
  });
  return out;
}

}  // namespace mcpbx::mcp::callers
