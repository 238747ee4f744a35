// The list of one kind that a tool server has: the walk that fetches it, the gate that says when it is fetched again,
// and the definitions that it left out. Knows no I/O; session_core asks for the pages and tells the news.
#pragma once
#include "mcp/client/catalog/refresh_gate.hpp"
#include "mcp/client/session/feature_lister.hpp"
#include "mcp/protocol/features.hpp"
#include "mcp/support/time.hpp"

#include <optional>
#include <string>
#include <vector>

namespace mcpbx::mcp {

class kept_list {
 public:
  /// `kind` must outlive the list.
  kept_list(const feature_kind& kind, feature_lister::options listing) : kind_(&kind), listing_(listing) {}

  const feature_kind& kind() const noexcept { return *kind_; }
  /// Takes from the server's capabilities whether it has this list, and from a modern server whether it tells of
  /// changes to a subscriber.
  void declare(const raw_json& capabilities, bool modern);
  bool offered() const noexcept { return offered_; }
  bool tells() const noexcept { return tells_; }
  /// The server refuses subscriptions, so it will not tell of changes.
  void stop_telling() noexcept { tells_ = false; }
  /// True once there is a list, be it an empty one for a server that has none.
  bool known() const noexcept { return list_ != nullptr; }
  const feature_list& list() const noexcept { return list_; }
  /// Makes the list an empty one.
  void clear();

  /// Begins the first walk, which nothing has to ask for.
  void begin();
  /// Returns true if a walk is to begin now; then it has begun.
  bool begin_again(time_point now);
  /// When begin_again() has something to say, or `never`.
  time_point next() const { return offered_ ? gate_.next() : never; }
  /// The server says that the list has changed, or may have.
  void changed(time_point now) { gate_.changed(now); }
  /// Somebody wants the list of a modern server that does not tell of changes: it counts as changed when it is stale.
  void wanted(time_point now);

  /// The params of the request for the next page.
  raw_json params() const { return lister_->params(); }
  /// See feature_lister::take_page().
  result<bool> take_page(const raw_json& page) { return lister_->take_page(page); }

  /// What a walk has found, as far as it is news.
  struct news {
    std::optional<std::vector<std::string>> dropped;  ///< what the list left out, one clause each
    bool differs = false;                             ///< list() is another one than before
  };
  /// Ends the walk with the pages that were taken.
  news end_walk(time_point now);
  /// Ends the walk without a list; another one begins after a while. True if the last walk did not fail with this text.
  bool fail_walk(time_point now, const std::string& problem);

 private:
  const feature_kind* kind_;
  feature_lister::options listing_;
  bool offered_ = false, tells_ = false;
  std::optional<feature_lister> lister_;  // while a walk runs
  feature_list list_;
  refresh_gate gate_;
  std::vector<std::string> notices_;
  std::string problem_;
  time_point stale_at_ = never;
};

}  // namespace mcpbx::mcp
