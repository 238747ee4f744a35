// Plays the steps of an authorization.
#include "daemon/logins/login.hpp"

#include "mcp/http/url.hpp"
#include "mcp/redact/cut_text.hpp"

#include <utility>

namespace mcpbx::daemon::logins {
namespace {

constexpr http::clients::limits document_limits{.connect = milliseconds(10'000),
                                                .first_byte = milliseconds(30'000),
                                                .idle = milliseconds(30'000),
                                                .total = milliseconds(60'000),
                                                .max_body = auth::longest_document};

}  // namespace

http::clients::trust trust_towards(std::string_view target, std::string_view server_url,
                                   const http::clients::trust& own) {
  const auto to = http::parse_url(target), from = http::parse_url(server_url);
  if (to && from && to->origin == from->origin) return own;
  return {.ca_file = own.ca_file, .system_too = true};
}

document_exchange::document_exchange(http::clients::client& client, auth::flow::document_request r,
                                     http::clients::trust trust, const auth::endpoint_rule& rule, done_handler done)
    : done_(std::move(done)) {
  http::clients::request request;
  request.method = std::move(r.method);
  request.url = std::move(r.url);
  request.headers = std::move(r.headers);
  if (!r.body.empty()) request.body.append_copy(r.body);
  request.limits = document_limits;
  request.trust = std::move(trust);
  if (const auto to = http::parse_url(request.url))
    request.addresses = std::make_shared<http::clients::address_rule>(
        rule.name(), [rule, host = to->host](const std::string& address) { return rule.check_address(host, address); });
  exchange_ = client.start(std::move(request), *this);
}

void document_exchange::on_head(int status, const std::vector<http::header>&) {
  answer_.status = status;
}

void document_exchange::on_body(std::string_view bytes) {
  answer_.body += bytes;
}

void document_exchange::on_end() {
  const auto done = std::exchange(done_, nullptr);
  done(std::move(answer_));  // may destroy this object
}

void document_exchange::on_failure(http::clients::failure f) {
  const auto done = std::exchange(done_, nullptr);
  done(std::unexpected(std::move(f.why)));  // may destroy this object
}

login::login(login_parts parts, http::clients::trust trust, auth::flow::authorization::options o, handlers h)
    : parts_(std::move(parts)),
      trust_(std::move(trust)),
      server_(o.server),
      server_url_(o.server_url),
      flow_(std::move(o), parts_.secrets),
      handlers_(std::move(h)),
      limit_(parts_.time.make_timer()) {
  limit_->arm(parts_.time.now() + longest_wait, [this] {
    cancel("nobody answered within " + std::to_string(longest_wait / std::chrono::minutes(1)) + " minutes");
  });
}

std::string_view login::address() const noexcept {
  const auto& step = flow_.now();
  return step.type == auth::flow::authorization::step::kind::browse ? std::string_view(step.url) : std::string_view();
}

void login::go_on() {
  using kind = auth::flow::authorization::step::kind;
  if (over_) return;
  switch (flow_.now().type) {
    case kind::fetch:
      return fetch();
    case kind::listen:
      return listen();
    case kind::browse:
      listener_->lead(auth::unguessable(parts_.secrets), std::string(address()));
      return handlers_.browse();
    case kind::finished:
      return end(flow_.granted());
    case kind::failed:
      return end(std::unexpected(flow_.now().problem));
  }
}

void login::fetch() {
  exchange_ = std::make_unique<document_exchange>(
      parts_.client, flow_.now().request, trust_towards(flow_.now().request.url, server_url_, trust_), flow_.rule(),
      [this](result<auth::flow::document_answer> answer) {
        const auto ended = std::move(exchange_);
        if (over_) return;
        if (answer)
          flow_.answered(*answer, parts_.time.wall_ms());
        else
          flow_.unreachable("cannot be asked: " + redact::cut_for_people(answer.error().message, 300));
        go_on();
      });
}

void login::listen() {
  auto opened = redirect_listener::open(parts_.executor, parts_.time, flow_.now().url);
  if (!opened) return end(fail(errc::io, "server \"" + server_ + "\": " + opened.error().message));
  listener_ = std::move(*opened);
  flow_.listening(listener_->redirect_uri());
  go_on();
  // The port takes answers as soon as the address is known; before that none can be right.
  if (listener_) listener_->start([this](std::string_view query) { return answered(query); });
}

redirect_listener::page login::answered(std::string_view query) {
  using page = redirect_listener::page;
  if (over_) return page::failed;
  const auto kind = flow_.redirected(query, parts_.time.wall_ms());
  if (kind == auth::redirect_answer::kind::not_ours) return page::not_ours;
  go_on();
  return kind == auth::redirect_answer::kind::code ? page::done : page::failed;
}

result<void> login::pasted(std::string_view address) {
  if (over_ || flow_.now().type != auth::flow::authorization::step::kind::browse)
    return fail(errc::invalid_argument, "no login of this server waits for an answer");
  const auto kind = flow_.redirected(address, parts_.time.wall_ms());
  if (kind == auth::redirect_answer::kind::not_ours)
    return fail(errc::invalid_argument,
                "that is not the answer to this login: paste the whole address that the browser shows at the end");
  go_on();
  return {};
}

void login::cancel(std::string_view why) {
  if (!over_) end(fail(errc::cancelled, "the login to server \"" + server_ + "\" was ended: " + std::string(why)));
}

void login::end(result<auth::grant> outcome) {
  over_ = true;
  limit_->cancel();
  exchange_.reset();
  if (listener_) listener_->close();
  handlers_.over(std::move(outcome));
}

}  // namespace mcpbx::daemon::logins
