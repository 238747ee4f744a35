// Asks the daemon whether noted sessions are still there.
#include "daemon/cli/base/session_choice.hpp"

#include "daemon/cli/link/last_sessions.hpp"
#include "mcp/json/json_writer.hpp"

#include <algorithm>

namespace mcpbx::cli {

std::string session_of_place(daemon_connection& link) {
  for (const auto& session : last_sessions::of_user().of(own_places())) {
    const auto got = link.call("mcpbx/sessions/get", json_object("session", session, "limit", 0));
    const bool gone = got && member_text(find_member(got->error, "data"), "cause") == "not_found";
    if (!gone) return session;
  }
  return {};
}

void note_session(std::string_view session) {
  if (!session.empty()) last_sessions::of_user().note(session, own_places());
}

std::vector<std::string> split_globs(std::string_view globs) {
  std::vector<std::string> all;
  for (std::size_t at = 0; !globs.empty() && at <= globs.size();) {
    const auto comma = std::min(globs.find(',', at), globs.size());
    if (comma > at) all.emplace_back(globs.substr(at, comma - at));
    at = comma + 1;
  }
  return all;
}

}  // namespace mcpbx::cli
