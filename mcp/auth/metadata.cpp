// Well-known addresses, and the checks of the two documents.
#include "mcp/auth/metadata.hpp"

#include "mcp/http/url.hpp"
#include "mcp/redact/cut_text.hpp"

#include <algorithm>

namespace mcpbx::auth {
namespace {

constexpr std::size_t most_words = 500, longest_text = 4096;

std::string shown(std::string_view text) {
  return "\"" + redact::cut_for_people(text, 200) + "\"";
}

/// Returns the path without the query and without slashes at its end.
std::string path_of(const http::url_parts& url) {
  std::string path = url.target.substr(0, url.target.find('?'));
  while (path.ends_with('/')) path.pop_back();
  return path;
}

result<std::string> needed_text(const json::raw_json& document, std::string_view name) {
  auto text = json::find_member(document, name).as_string();
  if (!text || text->empty()) return fail(errc::protocol, "has no " + std::string(name));
  if (text->size() > longest_text) return fail(errc::protocol, "has a " + std::string(name) + " that is too long");
  return std::move(*text);
}

std::optional<std::vector<std::string>> texts(const json::raw_json& document, std::string_view name) {
  const json::raw_json list = json::find_member(document, name);
  if (!list.is_array()) return std::nullopt;
  std::vector<std::string> out;
  json::for_each_element(list, [&](const json::raw_json& element) {
    auto text = element.as_string();
    if (text && text->size() <= longest_text) out.push_back(std::move(*text));
    return out.size() < most_words;
  });
  return out;
}

// Returns true if the path `inner` is `outer` or lies below it.
bool is_within(std::string_view inner, std::string_view outer) {
  return inner == outer || (inner.starts_with(outer) && inner.size() > outer.size() && inner[outer.size()] == '/');
}

}  // namespace

std::string origin_text(std::string_view url) {
  const auto parts = http::parse_url(url);
  if (!parts || !parts->socket.empty()) return {};
  return (parts->tls ? "https://" : "http://") + parts->authority;
}

std::vector<std::string> resource_metadata_addresses(std::string_view server_url, std::string_view challenged) {
  if (!challenged.empty()) return {std::string(challenged)};
  const auto url = http::parse_url(server_url);
  const std::string origin = origin_text(server_url);
  if (!url || origin.empty()) return {};
  std::vector<std::string> all;
  const std::string root = origin + "/.well-known/oauth-protected-resource", path = path_of(*url);
  if (!path.empty()) all.push_back(root + path);
  all.push_back(root);
  return all;
}

result<resource_metadata> read_resource_metadata(const json::raw_json& document, std::string_view server_url) {
  if (!document.is_object()) return fail(errc::protocol, "is no JSON object");
  resource_metadata m;
  auto resource = needed_text(document, "resource");
  if (!resource) return std::unexpected(resource.error());
  m.resource = std::move(*resource);
  const auto there = http::parse_url(m.resource), here = http::parse_url(server_url);
  if (!there || !here || there->origin != here->origin || !is_within(path_of(*here), path_of(*there)))
    return fail(errc::protocol,
                "is about another resource, " + shown(m.resource) + ", so its tokens are not for this server");
  m.authorization_servers = texts(document, "authorization_servers").value_or(std::vector<std::string>());
  if (m.authorization_servers.empty()) return fail(errc::protocol, "names no authorization server");
  m.scopes = texts(document, "scopes_supported");
  return m;
}

std::vector<std::string> server_metadata_addresses(std::string_view issuer) {
  const auto url = http::parse_url(issuer);
  const std::string origin = origin_text(issuer);
  if (!url || origin.empty()) return {};
  const std::string path = path_of(*url), well_known = origin + "/.well-known/";
  if (path.empty()) return {well_known + "oauth-authorization-server", well_known + "openid-configuration"};
  return {well_known + "oauth-authorization-server" + path, well_known + "openid-configuration" + path,
          origin + path + "/.well-known/openid-configuration"};
}

bool server_metadata::lists_grant(std::string_view grant) const {
  return std::ranges::find(grant_types, grant) != grant_types.end();
}

result<server_metadata> read_server_metadata(const json::raw_json& document, std::string_view issuer,
                                             const endpoint_rule& rule) {
  if (!document.is_object()) return fail(errc::protocol, "is no JSON object");
  server_metadata m;
  auto own = needed_text(document, "issuer");
  if (!own) return std::unexpected(own.error());
  if (*own != issuer)
    return fail(errc::protocol, "names another issuer, " + shown(*own) + ", than the one asked, " + shown(issuer));
  m.issuer = std::move(*own);
  auto token = needed_text(document, "token_endpoint");
  if (!token) return std::unexpected(token.error());
  m.token_endpoint = std::move(*token);
  m.authorization_endpoint = json::find_member(document, "authorization_endpoint").as_string().value_or("");
  m.registration_endpoint = json::find_member(document, "registration_endpoint").as_string().value_or("");
  const std::pair<std::string_view, std::string_view> endpoints[] = {
      {"its token endpoint", m.token_endpoint},
      {"its authorization endpoint", m.authorization_endpoint},
      {"its registration endpoint", m.registration_endpoint}};
  for (const auto& [what, url] : endpoints)
    if (!url.empty())
      if (auto allowed = rule.check(what, url); !allowed)
        return fail(errc::protocol, "cannot be used: " + allowed.error().message);
  m.scopes = texts(document, "scopes_supported");
  m.auth_methods = texts(document, "token_endpoint_auth_methods_supported").value_or(std::vector<std::string>());
  m.grant_types = texts(document, "grant_types_supported").value_or(std::vector<std::string>());
  m.takes_client_metadata = json::find_member(document, "client_id_metadata_document_supported").is_true();
  m.tells_issuer = json::find_member(document, "authorization_response_iss_parameter_supported").is_true();
  const auto methods = texts(document, "code_challenge_methods_supported").value_or(std::vector<std::string>());
  m.s256 = std::ranges::find(methods, "S256") != methods.end();
  return m;
}

server_metadata assumed_metadata(std::string_view server_url) {
  server_metadata m;
  m.issuer = origin_text(server_url);
  m.authorization_endpoint = m.issuer + "/authorize";
  m.token_endpoint = m.issuer + "/token";
  m.registration_endpoint = m.issuer + "/register";
  m.s256 = true;  // the revision demands it
  return m;
}

}  // namespace mcpbx::auth
