// What verbs share: connecting and turning failures into words and exit statuses.
#include "daemon/cli/verbs.hpp"

#include <unistd.h>

#include <array>

namespace mcpbx::cli {

result<connected> connect_or_explain(context& c, bool may_start, int& status) {
  auto made = connect(c.place, may_start);
  if (!made) status = explain(c, made.error());
  return made;
}

exit_status status_of(const error& e) {
  switch (e.code) {
    case errc::cancelled:
      return interrupted_exit;
    case errc::unavailable:
    case errc::io:
      return no_daemon;
    case errc::not_found:
      return no_such;
    case errc::config:
    case errc::invalid_argument:
      return usage;
    default:
      return no_answer;
  }
}

exit_status status_of(const answer& a) {
  // Configuration has no JSON-RPC code of its own; the kind stands beside it.
  if (find_member(find_member(a.error, "data"), "cause").as_string() == to_string(errc::config)) return usage;
  switch (a.error_code()) {
    case mcp::code::not_found:
      return no_such;
    case mcp::code::invalid_params:
    case mcp::code::invalid_request:
    case mcp::code::method_not_found:
      return usage;
    case mcp::code::cancelled:
      return interrupted_exit;
    default:
      return no_answer;
  }
}

int explain(context& c, const error& e) {
  if (e.code != errc::cancelled) c.screen->error(e.message);
  return status_of(e);
}

int explain(context& c, const answer& a) {
  c.screen->error(a.error_message());
  return status_of(a);
}

result<std::string> read_stdin() {
  constexpr std::size_t most = 16u << 20;
  std::string text;
  std::array<char, 65536> buffer{};
  for (;;) {
    const ssize_t n = ::read(0, buffer.data(), buffer.size());
    if (n == 0) return text;
    if (n < 0) return fail(errc::io, "standard input could not be read");
    text.append(buffer.data(), static_cast<std::size_t>(n));
    if (text.size() > most) return fail(errc::invalid_argument, "standard input holds more than 16 MiB");
  }
}

}  // namespace mcpbx::cli
