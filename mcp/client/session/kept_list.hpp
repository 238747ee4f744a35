// The list of one kind that a tool server has: the walk that fetches it, the gate that says when to fetch it again, and
// the definitions that were left out. Knows no I/O; session_core requests the pages and reports the news.
#pragma once
#include "mcp/client/catalog/list_hints.hpp"
#include "mcp/client/session/feature_lister.hpp"
#include "mcp/client/session/refresh_gate.hpp"
#include "mcp/protocol/features.hpp"
#include "mcp/rpc/pending_calls.hpp"
#include "mcp/rpc/rpc_message.hpp"
#include "mcp/support/time.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mcpbx::mcp::session {

class kept_list {
 public:
  /// Starts without a list. `kind` must outlive this object.
  kept_list(const protocol::feature_kind& kind, feature_lister::options listing) : kind_(&kind), listing_(listing) {}

  const protocol::feature_kind& kind() const noexcept { return *kind_; }
  /// Leaves out items that `check` refuses, beside those that the kind itself refuses.
  void check_by(feature_lister::item_check check) noexcept { listing_.check = check; }
  /// Reads from the server's capabilities if it has this list, and for a modern server if it reports changes to a
  /// subscriber.
  void declare(const json::raw_json& capabilities, bool modern);
  bool offered() const noexcept { return offered_; }
  bool tells() const noexcept { return tells_; }
  /// Notes that the server refuses subscriptions and so will not report changes.
  void stop_telling() noexcept { tells_ = false; }
  /// Returns true once there is a list, even an empty one of a server that has none.
  bool known() const noexcept { return list_ != nullptr; }
  const protocol::feature_list& list() const noexcept { return list_; }
  /// Makes the list an empty one.
  void clear();

  /// Begins the first walk, which needs no reason.
  void begin();
  /// Returns true if a walk is to begin now; then it has begun.
  bool begin_again(time_point now);
  /// Returns the time from which begin_again() may return true, or `never`.
  time_point next() const { return offered_ ? gate_.next() : never; }
  /// Notes that the list has changed, or may have.
  void changed(time_point now) { gate_.changed(now); }
  /// Notes that the server reports a change.
  void told_changed(time_point now) {
    if (!offered_) return;
    told_ = true;
    changed(now);
  }
  /// Returns true while a walk runs that will show a reported change, and no change has been shown since take_told().
  bool awaits_told() const noexcept { return told_walk_ && !told_shown_; }
  /// Returns true if a walk has ended that had to show a reported change, even if it failed. Asked once for each.
  bool take_told() noexcept { return std::exchange(told_shown_, false); }
  /// Keeps the list from being published until take_held().
  void hold() noexcept { held_ = true; }
  bool take_held() noexcept { return std::exchange(held_, false); }
  /// Notes that somebody wants the list. If it is stale and the (modern) server reports no changes, it counts as
  /// changed.
  void wanted(time_point now);

  /// Returns the params of the request for the next page.
  json::raw_json params() const { return lister_->params(); }
  /// Notes the number of that request.
  void requested(rpc::call_number page) noexcept { page_ = page; }
  /// Returns true if `id` is that of the page requested last.
  bool is_page(const rpc::rpc_id& id) const { return page_ != 0 && id == rpc::rpc_id::number(page_); }
  /// See feature_lister::take_page().
  result<bool> take_page(const json::raw_json& page, const feature_lister::depth_limit* depth) {
    return lister_->take_page(page, depth);
  }

  /// The news that a walk has brought.
  struct news {
    std::optional<std::vector<std::string>> dropped;  ///< items left out, one clause each
    bool differs = false;                             ///< list() differs from the one before
    bool mended = false;                              ///< the walk before had failed
  };
  /// Ends the walk with the pages that were taken.
  news end_walk(time_point now);
  /// Returns the hints of the last walk that brought a list. A legacy server gives none, so that nothing may be kept.
  catalogs::told_hints hints() const;
  /// Ends the walk without a list; another one begins later. Returns true unless the last walk failed with the same
  /// text.
  bool fail_walk(time_point now, const std::string& problem);

 private:
  const protocol::feature_kind* kind_;
  feature_lister::options listing_;
  bool offered_ = false, tells_ = false, modern_ = false;
  std::optional<feature_lister> lister_;  // present while a walk runs
  rpc::call_number page_ = 0;             // number of the page requested last
  protocol::feature_list list_;
  refresh_gate gate_;
  std::vector<std::string> notices_;
  std::string problem_;
  time_point stale_at_ = never;
  catalogs::told_hints hints_{};
  bool told_ = false;        // a reported change waits for a walk to begin
  bool told_walk_ = false;   // the walk that runs will show it
  bool told_shown_ = false;  // a walk has shown it
  bool held_ = false;

  void walk_begins();
  void walk_ends() noexcept { told_shown_ = std::exchange(told_walk_, false) || told_shown_; }
};

}  // namespace mcpbx::mcp::session
