// Reads error answers: turns status and body into a kind of error, a sentence and a fix.
#include "providers/wire/api_errors.hpp"

#include "mcp/json/json_scanner.hpp"
#include "mcp/json/json_walk.hpp"
#include "mcp/redact/cut_text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace mcpbx::providers::wire {
namespace {

using kind = model_error::kind;

// Returns a string or number as text.
std::string scalar(std::string_view value) {
  if (json::walk::is_string(value)) return json::unescaped(value);
  return value == "null" || value.empty() || json::walk::is_object(value) || json::walk::is_array(value)
             ? std::string()
             : std::string(value);
}

// Parses "34.07s" (google.protobuf.Duration as JSON) into milliseconds, rounded up; -1: another form.
std::int64_t duration_ms(std::string_view text) {
  double seconds = 0;
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (ec != std::errc() || std::string_view(end, text.data() + text.size()) != "s" || !(seconds >= 0) || seconds > 1e9)
    return -1;
  return static_cast<std::int64_t>(std::ceil(seconds * 1000));
}

void read_members(std::string_view object, error_body& e) {
  json::walk::members(object, [&](std::string_view key, std::string_view value) {
    if (key == "message")
      e.message = scalar(value);
    else if (key == "type" || (key == "status" && e.type.empty()))
      e.type = scalar(value);
    else if (key == "code")
      e.code = scalar(value);
    else if (key == "failed_generation")
      e.failed_generation = json::walk::text(value);
    else if (key == "details" && json::walk::is_object(value) && !json::walk::find(value, "error_code").empty())
      e.code = scalar(json::walk::find(value, "error_code"));
    else if (key == "details")
      json::walk::elements(value, [&](std::string_view detail) {
        if (const auto wait = duration_ms(json::walk::text(json::walk::find(detail, "retryDelay"))); wait >= 0)
          e.retry_after_ms = wait;
      });
    else if (key == "detail" && e.message.empty())
      e.message = json::walk::is_string(value) ? json::unescaped(value) : std::string(value);
  });
}

bool contains_any(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](auto w) { return text.find(w) != std::string_view::npos; });
}

bool says_context_full(const error_body& e, int status) {
  const auto all = lower(e.code) + " " + lower(e.type) + " " + lower(e.message);
  if (contains_any(
          all, {"context_length_exceeded", "context_window_exceeded", "exceed_context_size", "maximum context length",
                "prompt is too long", "exceeds the available context", "exceeds the context",
                "exceeds the maximum number of tokens", "context window", "input is too long",
                "reduce the length of the", "exceed context limit", "maximum prompt length is",
                "longer than the model's context length", "exceeds the maximum allowed length",
                "context length of only", "context overflows", "`max_new_tokens` must be <="}))
    return true;
  return status == 413;
}

bool is_permanent_limit(const error_body& e) {
  const auto all = lower(e.code) + " " + lower(e.type);
  return contains_any(all, {"insufficient_quota", "spend_limit_reached", "billing"}) ||
         contains_any(lower(e.message), {"credit balance is too low"});
}

std::string said_text(const error_body& said, std::string_view body) {
  if (!said.message.empty()) return excerpt(said.message);
  if (!said.code.empty()) return excerpt(said.code);
  if (!said.type.empty()) return excerpt(said.type);
  auto text = excerpt(body);
  return text.starts_with('<') ? "an HTML page instead of JSON" : text;
}

// Returns the host and port of an address, or its Unix socket, without parts that may hold a secret.
std::string_view host_of(std::string_view url) {
  if (url.starts_with("unix:")) return url.substr(0, url.find(":/", 5));
  const auto scheme = url.find("://");
  if (scheme != std::string_view::npos) url.remove_prefix(scheme + 3);
  url = url.substr(0, url.find_first_of("/?#"));
  const auto at = url.rfind('@');
  return at == std::string_view::npos ? url : url.substr(at + 1);
}

// Recognises OpenAI's "Invalid 'tools': array too long. Expected an array with maximum length 128" and Anthropic's
// code.
bool says_too_many_tools(const error_body& e) {
  const auto said = lower(e.message);
  return contains_any(lower(e.code) + " " + said, {"available_tools_limit_exceeded", "too many tools"}) ||
         (contains_any(said, {"'tools'", "\"tools\"", "`tools`", " tools"}) &&
          contains_any(said, {"array too long", "maximum length", "maximum number of", "at most 128"}));
}

struct verdict {
  kind type;
  bool retryable;
  std::string_view mend;
};

// Recognises a wrong key by words, because Gemini reports it as status 400.
bool says_wrong_key(const error_body& e) {
  return contains_any(lower(e.message), {"api key not valid", "invalid api key", "api key expired"});
}

// Recognises a refused tool definition. It fails every request, so the user must learn that a tool is at fault and not
// the question.
bool says_bad_tool(const error_body& e) {
  const auto said = lower(e.message);
  // "tools.3.custom…" names one; "… does not support tools." does not.
  const auto at = said.find("tools.");
  if (at != said.npos && at + 6 < said.size() && said[at + 6] >= '0' && said[at + 6] <= '9') return true;
  return contains_any(said, {"input_schema", "function_declarations", "invalid schema for function", "tools["});
}

