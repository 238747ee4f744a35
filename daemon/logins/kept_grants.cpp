// An entry holds the address, the principal if it is a caller's own login, a serial number, and the grant.
#include "daemon/logins/kept_grants.hpp"

#include "mcp/auth/metadata.hpp"
#include "mcp/json/raw_json.hpp"

#include <chrono>
#include <utility>

namespace mcpbx::daemon::logins {
namespace {

constexpr std::size_t most_kept = 256;

// Reads the serial number, which is a time. One that no daemon can have written would be later than all that follow.
std::int64_t serial_of(const json::raw_json& entry, std::int64_t now_ms) {
  constexpr std::int64_t day_ms = std::chrono::milliseconds(std::chrono::days(1)).count();
  const auto serial = json::find_member(entry, "serial").as_integer().value_or(0);
  return serial < 0 || serial > now_ms + day_ms ? 0 : serial;
}

std::string entry_text(const grant_place& at, const kept_grant& g) {
  const std::string whose = at.principal.empty() ? "" : ",\"principal\":" + json::json_quoted(at.principal);
  return "{\"url\":" + json::json_quoted(at.url) + whose + ",\"serial\":" + std::to_string(g.serial) +
         ",\"grant\":" + auth::grant_json(g.grant) + "}";
}

}  // namespace

std::string entry_name(const grant_place& at) {
  return credentials::credential_file::entry_name(at.server, at.url, at.principal);
}

grant_keeper::found grant_in(credentials::credential_file& file, const grant_place& at, std::int64_t now_ms) {
  const auto text = file.find(entry_name(at));
  if (!text) return std::unexpected(text.error());
  if (!*text) return std::nullopt;
  const auto wrong = [&](const std::string& what) {
    return fail(errc::parse, "the tokens in " + file.path() + " cannot be understood: " + what);
  };
  const auto json = json::raw_json::parse(**text, 16);
  if (!json) return wrong(json.error().message);
  if (json::find_member(*json, "url").as_string() != at.url) return std::nullopt;
  if (json::member_text(*json, "principal") != at.principal) return std::nullopt;
  auto read = auth::read_grant(json::find_member(*json, "grant"));
  if (!read) return wrong(read.error().message);
  return kept_grant{std::move(*read), serial_of(*json, now_ms)};
}

result<void> save_grant(credentials::credential_file& file, const grant_place& at, const std::optional<kept_grant>& g,
                        bool replaces, std::int64_t now_ms) {
  std::optional<std::string> text;
  if (g) {
    const auto present = grant_in(file, at, now_ms);
    if (present && *present && (*present)->serial > g->serial) return {};
    text = entry_text(at, *g);
  }
  return text && replaces ? file.replace(entry_name(at), *text) : file.write(entry_name(at), text);
}

std::vector<kept_login> logins_in(credentials::credential_file& file, const std::vector<grant_place>& places) {
  std::vector<kept_login> all;
  const auto entries = file.read();
  if (!entries) return all;
  for (const auto& [name, text] : *entries) {
    const auto json = json::raw_json::parse(text, 16);
    const std::string principal = json ? json::member_text(*json, "principal") : "";
    if (principal.empty()) continue;
    for (const auto& at : places)
      if (name == entry_name({at.server, at.url, principal}) && all.size() < most_kept)
        all.push_back({at.server, principal});
  }
  return all;
}

}  // namespace mcpbx::daemon::logins
