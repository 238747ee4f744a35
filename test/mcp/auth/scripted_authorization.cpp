// Plays the other side of an authorization.
#include "test/mcp/auth/scripted_authorization.hpp"

#include "mcp/auth/form.hpp"
#include "mcp/support/encodings.hpp"

namespace mcpbx::test {
namespace {

// Returns a signed token as what it says; its signature differs each time.
std::string readable(const std::string& value) {
  const auto first = value.find('.'), second = value.find('.', first + 1);
  if (second == std::string::npos) return value;
  const auto header = base64url_bytes(value.substr(0, first));
  const auto claims = base64url_bytes(value.substr(first + 1, second - first - 1));
  if (!header || !claims || !header->starts_with('{')) return value;
  return *header + *claims + (value.size() - second > 40 ? " signed" : "");
}

void tell_form(std::string& told, std::string_view form) {
  const auto fields = auth::read_form(form);
  if (!fields) told.append("  ").append(form).append("\n");
  for (const auto& [name, value] : fields.value_or(auth::form_fields()))
    told += "  " + name + ": " + readable(value) + "\n";
}

void tell(std::string& told, const auth::flow::document_request& r) {
  told += r.method + " " + r.url + "\n";
  bool form = false;
  for (const auto& h : r.headers) {
    if (h.name == "Accept") continue;  // always JSON
    told += "  " + h.name + ": " + h.value + "\n";
    form = form || h.value == "application/x-www-form-urlencoded";
  }
  if (r.body.empty()) return;
  told += "  --\n";
  if (form)
    tell_form(told, r.body);
  else
    told += "  " + r.body + "\n";
}

void tell(std::string& told, const auth::flow::document_answer& a) {
  told += std::to_string(a.status) + "\n" + (a.body.empty() ? "" : "  " + a.body + "\n") + "\n";
}

}  // namespace

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

auth::flow::authorization::options scripted_authorization::options() {
  return {.server = "files", .server_url = "https://mcp.example.com/mcp"};
}

auth::flow::document_answer scripted_authorization::answer_to(const auth::flow::document_request& request) {
  requests.push_back(request);
  const auto found = at.find(request.url);
  auto answer = found == at.end() ? auth::flow::document_answer{404, ""} : found->second;
  tell(told, request);
  tell(told, answer);
  return answer;
}

bool scripted_authorization::step(auth::flow::authorization& flow) {
  using kind = auth::flow::authorization::step::kind;
  const auto step = flow.now();
  switch (step.type) {
    case kind::fetch:
      flow.answered(answer_to(step.request), 1'000);
      return true;
    case kind::listen:
      told += "listen " + redirect_uri + "\n\n";
      flow.listening(redirect_uri);
      return true;
    case kind::browse: {
      browsed_url = step.url;
      std::string query = answer;
      if (const auto mark = query.find("STATE"); mark != std::string::npos) query.replace(mark, 5, browsed("state"));
      const auto mark = step.url.find('?');
      told += "browse " + step.url.substr(0, mark) + "\n";
      tell_form(told, std::string_view(step.url).substr(mark + 1));
      told += "back " + redirect_uri + "\n";
      tell_form(told, query);
      told += '\n';
      return flow.redirected(query, 1'000) != auth::redirect_answer::kind::not_ours;
    }
    case kind::finished:
    case kind::failed:
      break;
  }
  return false;
}

void scripted_authorization::play(auth::flow::authorization& flow) {
  for (int steps = 0; steps < 50 && step(flow); ++steps) {
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
