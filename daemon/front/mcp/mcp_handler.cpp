// Checks of the headers, and the choice between session and single request.
#include "daemon/front/mcp/mcp_handler.hpp"

#include "daemon/front/base/door_context.hpp"
#include "daemon/front/mcp/accepted.hpp"
#include "daemon/front/mcp/mcp_refusal.hpp"
#include "daemon/front/mcp/mcp_room.hpp"
#include "daemon/front/mcp/modern_headers.hpp"
#include "daemon/front/mcp/posted_message.hpp"
#include "mcp/server/base/rpc_errors.hpp"
#include "mcp/support/percent.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::daemon::mcp_door {
namespace {

constexpr std::string_view session_header = "mcp-session-id", last_event_header = "last-event-id";

void refuse(routes::exchange& x, const mcp_refusal& r, std::vector<http::header> headers = {}) {
  auto answer = refusal_answer(r);
  for (auto& h : headers) answer.headers.push_back(std::move(h));
  x.refuse(std::move(answer));
}

void refuse_for(routes::exchange& x, const error& why, const mcp::rpc::rpc_id& id = {}) {
  refuse(x, {503, mcp::server::to_rpc_error(why), id}, {{"Retry-After", "1"}});
}

/// Returns the value of a parameter of the query, decoded; "" without one.
std::string query_value(std::string_view target, std::string_view name) {
  auto query = target.substr(std::min(target.find('?'), target.size()));
  while (!query.empty()) {
    query.remove_prefix(1);
    const auto one = query.substr(0, query.find('&'));
    query.remove_prefix(one.size());
    if (one.size() > name.size() && one.starts_with(name) && one[name.size()] == '=')
      return percent_decoded(one.substr(name.size() + 1));
  }
  return {};
}

/// Returns the caller; nothing after a refusal, because there is no such profile.
std::optional<mcp_identity> identity_of(routes::exchange& x) {
  mcp_identity who{x.principal(), query_value(x.head().target, "profile")};
  if (who.profile.empty()) return who;
  if (const auto known = x.door().settings.chat()->base("", who.profile); !known) {
    refuse(x, mcp_refusal::invalid_request(404, "profile: " + known.error().message));
    return {};
  }
  return who;
}

/// Returns the session that the header names; null after a refusal.
std::shared_ptr<mcp_session> session_of(routes::exchange& x, const mcp_identity& who, const mcp::rpc::rpc_id& id = {}) {
  const auto name = trimmed(http::find_header(x.head().headers, session_header));
  if (name.empty()) {
    auto r = mcp_refusal::invalid_request(
        400, "Mcp-Session-Id is missing: begin a session with initialize, or send requests of revision 2026-07-28");
    r.id = id;
    refuse(x, r);
    return nullptr;
  }
  auto found = x.door().mcp->find(name, who);
  if (found) return found;
  auto r = mcp_refusal::invalid_request(404, "Mcp-Session-Id: there is no such session any more; begin another one");
  r.id = id;
  refuse(x, r);
  return nullptr;
}

void answer_modern(const std::shared_ptr<routes::exchange>& x, const mcp_identity& who, posted_message&& posted) {
  mcp::rpc::message& m = posted.m;
  // This revision has no notification for a server over HTTP; unknown ones mean nothing.
  if (m.type == mcp::rpc::message::kind::notification) return x->answer({202, {}, {}});
  auto& door = x->door();
  bool known = true;
  const auto definition = [&](std::string_view tool) {
    const auto found = door.tools_for(who.profile)->find(tool);
    known = found != nullptr;
    return found ? found->definition : json::raw_json();
  };
  if (auto wrong = check_modern_headers(x->head().headers, m, posted.revision, definition))
    return refuse(*x, {400, std::move(*wrong), m.id});
  std::shared_ptr<void> place;
  if (m.method() == "subscriptions/listen") {
    auto taken = door.mcp->take_stream_place(who.principal, x->on_port());
    if (!taken) return refuse_for(*x, taken.error(), m.id);
    place = std::move(*taken);
  }
  // The call waits for servers that are starting: its tool may come.
  single_request::late_check check;
  if (!known)
    check = [headers = x->head().headers, m, revision = posted.revision](const json::raw_json& came) {
      return check_modern_headers(headers, m, revision, [&](std::string_view) { return came; });
    };
  door.mcp->make_request(who, x->pid())->start(x, std::move(m), std::move(place), std::move(check));
}

void answer_legacy(const std::shared_ptr<routes::exchange>& x, const mcp_identity& who, mcp::rpc::message&& m) {
  auto& room = *x->door().mcp;
  std::shared_ptr<mcp_session> session;
  const bool begins = m.type == mcp::rpc::message::kind::request && m.method() == "initialize" &&
                      http::find_header(x->head().headers, session_header).empty();
  if (begins) {
    auto made = room.make_session(who, x->pid());
    if (!made) return refuse_for(*x, made.error(), m.id);
    session = std::move(*made);
  } else {
    session = session_of(*x, who, m.id);
    if (!session) return;
  }
  session->post(x, std::move(m));
  // The room lives: a door that is closed from inside is destroyed in a later turn.
  if (!session->usable()) room.end(session);
}

/// Returns false after a refusal: the header names no revision with sessions.
bool names_session_revision(routes::exchange& x, std::string_view allowed) {
  switch (revision_in(x.head())) {
    case named_revision::none:
    case named_revision::legacy:
      return true;
    case named_revision::modern:
      refuse(x,
             mcp_refusal::invalid_request(405,
                                          "revision 2026-07-28 has POST only: it has no sessions, and streams are "
                                          "opened by subscriptions/listen"),
             {{"Allow", std::string(allowed)}});
      return false;
    case named_revision::unknown:
      break;
  }
  refuse(x, mcp_refusal::invalid_request(400, "MCP-Protocol-Version names no revision that is spoken here"));
  return false;
}

}  // namespace

void handle_mcp_post(const std::shared_ptr<routes::exchange>& x) {
  const auto& headers = x->head().headers;
  if (!accepts(headers, "application/json") || !accepts(headers, "text/event-stream"))
    return refuse(*x, mcp_refusal::invalid_request(
                          406, "Accept must list both application/json and text/event-stream for a POST"));
  const auto who = identity_of(*x);
  if (!who) return;
  auto posted = read_post(x->head(), x->take_body(), x->door().settings.framing.max_depth);
  if (!posted) return refuse(*x, posted.error());
  if (posted->modern) return answer_modern(x, *who, std::move(*posted));
  answer_legacy(x, *who, std::move(posted->m));
}

void handle_mcp_get(const std::shared_ptr<routes::exchange>& x) {
  if (!names_session_revision(*x, "POST")) return;
  if (!accepts(x->head().headers, "text/event-stream"))
    return refuse(*x, mcp_refusal::invalid_request(406, "Accept must list text/event-stream for a GET"));
  const auto who = identity_of(*x);
  if (!who) return;
  const auto session = session_of(*x, *who);
  if (!session) return;
  auto place = x->door().mcp->take_stream_place(who->principal, x->on_port());
  if (!place) return refuse_for(*x, place.error());
  session->get(x, trimmed(http::find_header(x->head().headers, last_event_header)), std::move(*place));
}

void handle_mcp_delete(const std::shared_ptr<routes::exchange>& x) {
  if (!names_session_revision(*x, "POST")) return;
  const auto who = identity_of(*x);
  if (!who) return;
  const auto session = session_of(*x, *who);
  if (!session) return;
  x->door().mcp->end(session);
  x->answer({200, {}, {}});
}

}  // namespace mcpbx::daemon::mcp_door
