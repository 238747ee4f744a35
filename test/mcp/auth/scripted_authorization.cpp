// Plays the other side of an authorization.
#include "test/mcp/auth/scripted_authorization.hpp"

#include "mcp/auth/form.hpp"

namespace mcpbx::test {

scripted_authorization::scripted_authorization() {
  at["https://mcp.example.com/.well-known/oauth-protected-resource/mcp"] = {
      200, R"({"resource":"https://mcp.example.com/mcp","authorization_servers":["https://as.example.com"]})"};
  at["https://as.example.com/.well-known/oauth-authorization-server"] = {
      200,
      R"({"issuer":"https://as.example.com","authorization_endpoint":"https://as.example.com/authorize",)"
      R"("token_endpoint":"https://as.example.com/token","registration_endpoint":"https://as.example.com/register",)"
      R"("code_challenge_methods_supported":["S256"]})"};
  at["https://as.example.com/register"] = {201, R"({"client_id":"client-7"})"};
  at["https://as.example.com/token"] = {200,
                                        R"({"access_token":"token-1","refresh_token":"refresh-1","expires_in":3600})"};
}

auth::authorization::options scripted_authorization::options() {
  return {.server = "files", .server_url = "https://mcp.example.com/mcp"};
}

void scripted_authorization::play(auth::authorization& flow) {
  using kind = auth::authorization::step::kind;
  for (int steps = 0; steps < 50; ++steps) {
    const auto step = flow.now();
    switch (step.type) {
      case kind::fetch: {
        requests.push_back(step.request);
        const auto found = at.find(step.request.url);
        flow.answered(found == at.end() ? auth::document_answer{404, "not here"} : found->second, 1'000);
        break;
      }
      case kind::listen:
        flow.listening(redirect_uri);
        break;
      case kind::browse: {
        browsed_url = step.url;
        std::string query = answer;
        if (const auto mark = query.find("STATE"); mark != std::string::npos) query.replace(mark, 5, browsed("state"));
        if (flow.redirected(query) == auth::redirect_answer::kind::not_ours) return;
        break;
      }
      case kind::finished:
      case kind::failed:
        return;
    }
  }
}

std::string scripted_authorization::browsed(std::string_view field) const {
  const auto fields = auth::read_form(std::string_view(browsed_url).substr(browsed_url.find('?') + 1));
  return fields ? std::string(auth::form_value(*fields, field)) : "unreadable";
}

std::string scripted_authorization::sent(std::string_view field) const {
  const auto fields = auth::read_form(requests.back().body);
  return fields ? std::string(auth::form_value(*fields, field)) : "unreadable";
}

}  // namespace mcpbx::test
