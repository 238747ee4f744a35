// Words for what servers answer.
#include "mcp/client/connect/remote/remote_words.hpp"

#include "mcp/http/url.hpp"
#include "mcp/redact/cut_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace mcpbx::mcp::remote {

std::string_view media_type(std::string_view value) {
  value = value.substr(0, value.find(';'));
  while (!value.empty() && value.back() == ' ') value.remove_suffix(1);
  return value;
}

bool is_number(const rpc::rpc_id& id, std::int64_t number) {
  std::array<char, 24> text{'n'};
  const auto* const end = std::to_chars(text.data() + 1, text.data() + text.size(), number).ptr;
  return id.key() == std::string_view(text.data(), end);
}

std::string joined_headers(const std::vector<http::header>& headers, std::string_view name) {
  std::string all;
  for (const auto& h : headers)
    if (http::is_word(h.name, name)) all += (all.empty() ? "" : ", ") + h.value;
  return all;
}

std::optional<milliseconds> retry_after(std::string_view value, std::int64_t wall_ms) {
  constexpr std::int64_t day_ms = 86'400'000, shortest_ms = 1'000;
  // Dates are whole seconds, and the clocks of two machines differ, so that one may be of the past already.
  if (const auto date = http::date_ms(value))
    return milliseconds(std::clamp<std::int64_t>(*date - wall_ms, shortest_ms, day_ms));
  std::int64_t seconds = 0;
  const auto [stop, ec] = std::from_chars(value.data(), value.data() + value.size(), seconds);
  if (ec != std::errc() || stop != value.data() + value.size() || seconds < 0) return std::nullopt;
  return milliseconds(std::min<std::int64_t>(seconds, day_ms / 1000) * 1000);
}

std::optional<std::string> same_origin(std::string_view base, std::string_view location) {
  const auto from = http::parse_url(base);
  if (!from || location.empty()) return std::nullopt;
  const bool absolute = location.contains("://") && location.find("://") < location.find_first_of("/?#");
  if (absolute || location.starts_with("//")) {
    // A Unix socket has no address that a server could name.
    if (!from->socket.empty()) return std::nullopt;
    const std::string whole =
        absolute ? std::string(location) : (from->tls ? "https:" : "http:") + std::string(location);
    const auto to = http::parse_url(whole);
    if (!to || to->origin != from->origin) return std::nullopt;
    return to->origin + to->target;
  }
  std::string target(location);
  if (location.front() == '?') {
    target = from->target.substr(0, from->target.find('?')) + target;
  } else if (location.front() != '/') {
    const auto path = from->target.substr(0, from->target.find('?'));
    target = path.substr(0, path.rfind('/') + 1) + target;
  }
  const std::string whole = from->origin + (from->socket.empty() ? "" : ":") + target;
  return http::parse_url(whole) ? std::optional(whole) : std::nullopt;
}

std::string status_text(int status, std::string_view body) {
  std::string text = "HTTP status " + std::to_string(status);
  const auto begin = body.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos || body[begin] == '<') return text;  // a page says nothing in its first bytes
  return text + ": \"" + redact::cut_for_people(body.substr(begin), 200) + "\"";
}

std::string unauthorized_text(bool has_token) {
  if (has_token)
    return "refuses the Authorization header of its entry (HTTP status 401); give a token that is valid in its "
           "\"headers\"";
  return "asks for a login (HTTP status 401); give a token in the \"headers\" of its entry, as in "
         "\"Authorization\": \"Bearer ${env:TOKEN}\"";
}

std::string_view problem_of(const http::clients::failure& f) {
  switch (f.stage) {
    case http::clients::stage::resolve:
    case http::clients::stage::connect:
      return "unreachable";
    case http::clients::stage::tls:
      return "certificate";
    default:
      return f.why.code == errc::timed_out ? "slow" : f.why.code == errc::protocol ? "protocol" : "unreachable";
  }
}

std::string_view way_out(std::string_view problem) {
  if (problem == "protocol") return "; check the \"url\" of its entry";
  if (problem == "certificate") return "; if its certificate is right, name the authority's file as \"caFile\"";
  return {};
}

std::string clause(const std::string& sentence) {
  return sentence.ends_with('.') ? sentence.substr(0, sentence.size() - 1) : sentence;
}

}  // namespace mcpbx::mcp::remote
