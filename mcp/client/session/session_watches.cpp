// Subscriptions of a conversation: one subscriptions/listen of a modern server for everything that is wanted
// (2026-07-28, patterns, "Subscriptions"), resources/subscribe and logging/setLevel of a legacy one.
#include "mcp/client/session/session_core.hpp"
#include "mcp/protocol/revisions.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace mcpbx::mcp::session {
namespace {

constexpr rpc::call_limits subscribe_limits{milliseconds(60'000), milliseconds(60'000)};
constexpr milliseconds first_listen_gap{1'000}, most_listen_gap{60'000};
/// Time in which a server should acknowledge a subscription.
constexpr milliseconds longest_acknowledgment{5'000};

rpc::call_outcome accepted_watch() {
  return {rpc::call_outcome::kind::result, json::raw_json::literal("{}"), {}};
}

rpc::call_outcome not_accepted(const std::string& what) {
  return rpc::call_outcome::failed(errc::unavailable, "accepts no subscription to the " + what);
}

/// Returns the members of `asked` that are not in the list `agreed`.
std::set<std::string, std::less<>> left_out(std::set<std::string, std::less<>> asked, const json::raw_json& agreed) {
  json::for_each_element(agreed, [&](const json::raw_json& one) {
    if (const auto key = one.as_string()) asked.erase(*key);
    return !asked.empty();
  });
  return asked;
}

std::string quoted_list(const std::set<std::string, std::less<>>& texts) {
  std::string out;
  for (const std::string& text : texts) out += (out.empty() ? "" : ",") + json::json_quoted(text);
  return "[" + out + "]";
}

}  // namespace

bool session_core::may_listen() const {
  return (watches() && !uris_refused_) || std::ranges::any_of(lists_, &kept_list::tells);
}

// Returns true unless it is marked with a subscription other than the present one or the one that it replaces.
bool session_core::of_subscription(const json::raw_json& params) const {
  if (era_ != clients::era::modern) return true;
  const json::raw_json mark =
      json::find_member(json::find_member(params, "_meta"), protocol::meta_key::subscription_id);
  if (!mark) return true;
  const auto number = mark.as_integer();
  return number && *number != 0 && (*number == listen_ || *number == former_listen_);
}

// The mark names a request of ours, which means nothing to those who watch.
json::raw_json session_core::without_mark(const json::raw_json& params) const {
  const json::raw_json old = json::find_member(params, "_meta");
  if (era_ != clients::era::modern || !json::find_member(old, protocol::meta_key::subscription_id)) return params;
  auto object = json::raw_object::open(params);
  auto meta = json::raw_object::open(old);
  if (!object || !meta) return params;
  meta->erase(protocol::meta_key::subscription_id);
  if (meta->json().text() == "{}")
    object->erase("_meta");
  else
    object->set("_meta", meta->json());
  return object->json();
}

void session_core::open_listen() {
  listen_at_ = never;
  listen_since_ = now_;
  std::string wanted;
  for (const kept_list& list : lists_) {
    const std::string member = json::json_quoted(list.kind().listen_member) + ":true";
    // Kinds that share a capability share one member of the subscription.
    if (list.tells() && !wanted.contains(member)) wanted += (wanted.empty() ? "" : ",") + member;
  }
  if (watches() && !uris_refused_) {
    const auto want = [&](std::string_view member, const std::set<std::string, std::less<>>& all) {
      if (!all.empty()) wanted += (wanted.empty() ? "" : ",") + json::json_quoted(member) + ":" + quoted_list(all);
    };
    unanswered_ = watched_;
    unanswered_tasks_ = watched_tasks_;
    acknowledged_until_ = now_ + longest_acknowledgment;
    want("resourceSubscriptions", watched_);
    want("taskIds", watched_tasks_);
  }
  // A server refuses to tell of tasks without the capability (extension tasks, "Task Status Notifications").
  const json::raw_json capabilities =
      watched_tasks_.empty() ? json::raw_json()
                             : json::raw_json::literal(R"({"extensions":{"io.modelcontextprotocol/tasks":{}}})");
  // The number is known before the request is sent, since the answer may come at once in tests and in memory.
  const rpc::call_number number = pending_.next_number();
  listen_ = number;
  request(
      "subscriptions/listen", json::raw_json::own("{\"notifications\":{" + wanted + "}}"), no_limits,
      [this, number](const rpc::call_outcome& o) { listen_ended(number, o); }, capabilities);
}

void session_core::end_listen(rpc::call_number listen, std::string_view why) {
  if (listen == 0 || !pending_.contains(listen)) return;
  send_cancelled(listen, why);
  pending_.close(listen, rpc::call_outcome::failed(errc::cancelled, std::string(why)));
}

// Opens the subscription again, because it has ended or something else is wanted. The one before, if it is still open,
// ends when the new one is acknowledged; what it brings until then counts, so nothing is missed.
void session_core::listen_again() {
  listen_at_ = never;
  if (phase_ == phase::closed) return;
  if (listen_ != 0) {
    if (!may_listen()) return end_listen(std::exchange(listen_, 0), "nobody listens any more");
    former_listen_ = listen_;
    acknowledged_until_ = now_ + longest_acknowledgment;
    return open_listen();
  }
  if (!may_listen()) return;
  open_listen();
  for (kept_list& list : lists_)
    if (list.tells()) list.changed(now_);  // changes may have been missed in between
}

// "the subset of the requested notification types that the server has agreed to honor" (2026-07-28, subscriptions,
// acknowledgement). A server that says nothing of it, or nothing at all, has agreed to everything.
void session_core::listen_acknowledged(rpc::call_number listen, const json::raw_json& params) {
  if (listen != listen_) return;
  acknowledged_until_ = never;
  if (const json::raw_json agreed = json::find_member(params, "notifications"); agreed.is_object()) {
    const auto uris = std::exchange(unanswered_, {}), tasks = std::exchange(unanswered_tasks_, {});
    const auto out = left_out(uris, json::find_member(agreed, "resourceSubscriptions"));
    for (const std::string& uri : uris)
      events_.session_watched(uri, out.contains(uri) ? not_accepted("resource") : accepted_watch());
    const auto tasks_out = left_out(tasks, json::find_member(agreed, "taskIds"));
    for (const std::string& id : tasks)
      events_.session_task_watched(id, tasks_out.contains(id) ? not_accepted("task") : accepted_watch());
  }
  tell_watched(accepted_watch());
  end_listen(std::exchange(former_listen_, 0), "another subscription takes its place");
  if (listen_stale_) {
    listen_stale_ = false;
    listen_at_ = now_;
  }
}

// Reports this answer for all resources of the subscription that is being opened.
void session_core::tell_watched(const rpc::call_outcome& answer) {
  for (const std::string& uri : std::exchange(unanswered_, {})) events_.session_watched(uri, answer);
  for (const std::string& id : std::exchange(unanswered_tasks_, {})) events_.session_task_watched(id, answer);
}

void session_core::listen_ended(rpc::call_number listen, const rpc::call_outcome& outcome) {
  if (phase_ == phase::closed) return;
  if (listen == former_listen_) {
    former_listen_ = 0;
    acknowledged_until_ = never;
    return;
  }
  if (listen != listen_) return;
  // The one that was to be replaced stays, if there is one.
  listen_ = std::exchange(former_listen_, 0);
  acknowledged_until_ = never;
  if (outcome.type == rpc::call_outcome::kind::error) {
    const auto refused = json::find_member(outcome.value, "code").as_integer();
    if (refused == rpc::code::method_not_found || refused == rpc::code::invalid_params ||
        refused == protocol::mcp_code::missing_client_capability) {
      if (watches() && !uris_refused_) {
        // It may be the resources that it does not like: the lists matter more.
        uris_refused_ = true;
        log_sometimes("refuses a subscription to resources: " + failure_text(outcome));
        tell_watched(outcome);
        if (listen_ == 0) listen_at_ = now_;
        return;
      }
      std::string unheard;
      for (kept_list& list : lists_) {
        if (list.tells()) unheard += (unheard.empty() ? "" : ", ") + list.kind().plural();
        list.stop_telling();
        if (list.offered() && list.known()) events_.session_hints(list.kind(), list.hints());
      }
      return log_sometimes("refuses subscriptions/listen, so a change of its " + unheard +
                           " is noticed only if it reports it all the same, or after the ttlMs of the list");
    }
  }
  tell_watched(accepted_watch());  // it is opened again
  if (listen_ != 0) return;
  if (now_ - listen_since_ >= most_listen_gap) listens_failed_ = 0;
  listen_at_ = now_ + std::min(most_listen_gap, first_listen_gap * (1 << std::min(listens_failed_++, 6)));
}

void session_core::watch(const std::set<std::string, std::less<>>& uris, time_point now,
                         const std::set<std::string, std::less<>>& tasks) {
  now_ = now;
  if (phase_ != phase::ready || (uris == watched_ && tasks == watched_tasks_)) return;
  const auto before = std::exchange(watched_, uris);
  watched_tasks_ = tasks;
  if (era_ == clients::era::modern) {
    uris_refused_ = false;
    if (reopens())
      listen_stale_ = true;  // the one that is being opened has another set: it is acknowledged first
    else if (listen_at_ == never || listen_ != 0)
      listen_again();
    return;
  }
  for (const std::string& uri : before)
    if (!watched_.contains(uri) && refused_.erase(uri) == 0) subscribe(uri, false);
  for (const std::string& uri : watched_)
    if (!before.contains(uri)) subscribe(uri, true);
}

void session_core::subscribe(const std::string& uri, bool on) {
  request(on ? "resources/subscribe" : "resources/unsubscribe",
          json::raw_json::own("{\"uri\":" + json::json_quoted(uri) + "}"), subscribe_limits,
          [this, on, uri](const rpc::call_outcome& o) {
            if (phase_ == phase::closed) return;
            if (o.type != rpc::call_outcome::kind::result)
              log_sometimes((on ? "answered resources/subscribe with " : "answered resources/unsubscribe with ") +
                            failure_text(o));
            if (!on) return;
            if (o.type == rpc::call_outcome::kind::error && watched_.contains(uri)) refused_.insert(uri);
            // A lost connection says nothing: the next one asks again.
            if (o.type == rpc::call_outcome::kind::failed && o.failure.code != errc::timed_out) return;
            events_.session_watched(uri, o);
          });
}

void session_core::set_log_level(std::string_view level, time_point now) {
  now_ = now;
  if (phase_ != phase::ready || era_ != clients::era::legacy || level.empty() || level == log_level_) return;
  log_level_ = level;
  request("logging/setLevel", json::raw_json::own("{\"level\":" + json::json_quoted(level) + "}"), subscribe_limits,
          [this](const rpc::call_outcome& o) {
            if (o.type != rpc::call_outcome::kind::result && phase_ != phase::closed)
              log_sometimes("answered logging/setLevel with " + failure_text(o));
          });
}

}  // namespace mcpbx::mcp::session
