// Asks the daemon whether noted sessions are still there.
#include "daemon/cli/base/session_choice.hpp"

#include "daemon/cli/link/last_sessions.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>

namespace mcpbx::cli {
namespace {

constexpr int most_looked_at = 1000;
constexpr std::size_t shortest_beginning = 4;  // of an id, so that a few characters are not taken for one

}  // namespace

std::string session_of_place(link::daemon_connection& link) {
  for (const auto& session : link::last_sessions::of_user().of(link::own_places())) {
    const auto got = link.call("mcpbx/sessions/get", json::json_object("session", session, "limit", 0));
    const bool gone = got && json::member_text(json::find_member(got->error, "data"), "cause") == "not_found";
    if (!gone) return session;
  }
  return {};
}

void note_session(std::string_view session) {
  if (!session.empty()) link::last_sessions::of_user().note(session, link::own_places());
}

std::string near_session(link::daemon_connection& link, std::string_view params) {
  const auto read = json::raw_json::parse(params);
  const auto id = read ? json::member_text(*read, "session") : "";
  const auto listed = link.call("mcpbx/sessions/list", json::json_object("limit", most_looked_at, "all", true));
  if (id.empty() || !listed || listed->error) return {};
  std::vector<std::string> ids;
  json::for_each_element(json::find_member(listed->result, "sessions"), [&](const json::raw_json& s) {
    ids.push_back(json::member_text(s, "session"));
    return true;
  });
  std::vector<std::string_view> known;
  if (id.size() >= shortest_beginning)
    for (const auto& one : ids)
      if (one.starts_with(id) || one.starts_with("ses_" + id)) known.emplace_back(one);
  if (known.size() == 1) return " (did you mean \"" + std::string(known.front()) + "\"?)";
  known.assign(ids.begin(), ids.end());
  return did_you_mean(id, known);
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