verdict judge(int status, const error_body& said) {
  if (says_context_full(said, status))
    return {kind::context_full, false,
            "The conversation is too long for this model: shorten it or use a model with a larger context."};
  if (is_permanent_limit(said) || status == 402)
    return {kind::bad_request, false, "The account has no credit left or reached its limit: check its billing."};
  if (!said.failed_generation.empty())
    return {kind::refused, false, "The model wrote a tool call that its server cannot read: ask again."};
  if (status == 400 && says_wrong_key(said))
    return {kind::bad_request, false, "Check the key that is configured for this model."};
  if ((status == 400 || status == 422) && says_too_many_tools(said))
    return {
        kind::bad_request, false,
        "It takes fewer tools than it was offered: choose some with --tools, a profile, or `allow` and `deny` of the "
        "servers."};
  if ((status == 400 || status == 422) && says_bad_tool(said))
    return {
        kind::bad_request, false,
        "It refuses the definition of a tool: see `mcpbx tools --format`, and leave that tool out with --tools or in a "
        "profile."};
  switch (status) {
    case 401:
    case 403:
      return {kind::bad_request, false, "Check the key that is configured for this model."};
    case 404:
      return {kind::bad_request, false, "Check the model's name and the base address in the configuration."};
    case 408:
    case 409:
      return {kind::refused, true, "Ask again later."};
    case 429:
      return {kind::overloaded, true, "It limits the rate of requests: wait a little and ask again."};
    case 503:
    case 529:
      return {kind::overloaded, true, "It is overloaded: wait a little and ask again."};
    default:
      break;
  }
  if (status >= 500) return {kind::refused, true, "The fault is on its side: ask again later."};
  if (status >= 300 && status < 400)
    return {kind::refused, false, "Redirects are not followed: configure the address it points to."};
  if (status >= 400) return {kind::bad_request, false, "Check the model's name and options in the configuration."};
  return {kind::garbage, false, "Check the base address in the configuration."};
}

}  // namespace

std::string lower(std::string_view s) {
  std::string out(s);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c | 0x20);
  return out;
}

std::string excerpt(std::string_view text) {
  return redact::cut_for_people(text, 300, {.mark = "…"});
}

std::string loggable(std::string_view text) {
  constexpr std::size_t most = 8 * 1024;
  return redact::cut_for_log(text, most, "…");
}

std::string named(const wire_options& options) {
  const auto& entry = options.name.empty() ? options.model : options.name;
  // The name NAME/ID contains the id already.
  const bool same = options.model.empty() || entry == options.model || entry.ends_with("/" + options.model);
  // A reference may have put a secret into the id or the address, so both are redacted.
  return "model \"" + excerpt(entry) + "\"" + (same ? "" : " (" + excerpt(options.model) + ")");
}

std::string who(const wire_options& options) {
  return named(options) + " at " + excerpt(host_of(options.base_url));
}

error_body read_error_body(std::string_view json) {
  error_body e;
  if (json::walk::is_array(json)) {
    json::walk::elements(json, [&](std::string_view element) {
      if (!e.found()) e = read_error_body(json::walk::is_object(element) ? element : std::string_view("{}"));
    });
    return e;
  }
  const auto error = json::walk::find(json, "error");
  if (json::walk::is_object(error)) {
    read_members(error, e);
    if (!e.found()) e.type = "error";
  } else if (json::walk::is_string(error)) {
    e.message = json::unescaped(error);
    if (e.message.empty()) return {};
    const auto more = json::walk::text(json::walk::find(json, "message"));
    if (!more.empty()) e.message += ": " + more;
  } else if (!error.empty() && error != "null" && error != "false") {
    e.message = std::string(error);
  } else if (json::walk::find(json, "object") == "\"error\"" || json::walk::find(json, "choices").empty()) {
    read_members(json, e);
  }
  return e;
}

model_error status_error(int status, std::string_view body, const wire_options& options) {
  error_body said;
  const auto from = body.find_first_not_of(" \t\r\n");
  const auto trimmed = from == std::string_view::npos ? std::string_view()
                                                      : body.substr(from, body.find_last_not_of(" \t\r\n") - from + 1);
  if (json::check_json(trimmed, 64) == json::json_scanner::fault::none) said = read_error_body(trimmed);
  const auto v = judge(status, said);
  model_error e;
  e.type = v.type;
  e.http_status = status;
  e.retryable = v.retryable;
  e.retry_after_ms = said.retry_after_ms;
  e.failed_generation = said.failed_generation;
  e.said = loggable(body);
  const auto text = said_text(said, trimmed);
  e.message = "The " + who(options) + " answered with status " + std::to_string(status) +
              (text.empty() ? "" : ": " + text) + (text.empty() || text.back() != '.' ? "." : "") + " " +
              std::string(v.mend);
  return e;
}

model_error stream_error(const error_body& said, std::string_view raw, const wire_options& options) {
  int status = 0;
  if (said.code.size() == 3 && said.code.find_first_not_of("0123456789") == std::string::npos)
    status = std::stoi(said.code);
  const auto type = lower(said.type) + " " + lower(said.code);
  if (status < 400)
    status = contains_any(type, {"rate_limit", "resource_exhausted"})           ? 429
             : contains_any(type, {"overloaded"})                               ? 529
             : contains_any(type, {"authentication"})                           ? 401
             : contains_any(type, {"permission"})                               ? 403
             : contains_any(type, {"not_found"})                                ? 404
             : contains_any(type, {"invalid_", "image", "_policy", "mismatch"}) ? 400
                                                                                : 500;
  const auto v = judge(status, said);
  model_error e;
  e.type = v.type;
  e.http_status = 200;
  e.retryable = v.retryable;
  e.retry_after_ms = said.retry_after_ms;
  e.failed_generation = said.failed_generation;
  e.said = loggable(raw);
  const auto text = said_text(said, raw);
  e.message = "The " + who(options) + " reported an error in its answer: " + text +
              (text.empty() || text.back() != '.' ? "." : "") + " " + std::string(v.mend);
  return e;
}

}  // namespace mcpbx::providers::wire
