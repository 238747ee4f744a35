// Lists models. OpenAI: GET /models; Anthropic: GET /v1/models; Gemini: GET /v1beta/models; Ollama: GET /api/tags;
// DIAL: GET /openai/models. One reader serves all, since they differ in the names of members only.
#include "providers/wire/registry/model_list.hpp"

#include "mcp/json/json_scanner.hpp"
#include "mcp/json/json_walk.hpp"
#include "mcp/redact/cut_text.hpp"
#include "providers/wire/anthropic/anthropic.hpp"
#include "providers/wire/encoding.hpp"

#include <unordered_set>

namespace mcpbx::providers {
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
    if (auto t = walk::text(walk::find(object, key)); !t.empty()) return t;
  return {};
}

}  // namespace

result<wire_request> encode_model_list(std::string_view api, const wire_options& o) {
  wire_request r;
  r.headers = {{"Accept", "application/json"}};
  const std::string_view base = o.base_url;
  if (api == "openai-chat" || api == "openai-responses") {
    r.url = join_url(base, "/models");
  } else if (api == "anthropic") {
    r.url = join_url(base, path_ends_with(base, "/v1") ? "/models" : "/v1/models");
    add_query(r.url, "limit=1000");
    r.headers.emplace_back("anthropic-version",
                           o.api_version.empty() ? std::string(anthropic::usual_version) : o.api_version);
  } else if (api == "gemini") {
    r.url = join_url(base, "/models");
    add_query(r.url, "pageSize=1000");
  } else if (api == "ollama") {
    r.url = join_url(base, path_ends_with(base, "/api") ? "/tags" : "/api/tags");
  } else if (api == "dial") {
    r.url = join_url(base, path_ends_with(base, "/openai") ? "/models" : "/openai/models");
  } else if (api == "azure") {
    return fail(errc::invalid_argument,
                "Azure OpenAI tells a key nothing about its deployments; the Azure portal lists them.");
  } else {
    return fail(errc::invalid_argument, "The API " + std::string(api) + " has no endpoint that could be asked.");
  }
  return r;
}

result<model_list> decode_model_list(std::string_view api, std::string_view body) {
  const auto not_one = [] { return fail(errc::parse, "it sent no list of models"); };
  if (check_json(body, 64) != json_scanner::fault::none) return not_one();
  const auto from = body.find_first_not_of(" \t\r\n");
  if (from == std::string_view::npos) return not_one();
  body.remove_prefix(from);
  auto elements = walk::find(body, "data");
  if (elements.empty()) elements = walk::find(body, "models");
  if (elements.empty()) elements = body;  // some compatible servers send the bare list
  if (!walk::is_array(elements)) return not_one();
  model_list list;
  std::unordered_set<std::string> seen;
  walk::elements(elements, [&](std::string_view e) {
    auto id = first_text(e, {"id", "model", "name"});
    // Gemini's names are paths; an entry names the model alone.
    if (api == "gemini" && id.starts_with("models/")) id.erase(0, 7);
    if (id.empty() || id.size() > max_id) return;
    if (list.models.size() == max_models) {
      list.more = true;
      return;
    }
    if (!seen.insert(id).second) return;
    auto name = first_text(e, {"display_name", "displayName"});
    list.models.push_back({std::move(id), cut_for_people(name, 200)});
  });
  if (walk::find(body, "has_more") == "true" || !walk::text(walk::find(body, "nextPageToken")).empty())
    list.more = true;
  return list;
}

}  // namespace mcpbx::providers
