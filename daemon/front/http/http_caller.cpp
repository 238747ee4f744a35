// Handling of one request at a time: access, route, then its handler.
#include "daemon/front/http/http_caller.hpp"

#include "daemon/front/dialects/openai_error.hpp"
#include "daemon/front/http/routes.hpp"
#include "daemon/front/mcp/mcp_refusal.hpp"
#include "daemon/front/messages/messages_error.hpp"
#include "daemon/store/records/principal.hpp"
#include "mcp/redact/hidden_text.hpp"
#include "mcp/support/log.hpp"
#include "mcp/support/percent.hpp"
#include "mcp/support/text.hpp"

#include <utility>
#include <vector>

namespace mcpbx::daemon::http_door {
namespace {

constexpr std::size_t large_outbox = 4u << 20;
constexpr milliseconds silence_limit{5'000};

std::string_view path_of(std::string_view target) {
  return target.substr(0, target.find('?'));
}

bool is_json(std::string_view content_type) {
  return http::is_word(trimmed(content_type.substr(0, content_type.find(';'))), "application/json");
}

// Returns "A", "A and B" or "A, B and C".
std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 < names.size() ? ", " : " and ";
    text += names[i];
  }
  return text;
}

// Returns a path for a sentence: cut, and without invisible characters.
std::string shown(std::string_view path) {
  return redact::printable(cut_utf8(path, 200));
}

dialects::request_fault nothing_at(std::string_view path) {
  std::vector<std::string> served;
  for (const auto& r : http_routes())
    if (!r.has_parameter()) served.push_back(std::string(r.method) + " " + std::string(r.path));
  return {404,
          "There is nothing at " + shown(path) + "; this version of mcpbx serves " + listed(served) + " over HTTP.", "",
          "not_found"};
}

/// Returns the answer to a refused request, in the form of its path.
http::servers::server_answer in_form(routes::fault_form form, dialects::request_fault f,
                                     std::vector<http::header> headers = {}) {
  if (form == routes::fault_form::openai) return dialects::error_answer(f, std::move(headers));
  if (form == routes::fault_form::anthropic) return messages::messages_error_answer(f, std::move(headers));
  auto a = mcp_door::refusal_answer(mcp_door::mcp_refusal::invalid_request(f.status, std::move(f.message)));
  a.headers.insert(a.headers.end(), headers.begin(), headers.end());
  return a;
}

// Returns true if a body follows the head.
bool announces_body(const http::servers::request_head& head) {
  const auto length = trimmed(http::find_header(head.headers, "content-length"));
  return length.find_first_not_of('0') != std::string_view::npos ||
         !http::find_header(head.headers, "transfer-encoding").empty();
}

http::servers::server_limits limits_of(const front::door_context& door) {
  http::servers::server_limits l;
  l.size.body = door.settings.framing.max_message_bytes;
  return l;
}

}  // namespace

http_caller::http_caller(front::door_context& door, int fd, const front::http_rules& rules, std::string who,
                         std::string principal, pid_t pid, identity_question identify)
    : door_(door),
      rules_(rules),
      who_(std::move(who)),
      principal_(std::move(principal)),
      pid_(pid),
      identify_(std::move(identify)),
      line_(door.executor, door.time, fd, limits_of(door), *this) {}

http_caller::~http_caller() {
  http_caller::close("");
}

void http_caller::start() {
  line_.start();
  if (closed_ || !rules_.on_port) return;
  patience_ = door_.time.make_timer();
  patience_->arm(door_.time.now() + silence_limit, [weak = weak_from_this()] {
    if (const auto self = weak.lock(); self && !self->authorized_) self->close("");
  });
}

void http_caller::close(std::string_view why) {
  if (std::exchange(closed_, true)) return;
  if (!why.empty()) log::warn(who_ + ": closed: " + std::string(why));
  patience_.reset();
  if (const auto going = std::exchange(going_, nullptr)) going->leave();
  count_into(door_.counters);
  line_.close();
  if (door_.on_gone) door_.on_gone(*this);
}

void http_caller::count_into(front::door_counters& counters) const {
  counters.requests += requests_;
  counters.faults += faults_;
}

