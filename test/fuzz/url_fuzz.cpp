// Any bytes as an address. One that is taken must mean the same host when its parts are read again, and must not be
// able to break a request.
#include "mcp/http/url.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

void check(std::string_view text) {
  const auto url = mcpbx::http::parse_url(text);
  if (!url) return;
  for (const unsigned char c : url->host + url->authority + url->target)
    if (c <= 0x20 || c == 0x7F) std::abort();
  if (url->target.empty() || url->target.front() != '/') {
    if (url->socket.empty()) std::abort();
  }
  if (!url->socket.empty()) return;
  if (url->host.empty() || url->host.find_first_of("@/\\?#[]") != std::string::npos) std::abort();
  const auto again = mcpbx::http::parse_url(url->origin + url->target);
  if (!again || again->host != url->host || again->port != url->port || again->tls != url->tls ||
      again->origin != url->origin || again->authority != url->authority || again->target != url->target)
    std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  check(text);
  check("http://" + text);
  check("https://[" + text);
  return 0;
}
