// What verbs share: connecting and turning failures into words and exit statuses.
#include "daemon/cli/verbs.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace mcpbx::cli {

bool is_newer(std::string_view version, std::string_view than) {
  while (!version.empty()) {
    const auto take = [](std::string_view& text) {
      unsigned number = 0;
      const auto end = std::from_chars(text.data(), text.data() + text.size(), number).ptr;
      text.remove_prefix(std::min<std::size_t>(static_cast<std::size_t>(end - text.data()) + 1, text.size()));
      return number;
    };
    const unsigned ours = take(version), theirs = take(than);
    if (ours != theirs) return ours > theirs;
  }
  return false;
}

result<connected> connect_or_explain(context& c, bool may_start, int& status, const std::string& profile) {
  auto made = connect(c.place, may_start);
  if (!made) {
    status = explain(c, made.error());
    return made;
  }
  if (c.place.standalone && profile.empty()) return made;
  const auto hello = made->link.call(
      "mcpbx/hello", R"({"name":"mcpbx")" + (profile.empty() ? "" : ",\"profile\":" + json_quoted(profile)) + "}");
  if (!profile.empty() && (!hello || hello->error)) {
    status = hello ? explain(c, *hello) : explain(c, hello.error());
    return fail(errc::invalid_argument, "the profile cannot be used");
  }
  // A daemon may have run since before this program was replaced by a newer one.
  const std::string theirs = hello ? find_member(hello->result, "version").as_string().value_or("") : "";
  if (!theirs.empty() && is_newer(MCPBX_VERSION, theirs))
    c.screen->err_line("mcpbx: this program is version " MCPBX_VERSION ", the daemon is the older " + theirs +
                       "; `mcpbx stop` lets the next command start the new one");
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

result<raw_json> call_or_explain(context& c, connection& link, std::string_view method, std::string_view params,
                                 int& status) {
  auto got = link.call(method, params);
  if (!got) {
    status = explain(c, got.error());
    return std::unexpected(got.error());
  }
  if (got->error) {
    status = explain(c, *got);
    return fail(errc::peer, got->error_message());
  }
  return got->result;
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
