// Reads lists of models. One reader serves many APIs, since they differ in the names of members only.
#include "providers/wire/model_list.hpp"

#include "mcp/json/json_scanner.hpp"
#include "mcp/json/json_walk.hpp"
#include "mcp/redact/cut_text.hpp"
#include "providers/wire/encoding.hpp"

#include <unordered_set>

namespace mcpbx::providers::wire {
namespace {

// Largest number of models and length of an id, more than any endpoint has. The rest is cut.
constexpr std::size_t max_models = 10'000, max_id = 512;

bool path_ends_with(std::string_view url, std::string_view end) {
  url = url.substr(0, url.find('?'));
  while (url.ends_with('/')) url.remove_suffix(1);
  return url.ends_with(end);
}

void add_query(std::string& url, std::string_view query) {
  url += url.find('?') == std::string::npos ? '?' : '&';
  url += query;
}

std::string first_text(std::string_view object, std::initializer_list<std::string_view> keys) {
  for (const auto key : keys)
    if (auto t = json::walk::text(json::walk::find(object, key)); !t.empty()) return t;
  return {};
}

}  // namespace

wire_request model_list_request(const wire_options& options, std::string_view version, std::string_view path,
                                std::string_view query) {
  wire_request r;
  r.headers = {{"Accept", "application/json"}};
  const bool versioned = !version.empty() && path_ends_with(options.base_url, version);
  r.url = join_url(options.base_url, (versioned ? "" : std::string(version)) + std::string(path));
  if (!query.empty()) add_query(r.url, query);
  return r;
}

result<model_list> read_model_list(std::string_view body) {
  return read_model_list(body, "");
}

result<model_list> read_model_list(std::string_view body, std::string_view id_prefix) {
  const auto not_one = [] { return fail(errc::parse, "it sent no list of models"); };
  if (json::check_json(body, 64) != json::json_scanner::fault::none) return not_one();
  const auto from = body.find_first_not_of(" \t\r\n");
  if (from == std::string_view::npos) return not_one();
  body.remove_prefix(from);
  auto elements = json::walk::find(body, "data");
  if (elements.empty()) elements = json::walk::find(body, "models");
  if (elements.empty()) elements = body;  // some compatible servers send the bare list
  if (!json::walk::is_array(elements)) return not_one();
  model_list list;
  std::unordered_set<std::string> seen;
  json::walk::elements(elements, [&](std::string_view e) {
    auto id = first_text(e, {"id", "model", "name"});
    if (id.starts_with(id_prefix)) id.erase(0, id_prefix.size());
    if (id.empty() || id.size() > max_id) return;
    if (list.models.size() == max_models) {
      list.more = true;
      return;
    }
    if (!seen.insert(id).second) return;
    auto name = first_text(e, {"display_name", "displayName"});
    list.models.push_back({std::move(id), redact::cut_for_people(name, 200)});
  });
  if (json::walk::find(body, "has_more") == "true" ||
      !json::walk::text(json::walk::find(body, "nextPageToken")).empty())
    list.more = true;
  return list;
}

}  // namespace mcpbx::providers::wire
