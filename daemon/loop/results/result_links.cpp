// Copies the server's JSON of parts and contents as it is.
#include "daemon/loop/results/result_links.hpp"

#include "daemon/loop/results/read_result.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/support/formatted.hpp"

#include <algorithm>

namespace mcpbx::daemon::results {
namespace {

constexpr std::size_t longest_link = 8192;  // bytes

}  // namespace

std::vector<std::string> links_in(const json::raw_json& result) {
  std::vector<std::string> links;
  json::for_each_element(json::find_member(result, "content"), [&](const json::raw_json& part) {
    if (json::find_member(part, "type").text() != "\"resource_link\"") return true;
    auto uri = json::find_member(part, "uri").as_string().value_or("");
    if (!uri.empty() && uri.size() <= longest_link) links.push_back(std::move(uri));
    return links.size() < most_links;
  });
  return links;
}

bool has_link(const kept_results& kept, std::string_view uri) {
  return std::ranges::any_of(kept.ids(), [&](std::string_view id) {
    const auto links = links_in(*kept.find(id));
    return std::ranges::find(links, uri) != links.end();
  });
}

json::raw_json with_link_hint(const json::raw_json& shown) {
  std::string json;
  json::json_writer w(json);
  w.begin_object().key("content").begin_array();
  json::for_each_element(json::find_member(shown, "content"), [&](const json::raw_json& part) {
    w.value(part);
    return true;
  });
  w.token(json::json_object(
      "type", "text", "text",
      formatted("[Call {} with {{\"uri\":…}} to read a resource that is linked here.]", read_result::name)));
  w.end_array().set("isError", json::find_member(shown, "isError").is_true()).end_object();
  return w.json();
}

json::raw_json resource_as_result(const json::raw_json& read) {
  std::string json;
  json::json_writer w(json);
  w.begin_object().key("content").begin_array();
  json::for_each_element(json::find_member(read, "contents"), [&](const json::raw_json& one) {
    const auto mime = json::find_member(one, "mimeType").as_string().value_or("");
    const json::raw_json blob = json::find_member(one, "blob");
    w.begin_object();
    if (blob && mime.starts_with("image/"))
      w.member("type", "image").member("data", blob).member("mimeType", mime);
    else
      w.member("type", "resource").member("resource", one);
    w.end_object();
    return true;
  });
  w.end_array().end_object();
  return w.json();
}

}  // namespace mcpbx::daemon::results
