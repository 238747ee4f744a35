// The usual answers: everything succeeds, refresh tokens are used once.
#include "test/daemon/logins/authorization_server.hpp"

#include "mcp/auth/form.hpp"
#include "mcp/support/percent.hpp"

#include <utility>

namespace mcpbx::test {

class authorization_server::visitor final : public http::servers::server_events {
 public:
  visitor(authorization_server& owner, int fd)
      : owner_(owner), line_(owner.loop_.context.get_executor(), owner.loop_.real, fd, {}, *this) {
    line_.start();
  }
  std::optional<http::servers::server_answer> on_head(const http::servers::request_head&) override {
    return std::nullopt;
  }
  void on_request(http::servers::request_head head, shared_bytes body) override {
    if (owner_.silent) return;
    const auto r = owner_.answer(head.target.substr(0, head.target.find('?')), std::string(body.view()));
    if (r.status == reply::none) return;
    if (r.status == reply::hung_up) return line_.close();
    line_.answer({r.status, {{"Content-Type", "application/json"}}, r.body});
  }
  http::servers::server_answer on_fault(int status, std::string_view) override { return {status, {}, ""}; }
  void on_drained() override {}
  void on_left(const std::string&) override {}

 private:
  authorization_server& owner_;
  http::servers::server_connection line_;
};

authorization_server::authorization_server(http_loop& loop) : loop_(loop) {
  port_ = mcp::socket::loopback_listener::open(loop.context.get_executor(), loop.real, "127.0.0.1:0").value();
  base_ = "http://" + port_->address();
  port_->start([this](int fd, const std::string&) { visitors_.push_back(std::make_unique<visitor>(*this, fd)); });
}

authorization_server::~authorization_server() = default;

authorization_server::reply authorization_server::answer(const std::string& path, const std::string& body) {
  ++asked[path];
  if (!body.empty()) bodies.push_back(body);
  if (const auto found = instead.find(path); found != instead.end()) return found->second(body);
  if (path == "/.well-known/oauth-protected-resource/mcp")
    return {200, R"({"resource":")" + server_url() + R"(","authorization_servers":[")" + base_ + R"("]})"};
  if (path == "/.well-known/oauth-authorization-server")
    return {200, R"({"issuer":")" + base_ + R"(","authorization_endpoint":")" + base_ +
                     R"(/authorize","token_endpoint":")" + base_ + R"(/token","registration_endpoint":")" + base_ +
                     R"(/register","code_challenge_methods_supported":["S256"]})"};
  if (path == "/register") {
    ++registrations;
    return {201, R"({"client_id":"client"})"};
  }
  if (path == "/token") {
    const auto fields = auth::read_form(body).value();
    if (auth::form_value(fields, "grant_type") == "refresh_token") ++renewals;
    const std::string n = std::to_string(++tokens);
    return {200, R"({"access_token":"token-number-)" + n + R"(","refresh_token":"refresh-number-)" + n +
                     R"(","expires_in":3600})"};
  }
  return {404, "{}"};
}

std::string authorization_server::redirect_of(const std::string& address, const std::string& code) {
  const auto fields = auth::read_form(std::string_view(address).substr(address.find('?') + 1)).value();
  return std::string(auth::form_value(fields, "redirect_uri")) + "?code=" + code +
         "&state=" + percent_encoded(auth::form_value(fields, "state"));
}

}  // namespace mcpbx::test
