// Reads the proxy variables by the conventions of curl and Go. If they differ, the one that keeps local traffic local
// wins.
#include "mcp/http/client/proxy.hpp"

#include "mcp/redact/secret.hpp"
#include "mcp/support/encodings.hpp"
#include "mcp/support/percent.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>

namespace mcpbx::http::clients {

namespace ip = boost::asio::ip;

namespace {

std::string lower(std::string_view s) {
  std::string out(s);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c | 0x20);
  return out;
}

std::optional<ip::address> as_address(std::string_view text) {
  boost::system::error_code ec;
  const auto a = ip::make_address(std::string(text), ec);
  return ec ? std::nullopt : std::optional(a);
}

template <class Number>
bool read_number(std::string_view text, Number& out) {
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), out);
  return ec == std::errc() && end == text.data() + text.size();
}

// Returns the value of Proxy-Authorization (RFC 7617).
std::string basic(std::string_view user_and_password) {
  const auto out = base64(user_and_password);
  redact::redactor::add(redact::secret(out));
  return "Basic " + out;
}

result<proxy> parse_proxy(std::string_view name, std::string_view text) {
  const auto wrong = [&](std::string_view why) {
    return fail(errc::config, std::string(name) + " names no usable proxy: " + std::string(why) +
                                  " Write it like http://proxy.example:3128.");
  };
  const auto scheme = text.find("://");
  if (scheme != std::string_view::npos) {
    const auto word = lower(text.substr(0, scheme));
    if (word != "http") return wrong("mcpbx speaks to proxies by http:// only (https:// targets are tunnelled).");
    text.remove_prefix(scheme + 3);
  }
  text = text.substr(0, text.find_first_of("/?#"));
  proxy p;
  if (const auto at = text.rfind('@'); at != std::string_view::npos) {
    const auto given = text.substr(0, at);
    const auto colon = std::min(given.find(':'), given.size());
    const auto user = percent_decoded(given.substr(0, colon));
    const auto password = percent_decoded(given.substr(std::min(colon + 1, given.size())));
    redact::redactor::add(redact::secret(password));
    p.authorization = basic(user + ":" + password);
    text.remove_prefix(at + 1);
  }
  // The rest has the form of a URL's authority.
  const auto parts = parse_url("http://" + std::string(text));
  if (!parts) return wrong("the host or port is wrong.");
  p.host = parts->host;
  p.port = parts->port;
  p.label = parts->origin.substr(std::string_view("http://").size());
  return p;
}

// Returns true if the first `prefix` bits of two addresses of the same family are equal.
bool same_network(const ip::address& a, const ip::address& b, unsigned prefix) {
  const auto compare = [prefix](const auto& x, const auto& y) {
    for (std::size_t i = 0; i < x.size() && i * 8 < prefix; ++i) {
      const unsigned bits = std::min<unsigned>(8, prefix - static_cast<unsigned>(i) * 8);
      if (((x[i] ^ y[i]) >> (8 - bits)) != 0) return false;
    }
    return true;
  };
  if (a.is_v4() != b.is_v4()) return false;
  return a.is_v4() ? compare(a.to_v4().to_bytes(), b.to_v4().to_bytes())
                   : compare(a.to_v6().to_bytes(), b.to_v6().to_bytes());
}

// Returns a name without the dot that may end it (RFC 1034, section 3.1).
std::string_view without_dot(std::string_view host) {
  if (host.ends_with('.')) host.remove_suffix(1);
  return host;
}

bool is_local(const url_parts& to) {
  const auto host = without_dot(to.host);
  if (!to.socket.empty() || host == "localhost" || host.ends_with(".localhost")) return true;
  const auto a = as_address(to.host);
  return a && a->is_loopback();
}

}  // namespace

proxy_rules proxy_rules::from(const std::function<std::string(const char*)>& variable) {
  proxy_rules rules;
  const auto read = [&](const char* small, const char* large) -> choice {
    for (const char* name : {small, large})
      if (const auto text = variable(name); !text.empty()) return parse_proxy(name, text);
    return std::nullopt;
  };
  rules.http_ = read("http_proxy", "HTTP_PROXY");
  rules.https_ = read("https_proxy", "HTTPS_PROXY");
  auto except = variable("no_proxy");
  if (except.empty()) except = variable("NO_PROXY");
  std::string_view rest = except;
  while (!rest.empty()) {
    const auto end = std::min(rest.find_first_of(", \t"), rest.size());
    if (end > 0) rules.add_exception(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return rules;
}

proxy_rules proxy_rules::of_process() {
  return from([](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value != nullptr ? value : "");
  });
}

// Adds NAME, .NAME, *.NAME, ADDRESS or ADDRESS/BITS, each perhaps with :PORT. Ignores text that cannot be parsed.
void proxy_rules::add_exception(std::string_view text) {
  if (text == "*") {
    none_ = true;
    return;
  }
  exception e;
  const auto slash = text.find('/');
  if (slash != std::string_view::npos) {
    e.network = as_address(text.substr(0, slash));
    if (e.network && read_number(text.substr(slash + 1), e.prefix)) exceptions_.push_back(std::move(e));
    return;
  }
  auto host = text;
  if (text.starts_with('[')) {
    const auto close = std::min(text.find(']'), text.size());
    host = text.substr(1, close - 1);
    text.remove_prefix(std::min(close + 1, text.size()));
  } else {
    // A text with two colons is an IPv6 address without a port.
    const auto colon = text.find(':');
    if (colon != text.rfind(':')) {
      text = {};
    } else {
      host = text.substr(0, colon);
      text.remove_prefix(host.size());
    }
  }
  if (text.starts_with(':') && !read_number(text.substr(1), e.port)) return;
  if (host.starts_with('*')) host.remove_prefix(1);
  if (host.starts_with('.')) host.remove_prefix(1);
  host = without_dot(host);
  if (host.empty()) return;
  if ((e.network = as_address(host)))
    e.prefix = e.network->is_v4() ? 32 : 128;
  else
    e.name = lower(host);
  exceptions_.push_back(std::move(e));
}

bool proxy_rules::is_exempt(const url_parts& to) const {
  if (none_ || is_local(to)) return true;
  const auto host = without_dot(to.host);
  const auto address = as_address(host);
  return std::any_of(exceptions_.begin(), exceptions_.end(), [&](const exception& e) {
    if (e.port != 0 && e.port != to.port) return false;
    if (e.network) return address && same_network(*address, *e.network, e.prefix);
    if (!host.ends_with(e.name)) return false;
    const auto front = host.size() - e.name.size();
    return front == 0 || host[front - 1] == '.';
  });
}

result<const proxy*> proxy_rules::find(const url_parts& to) const {
  const auto& chosen = to.tls ? https_ : http_;
  if (!chosen || is_exempt(to)) return nullptr;
  if (!*chosen) return std::unexpected(chosen->error());
  return &**chosen;
}

}  // namespace mcpbx::http::clients
