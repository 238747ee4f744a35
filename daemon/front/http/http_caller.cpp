// One request at a time. A body is JSON from its first byte to its last before anything looks into it.
#include "daemon/front/http/http_caller.hpp"

#include "daemon/front/completions/completion_json.hpp"
#include "daemon/store/records/principal.hpp"
#include "mcp/json/json_scanner.hpp"
#include "mcp/redact/hidden_text.hpp"
#include "mcp/support/log.hpp"
#include "mcp/support/percent.hpp"
#include "mcp/support/text.hpp"
#include "providers/model/arguments.hpp"

#include <utility>
#include <vector>

namespace mcpbx::daemon {
namespace {

constexpr std::size_t large_outbox = 4u << 20;
constexpr milliseconds silence_limit{5'000};
constexpr std::string_view completions_path = "/v1/chat/completions", models_path = "/v1/models";

http::server_answer error_answer(const completion_fault& f, std::vector<http::header> headers = {}) {
  headers.push_back({"Content-Type", "application/json"});
  return {f.status, std::move(headers), completion_json::error_body(f)};
}

std::string_view path_of(std::string_view target) {
  return target.substr(0, target.find('?'));
}

bool is_json(std::string_view content_type) {
  return http::is_word(trimmed(content_type.substr(0, content_type.find(';'))), "application/json");
}

// The method that a path takes, or "" for a path that is not served.
std::string_view method_of(std::string_view path) {
  if (path == completions_path) return "POST";
  if (path == models_path || (path.starts_with(models_path) && path[models_path.size()] == '/')) return "GET";
  return {};
}

http::server_limits limits_of(const door_context& door) {
  http::server_limits l;
  l.size.body = door.settings.framing.max_message_bytes;
  return l;
}

}  // namespace

http_caller::http_caller(door_context& door, int fd, const http_rules& rules, std::string who, std::string principal,
                         identity_question identify)
    : door_(door),
      rules_(rules),
      who_(std::move(who)),
      principal_(std::move(principal)),
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
  if (const auto going = std::exchange(going_, nullptr)) going->leave("the caller went away");
  count_into(door_.counters);
  line_.close();
  if (door_.on_gone) door_.on_gone(*this);
}

void http_caller::count_into(door_counters& counters) const {
  counters.requests += requests_;
  counters.faults += faults_;
}

std::optional<http::server_answer> http_caller::on_head(const http::request_head& head) {
  const auto refuse = [&](completion_fault f, std::vector<http::header> headers = {}) {
    ++faults_;
    return error_answer(f, std::move(headers));
  };
  if (auto refused = check_access(head, rules_)) {
    log::info(who_ + ": refused: " + refused->message);
    if (refused->status != 401) return refuse({refused->status, std::move(refused->message), "", "forbidden"});
    return refuse({401, std::move(refused->message), "", "invalid_api_key"}, {{"WWW-Authenticate", "Bearer"}});
  }
  authorized_ = true;
  patience_.reset();
  const auto path = path_of(head.target);
  const auto method = method_of(path);
  if (method.empty())
    return refuse({404,
                   "There is nothing at " + printable(cut_utf8(path, 200)) +
                       "; this version of mcpbx serves POST /v1/chat/completions and GET /v1/models over HTTP.",
                   "", "not_found"});
  if (head.method != method)
    return refuse({405, std::string(path) + " takes " + std::string(method) + ".", "", "method_not_allowed"},
                  {{"Allow", std::string(method)}});
  if (method == "POST" && !is_json(http::find_header(head.headers, "content-type")))
    return refuse(
        {415, "The body must be JSON: send \"Content-Type: application/json\".", "", "unsupported_media_type"});
  if (door_.refuses_calls) return refuse({503, "mcpbx is stopping and takes no new requests.", "", "unavailable"});
  return std::nullopt;
}

void http_caller::on_request(http::request_head head, shared_bytes body) {
  ++requests_;
  asked_ = true;
  if (!identify_) return serve(head.target, body);
  identify_([weak = weak_from_this(), target = head.target, body](const result<std::string>& server) {
    const auto self = weak.lock();
    if (!self || self->closed_) return;
    if (!server) {
      log::warn(self->who_ + ": refused: " + server.error().message);
      return self->answer(error_answer({403, server.error().message, "", "forbidden"}));
    }
    if (!server->empty()) self->principal_ = principal_of_server(*server);
    self->identify_ = nullptr;  // a connection stays with who made it
    self->serve(target, body);
  });
}

void http_caller::serve(const std::string& target, const shared_bytes& body) {
  const auto path = path_of(target);
  if (path == completions_path) return complete(body);
  if (path == models_path) return list_models(std::nullopt);
  list_models(percent_decoded(path.substr(models_path.size() + 1)));
}

http::server_answer http_caller::on_fault(int status, std::string_view what) {
  ++faults_;
  log::info(who_ + ": a request could not be read: " + printable(what));
  return error_answer({status, "The request could not be read: " + std::string(what) + ".", "", "bad_request"});
}

void http_caller::answer(http::server_answer a) {
  asked_ = false;
  if (a.status >= 400) ++faults_;
  line_.answer(std::move(a));
  watch_bytes();
}

void http_caller::watch_bytes() {
  was_large_ = was_large_ || line_.unsent() > large_outbox;
  door_.watch_bytes();
}

void http_caller::complete(const shared_bytes& body) {
  const auto text = trimmed(body.view());
  std::size_t place = 0;
  const auto fault = check_json(text, door_.settings.framing.max_depth, &place);
  if (fault != json_scanner::fault::none)
    return answer(error_answer({400,
                                "body: expected JSON, and it is none from byte " + std::to_string(place) +
                                    " on: " + std::string(to_string(fault)) + ".",
                                "", "invalid_json"}));
  // What is passed on from it leaves in messages that are lines.
  const auto whole = providers::on_one_line(raw_json::trusted(body, text));
  auto request = read_completion(whole, door_.settings.chat);
  if (closed_) return;
  if (!request) return answer(error_answer(request.error()));
  const auto going = going_ = std::make_shared<completion>(door_, line_, std::move(*request), [this] {
    asked_ = false;
    going_.reset();
    watch_bytes();
  });
  going->start(principal_);
}

void http_caller::list_models(std::optional<std::string> only) {
  auto* const models = door_.daemon.models();
  const auto tell = [this, only = std::move(only)](std::vector<std::string> names) {
    for (auto& profile : door_.settings.chat.profiles()) names.push_back("profile:" + profile);
    auto json = completion_json::models(names, door_.started_wall_ms / 1000, only);
    if (json) return answer({200, {{"Content-Type", "application/json"}}, std::move(*json)});
    answer(error_answer({404, "No model is called " + json_quoted(*only) + "; GET /v1/models lists them.", "model",
                         "model_not_found"}));
  };
  if (models == nullptr) return tell({});
  models->list("", false, [weak = weak_from_this(), tell](const result<std::vector<model_row>>& rows) {
    const auto self = weak.lock();
    if (!self || self->closed_) return;
    if (!rows) return self->answer(error_answer(fault_of(rows.error())));
    std::vector<std::string> names;
    for (const auto& r : *rows) names.push_back(r.name);
    tell(std::move(names));
  });
}

void http_caller::on_drained() {
  if (going_) going_->on_drained();
}

void http_caller::on_left(const std::string& why) {
  if (why.empty())
    log::debug(who_ + ": left");
  else
    ++door_.counters.stuck;
  close(why);
}

}  // namespace mcpbx::daemon
