// Keeps the lists of a conversation: pages, and changes that the server reports.
#include "mcp/client/session/session_core.hpp"
#include "mcp/protocol/eras.hpp"
#include "mcp/support/log.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::mcp::session {
namespace {

constexpr rpc::call_limits page_limits{milliseconds(60'000), milliseconds(60'000)};

}  // namespace

void session_core::ask_page(kept_list& list) {
  list.requested(request(list.kind().list_method, list.params(), limits_of_page(list.kind()),
                         [this, &list](const rpc::call_outcome& o) { on_page(list, o); }));
}

// The start time-out bounds the first list of tools. Any other list gets half of it, so that one that never comes costs
// the server no tools.
rpc::call_limits session_core::limits_of_page(const protocol::feature_kind& kind) const {
  if (phase_ != phase::listing) return page_limits;
  if (kind.id == protocol::kind_id::tools) return no_limits;
  const auto left = std::max(std::chrono::ceil<milliseconds>(first_lists_until_ - now_), milliseconds(1));
  return {left, left};
}

bool session_core::is_page(rpc::call_number request) const {
  return std::ranges::any_of(lists_, [&](const kept_list& l) { return l.is_page(rpc::rpc_id::number(request)); });
}

void session_core::on_page(kept_list& list, const rpc::call_outcome& outcome) {
  if (phase_ == phase::closed) return;
  if (is_unknown_list(list.kind(), outcome)) return list_ended(list);
  if (outcome.type != rpc::call_outcome::kind::result) return list_failed(list, failure_text(outcome));
  const auto more = list.take_page(outcome.value, page_limit_ ? &*page_limit_ : nullptr);
  if (!more) return list_failed(list, "a result of the wrong shape: " + more.error().message);
  if (*more) return ask_page(list);
  list_ended(list);
}

// Returns true if the server does not know a further list of a capability that it has. Servers with resources and
// without templates often have no method for these.
bool session_core::is_unknown_list(const protocol::feature_kind& kind, const rpc::call_outcome& outcome) const {
  if (outcome.type != rpc::call_outcome::kind::error ||
      json::find_member(outcome.value, "code").as_integer() != rpc::code::method_not_found)
    return false;
  return std::ranges::find(options_.kinds, kind.capability, &protocol::feature_kind::capability)->id != kind.id;
}

void session_core::list_ended(kept_list& list) {
  const auto news = list.end_walk(now_);
  if (news.dropped) {
    for (const std::string& n : *news.dropped) log::warn("tool server \"" + options_.server + "\": " + n);
    events_.session_dropped(list.kind(), *news.dropped);
  }
  events_.session_hints(list.kind(), list.hints());
  if (news.mended) events_.session_problem({});
  if (news.differs) list.hold();
  end_told(list.kind());
  headers_known(list);
  pump();
}

// Publishes the lists of one notification together, once all that it made stale have been fetched, so that callers hear
// of one change once.
void session_core::end_told(const protocol::feature_kind& kind) {
  const auto same = [&](const kept_list& list) { return list.kind().changed == kind.changed; };
  if (phase_ == phase::ready &&
      std::ranges::any_of(lists_, [&](const kept_list& list) { return same(list) && list.awaits_told(); }))
    return;
  for (kept_list& list : lists_) {
    if (!same(list)) continue;
    const bool told = list.take_told();
    if (list.take_held()) publish(list);
    if (phase_ == phase::closed) return;
    if (told) events_.session_list_changed(list.kind());
    if (phase_ == phase::closed) return;
  }
}

void session_core::renew_headers(time_point now) {
  now_ = now;
  if (phase_ != phase::ready) return;
  for (kept_list& list : lists_)
    if (list.kind().id == protocol::kind_id::tools && list.offered()) {
      list.changed(now);
      headers_stale_ = true;
    }
  pump();
}

void session_core::headers_known(const kept_list& list) {
  if (list.kind().id == protocol::kind_id::tools && std::exchange(headers_stale_, false))
    events_.session_headers_renewed();
}

void session_core::list_failed(kept_list& list, const std::string& why) {
  const std::string text =
      "tool server \"" + options_.server + "\" answered " + std::string(list.kind().list_method) + " with " + why;
  if (list.fail_walk(now_, text)) log::warn(text);
  events_.session_problem(text);
  // A server whose list is broken still counts as up; the list is requested again.
  if (list.known()) {
    end_told(list.kind());
    return headers_known(list);
  }
  list.clear();
  events_.session_dropped(list.kind(), {});
  list.hold();
  end_told(list.kind());
}

void session_core::publish(kept_list& list) {
  if (options_.mirrors && era_ == clients::era::modern && list.kind().id == protocol::kind_id::tools)
    mirrored_ = protocol::header_params_of(*list.list());
  events_.session_list(list.kind(), list.list());
  if (phase_ != phase::listing || !std::ranges::all_of(lists_, &kept_list::known)) return;
  phase_ = phase::ready;
  events_.session_ready();
}

void session_core::on_list_changed(const rpc::message& m) {
  const auto told = [&](const kept_list& list) { return list.kind().changed == m.method(); };
  if (std::ranges::none_of(lists_, told)) return;
  if (!of_subscription(m.params)) return;
  for (kept_list& list : lists_)
    if (told(list)) list.told_changed(now_);
  pump();
}

void session_core::lists_wanted(time_point now) {
  now_ = now;
  if (phase_ != phase::ready || era_ != clients::era::modern) return;
  for (kept_list& list : lists_) list.wanted(now);
  pump();
}

void session_core::pump() {
  for (kept_list& list : lists_)
    if (phase_ == phase::ready && list.begin_again(now_)) ask_page(list);
}

}  // namespace mcpbx::mcp::session
