// Registration, and the proof of a client at the token endpoint.
#include "mcp/auth/client_identity.hpp"

#include "mcp/json/json_writer.hpp"
#include "mcp/support/encodings.hpp"
#include "mcp/support/percent.hpp"

#include <algorithm>

namespace mcpbx::auth {
namespace {

constexpr std::size_t longest_id = 4096, longest_method = 64;

bool lists(const std::vector<std::string>& methods, std::string_view method) {
  return std::ranges::find(methods, method) != methods.end();
}

}  // namespace

std::string registration_body(std::string_view client_name, std::string_view redirect_uri, std::string_view scope,
                              const server_metadata& server, bool refresh) {
  std::string json;
  json::json_writer out(json);
  out.begin_object().member("client_name", client_name).member("application_type", "native");
  out.key("redirect_uris").begin_array().value(redirect_uri).end_array();
  out.key("grant_types").begin_array().value("authorization_code");
  if (refresh) out.value("refresh_token");
  out.end_array();
  out.key("response_types").begin_array().value("code").end_array();
  // A client on a person's machine can keep no secret, so a public one is wanted where the server has such.
  std::string_view method = "none";
  if (!server.auth_methods.empty() && !lists(server.auth_methods, method))
    method = lists(server.auth_methods, "client_secret_basic") ? "client_secret_basic" : "client_secret_post";
  out.member("token_endpoint_auth_method", method);
  out.filled("scope", scope);
  out.end_object();
  return json;
}

result<client_identity> read_registration(const json::raw_json& answer) {
  client_identity c;
  c.source = identity_source::registered;
  auto id = json::find_member(answer, "client_id").as_string();
  if (!id || id->empty() || id->size() > longest_id) return fail(errc::protocol, "has no client_id");
  c.id = std::move(*id);
  c.password = redact::secret(json::find_member(answer, "client_secret").as_string().value_or(""));
  if (c.password.reveal().size() > longest_id) return fail(errc::protocol, "has a client_secret that is too long");
  const auto seconds = json::find_member(answer, "client_secret_expires_at").as_integer().value_or(0);
  if (seconds > 0 && seconds < INT64_MAX / 1000) c.expires_at_ms = seconds * 1000;
  c.method = json::find_member(answer, "token_endpoint_auth_method").as_string().value_or("");
  if (c.method.size() > longest_method) c.method.clear();
  return c;
}

std::string_view token_auth_method(const client_identity& client, const server_metadata& server) {
  const bool has_secret = !client.password.empty();
  constexpr std::string_view signature = "private_key_jwt";
  if (client.signs && (!has_secret || server.auth_methods.empty() || lists(server.auth_methods, signature)))
    return signature;
  constexpr std::string_view with_secret[] = {"client_secret_basic", "client_secret_post"};
  if (has_secret)
    for (const std::string_view method : with_secret)
      if (client.method == method && (server.auth_methods.empty() || lists(server.auth_methods, method))) return method;
  if (!has_secret) return "none";
  for (const std::string_view method : with_secret)
    if (lists(server.auth_methods, method)) return method;
  if (lists(server.auth_methods, "none")) return "none";
  return "client_secret_basic";
}

void add_client(const client_identity& client, std::string_view method, form_fields& body,
                std::vector<http::header>& headers) {
  if (method == "client_secret_basic") {
    // RFC 6749, section 2.3.1: both parts are escaped as in a form before they are joined.
    const std::string pair = percent_encoded(client.id) + ":" + percent_encoded(client.password.reveal());
    headers.push_back({"Authorization", "Basic " + base64(pair)});
    return;
  }
  if (!client.id.empty()) body.emplace_back("client_id", client.id);
  if (method == "client_secret_post") body.emplace_back("client_secret", client.password.reveal());
}

}  // namespace mcpbx::auth