std::optional<http::servers::server_answer> http_caller::on_head(const http::servers::request_head& head) {
  const auto refuse = [&](dialects::request_fault f, std::vector<http::header> headers = {}) {
    ++faults_;
    return in_form(form_, std::move(f), std::move(headers));
  };
  const auto path = path_of(head.target);
  const auto found = routes::find_route(http_routes(), head.method, path);
  form_ = found.faults;
  const bool without_token = found.row != nullptr && found.row->without_token;
  if (auto refused = front::check_access(head, rules_, without_token)) {
    log::info(who_ + ": refused: " + refused->message);
    if (refused->status != 401) return refuse({refused->status, std::move(refused->message), "", "forbidden"});
    return refuse({401, std::move(refused->message), "", "invalid_api_key"}, {{"WWW-Authenticate", "Bearer"}});
  }
  // A stranger must not fill the memory that all callers share.
  if (without_token && announces_body(head)) return refuse({400, shown(path) + " takes no body.", "", "bad_request"});
  if (!without_token) {  // such a request earns no place for longer
    authorized_ = true;
    patience_.reset();
  }
  if (found.methods.empty()) return refuse(nothing_at(path));
  if (found.row == nullptr) {
    std::string allowed;
    for (const auto method : found.methods) allowed += (allowed.empty() ? "" : ", ") + std::string(method);
    return refuse({405, shown(path) + " takes " + listed({found.methods.begin(), found.methods.end()}) + ".", "",
                   "method_not_allowed"},
                  {{"Allow", std::move(allowed)}});
  }
  if (found.row->body == routes::body_kind::json && !is_json(http::find_header(head.headers, "content-type")))
    return refuse(
        {415, "The body must be JSON: send \"Content-Type: application/json\".", "", "unsupported_media_type"});
  if (door_.refuses_calls && !found.row->while_stopping)
    return refuse({503, "mcpbx is stopping and takes no new requests.", "", "unavailable"});
  return std::nullopt;
}

void http_caller::on_request(http::servers::request_head head, shared_bytes body) {
  ++requests_;
  asked_ = true;
  if (!identify_) return serve(std::move(head), std::move(body));
  const auto identify = identify_;  // copies, because an answer from inside the call resets the member
  identify([weak = weak_from_this(), head = std::move(head),
            body = std::move(body)](const result<std::string>& server) mutable {
    const auto self = weak.lock();
    if (!self || self->closed_) return;
    if (!server) {
      log::warn(self->who_ + ": refused: " + server.error().message);
      const auto& why = server.error();
      // Overload is no decision about this caller.
      if (why.code == errc::limit)
        return self->answer(in_form(self->form_, {503, why.message, "", "overloaded", false, 1'000}), true);
      self->authorized_ = false;  // it takes no place from others
      ++self->faults_;
      self->line_.answer_last(in_form(self->form_, {403, why.message, "", "forbidden"}));
      return self->ended();
    }
    if (!server->empty()) self->principal_ = stored::principal_of_server(*server);
    self->identify_ = nullptr;  // identified once: a connection keeps its owner
    self->serve(std::move(head), std::move(body));
  });
}

void http_caller::serve(http::servers::request_head head, shared_bytes body) {
  const auto found = routes::find_route(http_routes(), head.method, path_of(head.target));
  auto parameter = percent_decoded(found.parameter);
  routes::exchange::outlet& out = *this;
  // Holds the exchange, because the handler may close the caller, which resets going_.
  const auto x = going_ = std::make_shared<routes::exchange>(
      door_, out,
      routes::exchange::request{std::move(head), std::move(body), std::move(parameter), principal_, pid_,
                                rules_.on_port});
  found.row->handle(x);  // set, since on_head() refuses requests without a route
}

http::servers::server_answer http_caller::on_fault(int status, std::string_view what) {
  ++faults_;
  log::info(who_ + ": a request could not be read: " + redact::printable(what));
  return in_form(form_, {status, "The request could not be read: " + std::string(what) + ".", "", "bad_request"});
}

void http_caller::answer(http::servers::server_answer a, bool fault) {
  if (fault) ++faults_;
  line_.answer(std::move(a));
  ended();
}

void http_caller::finish(bool whole) {
  line_.finish(whole);
  ended();
}

void http_caller::ended() {
  asked_ = false;
  going_.reset();
  rests_since_ = door_.time.now();
  was_large_ = was_large_ || line_.unsent() > large_outbox;
  door_.watch_bytes();
}

void http_caller::on_drained() {
  if (const auto going = going_) going->drained();
}

void http_caller::on_left(const std::string& why) {
  if (why.empty())
    log::debug(who_ + ": left");
  else
    ++door_.counters.stuck;
  close(why);
}

}  // namespace mcpbx::daemon::http_door
