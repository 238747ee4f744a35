// Requests of /api as methods of the socket: the body or the query becomes the params.
#include "daemon/front/api/api_handlers.hpp"

#include "daemon/front/api/api_call.hpp"
#include "daemon/front/api/openapi.hpp"
#include "daemon/front/base/door_context.hpp"
#include "daemon/front/dialects/json_body.hpp"
#include "daemon/front/dialects/openai_error.hpp"
#include "daemon/front/exchange/request_trace.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/support/percent.hpp"
#include "mcp/support/text.hpp"
#include "mcp/trace/trace_meta.hpp"

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::daemon::api_door {
namespace {

constexpr std::size_t most_in_query = 16;

// Writes the query's members: numbers and true or false as such, all else as text. The method judges them.
void write_query(json::json_writer& w, std::string_view target) {
  const auto begin = target.find('?');
  if (begin == std::string_view::npos) return;
  auto rest = target.substr(begin + 1);
  for (std::size_t i = 0; !rest.empty() && i < most_in_query; ++i) {
    const auto end = rest.find('&');
    const auto one = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    if (one.empty()) continue;
    const auto equals = one.find('=');
    const auto name = percent_decoded(one.substr(0, equals));
    const auto value = equals == std::string_view::npos ? std::string("true") : percent_decoded(one.substr(equals + 1));
    const bool digits = !value.empty() && value.size() < 18 && (value == "0" || value.front() != '0') &&
                        std::ranges::all_of(value, [](char c) { return c >= '0' && c <= '9'; });
    if (digits || value == "true" || value == "false")
      w.key(name).token(value);
    else
      w.member(name, value);
  }
}

void call(const std::shared_ptr<routes::exchange>& x, std::string_view method, std::string_view parameter_name = {}) {
  std::string params;
  json::json_writer w(params);
  w.begin_object();
  if (!parameter_name.empty()) w.member(parameter_name, x->parameter());
  write_query(w, x->head().target);
  w.end_object();
  api_call::start(x, method, w.json(), false);
}

// Returns true if Accept names a stream, and not JSON before it.
bool wants_stream(const routes::exchange& x) {
  const auto accept = http::find_header(x.head().headers, "accept");
  return accept.find("text/event-stream") < accept.find("application/json");
}

// Goes on behind the event RUN:NUMBER.
void attach(const std::shared_ptr<routes::exchange>& x, std::string_view last) {
  const auto colon = last.rfind(':');
  std::uint64_t number = 0;
  const auto digits = colon == std::string_view::npos ? std::string_view() : last.substr(colon + 1);
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (digits.empty() || read.ec != std::errc() || read.ptr != digits.data() + digits.size() || colon == 0)
    return x->refuse(
        dialects::error_answer({400,
                                "Last-Event-ID: expected RUN:NUMBER, the id of an event of POST /api/chat, got " +
                                    json::json_quoted(cut_utf8(last, 100)),
                                "Last-Event-ID", "invalid_argument"}));
  std::string params;
  json::json_writer w(params);
  w.begin_object().member("run", last.substr(0, colon)).member("after", number).end_object();
  api_call::start(x, "mcpbx/attach", w.json(), true);
}

// Puts the trace of the header into `_meta`, unless a valid one is there: that is nearer to the run (MCP SEP-414). The
// rest of `_meta` stays.
void add_trace(json::raw_object& body, const routes::exchange& x) {
  const auto trace = routes::trace_of(x.head().headers);
  const auto given = body.find("_meta");
  if (trace.empty() || !trace::trace_in_meta(given).empty()) return;
  std::string params;
  json::json_writer w(params);
  w.begin_object();
  trace::append_trace_meta(w, trace);
  w.end_object();
  const auto added = json::find_member(w.json(), "_meta");
  auto meta = json::raw_object::open(given);
  if (!meta) return body.set("_meta", added);
  meta->erase("tracestate");
  for (const auto* const name : {"traceparent", "tracestate"})
    if (const auto value = json::find_member(added, name)) meta->set(name, value);
  body.set("_meta", meta->json());
}

}  // namespace

void handle_api_chat(const std::shared_ptr<routes::exchange>& x) {
  const bool stream = wants_stream(*x);
  const auto last = std::string(trimmed(http::find_header(x->head().headers, "last-event-id")));
  if (!last.empty()) {
    if (stream) return attach(x, last);
    return x->refuse(dialects::error_answer(
        {406, "Last-Event-ID goes with \"Accept: text/event-stream\" only.", "Last-Event-ID", "invalid_argument"}));
  }
  const auto body = dialects::json_body(*x);
  if (!body) return x->refuse(dialects::error_answer(body.error()));
  if (!body->is_object()) return x->refuse(dialects::error_answer({400, "body: expected a JSON object", "body", ""}));
  const bool detached = json::find_member(*body, "detach").is_true();
  if (!detached && json::find_member(*body, "answers").is_true())
    return x->refuse(dialects::error_answer({400,
                                             "answers: expected false, because questions are answered over the socket "
                                             "(mcpbx/answer); a detached run waits until a program attaches there",
                                             "answers", "invalid_argument"}));
  auto params = *body;
  if (auto object = json::raw_object::open(*body)) {
    add_trace(*object, *x);
    // Pieces of text would be made for nobody.
    if (!stream && !object->contains("stream")) object->set("stream", json::raw_json::literal("false"));
    params = object->json();
  }
  if (stream && detached) return api_call::start_detached(x, params);
  api_call::start(x, "mcpbx/chat", params, stream);
}

void handle_api_status(const std::shared_ptr<routes::exchange>& x) {
  call(x, "mcpbx/status");
}

void handle_api_servers(const std::shared_ptr<routes::exchange>& x) {
  call(x, "mcpbx/servers");
}

void handle_api_tools(const std::shared_ptr<routes::exchange>& x) {
  call(x, "mcpbx/tools");
}

void handle_api_sessions(const std::shared_ptr<routes::exchange>& x) {
  call(x, "mcpbx/sessions/list");
}

void handle_api_session(const std::shared_ptr<routes::exchange>& x) {
  call(x, "mcpbx/sessions/get", "session");
}

void handle_api_description(const std::shared_ptr<routes::exchange>& x) {
  x->answer({200, {{"Content-Type", "application/json"}}, api_description(x->door().settings.version)});
}

void handle_alive(const std::shared_ptr<routes::exchange>& x) {
  x->answer({200, {{"Content-Type", "application/json"}}, R"({"status":"ok"})"});
}

void handle_ready(const std::shared_ptr<routes::exchange>& x) {
  const auto& door = x->door();
  std::vector<std::string_view> reasons;
  if (door.refuses_calls) reasons.emplace_back("stopping");
  if (!door.daemon.tried()) reasons.emplace_back("servers_starting");
  if (door.daemon.store().trouble()) reasons.emplace_back("journal_unwritable");
  std::string json;
  json::json_writer w(json);
  w.begin_object().member("status", door.refuses_calls ? "stopping" : reasons.empty() ? "ready" : "waiting");
  w.list("reasons", reasons);
  if (!x->on_port() || !front::check_access(x->head(), door.settings.port_rules)) {
    w.key("servers").begin_array();
    for (const auto& s : door.daemon.servers()) {
      using enum mcp::clients::server_state;
      if (s.state != ready && s.state != lazy && s.state != disabled) w.value(s.name);
    }
    w.end_array();
  }
  w.end_object();
  x->answer({reasons.empty() ? 200 : 503, {{"Content-Type", "application/json"}}, std::move(json)});
}

}  // namespace mcpbx::daemon::api_door
