// Keeps the lists of a conversation: pages, changes that the server reports, the subscription to them.
#include "mcp/client/session/session_core.hpp"
#include "mcp/protocol/eras.hpp"
#include "mcp/support/log.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::mcp {
namespace {

constexpr call_limits page_limits{milliseconds(60'000), milliseconds(60'000)};
constexpr milliseconds first_listen_gap{1'000}, most_listen_gap{60'000};

}  // namespace

void session_core::ask_page(kept_list& list) {
  list.requested(request(list.kind().list_method, list.params(), phase_ == phase::listing ? no_limits : page_limits,
                         [this, &list](const call_outcome& o) { on_page(list, o); }));
}

void session_core::on_page(kept_list& list, const call_outcome& outcome) {
  if (phase_ == phase::closed) return;
  if (outcome.type != call_outcome::kind::result) return list_failed(list, failure_text(outcome));
  const auto more = list.take_page(outcome.value, page_limit_ ? &*page_limit_ : nullptr);
  if (!more) return list_failed(list, "a result of the wrong shape: " + more.error().message);
  if (*more) return ask_page(list);
  list_ended(list);
}

void session_core::list_ended(kept_list& list) {
  const auto news = list.end_walk(now_);
  if (news.dropped) {
    for (const std::string& n : *news.dropped) log::warn("tool server \"" + options_.server + "\": " + n);
    events_.session_dropped(list.kind(), *news.dropped);
  }
  if (news.mended) events_.session_problem({});
  if (news.differs) publish(list);
  pump();
}

void session_core::list_failed(kept_list& list, const std::string& why) {
  const std::string text =
      "tool server \"" + options_.server + "\" answered " + std::string(list.kind().list_method) + " with " + why;
  if (list.fail_walk(now_, text)) log::warn(text);
  events_.session_problem(text);
  // A server whose list is broken still counts as up; the list is requested again.
  if (list.known()) return;
  list.clear();
  events_.session_dropped(list.kind(), {});
  publish(list);
}

void session_core::publish(kept_list& list) {
  if (options_.mirrors && era_ == era::modern && list.kind().id == kind_id::tools)
    mirrored_ = header_params_of(*list.list());
  events_.session_list(list.kind(), list.list());
  if (phase_ != phase::listing || !std::ranges::all_of(lists_, &kept_list::known)) return;
  phase_ = phase::ready;
  events_.session_ready();
}

void session_core::on_list_changed(const message& m) {
  const auto told = [&](const kept_list& list) { return list.kind().changed == m.method(); };
  if (std::ranges::none_of(lists_, told)) return;
  const raw_json subscription = find_member(find_member(m.params, "_meta"), meta_key::subscription_id);
  if (era_ == era::modern && subscription && subscription.as_integer() != listen_)
    return log_sometimes("sent a change for a subscription that is not open");
  for (kept_list& list : lists_)
    if (told(list)) list.changed(now_);
  pump();
}

void session_core::lists_wanted(time_point now) {
  now_ = now;
  if (phase_ != phase::ready || era_ != era::modern) return;
  for (kept_list& list : lists_) list.wanted(now);
  pump();
}

void session_core::pump() {
  for (kept_list& list : lists_)
    if (phase_ == phase::ready && list.begin_again(now_)) ask_page(list);
}

bool session_core::may_listen() const {
  return std::ranges::any_of(lists_, &kept_list::tells);
}

void session_core::open_listen() {
  listen_at_ = never;
  listen_since_ = now_;
  std::string wanted;
  for (const kept_list& list : lists_) {
    const std::string member = json_quoted(list.kind().listen_member) + ":true";
    // Kinds that share a capability share one member of the subscription.
    if (list.tells() && !wanted.contains(member)) wanted += (wanted.empty() ? "" : ",") + member;
  }
  listen_ = request("subscriptions/listen", raw_json::own("{\"notifications\":{" + wanted + "}}"), no_limits,
                    [this](const call_outcome& o) { listen_ended(o); });
}

void session_core::listen_ended(const call_outcome& outcome) {
  listen_ = 0;
  if (phase_ == phase::closed) return;
  if (outcome.type == call_outcome::kind::error) {
    const auto refused = find_member(outcome.value, "code").as_integer();
    if (refused == code::method_not_found || refused == code::invalid_params) {
      std::string unheard;
      for (kept_list& list : lists_) {
        if (list.tells()) unheard += (unheard.empty() ? "" : ", ") + list.kind().plural();
        list.stop_telling();
      }
      return log_sometimes("refuses subscriptions/listen, so a change of its " + unheard +
                           " is noticed only if it reports it all the same, or after the ttlMs of the list");
    }
  }
  if (now_ - listen_since_ >= most_listen_gap) listens_failed_ = 0;
  listen_at_ = now_ + std::min(most_listen_gap, first_listen_gap * (1 << std::min(listens_failed_++, 6)));
}

}  // namespace mcpbx::mcp
