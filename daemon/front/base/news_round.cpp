// Readers in groups, each told and written to before the next one.
#include "daemon/front/base/news_round.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>

namespace mcpbx::daemon {

void news_round::changed(const mcp::feature_kind& kind, const boost::asio::any_io_executor& executor,
                         std::function<readers()> all) {
  if (std::ranges::find(changed_, &kind) != changed_.end()) return;
  changed_.push_back(&kind);
  if (changed_.size() > 1) return;
  boost::asio::post(executor, [this, executor, all = std::move(all), alive = std::weak_ptr(alive_)] {
    if (!alive.expired()) tell(executor, all(), std::exchange(changed_, {}), 0);
  });
}

void news_round::tell(const boost::asio::any_io_executor& executor, readers to, kinds what, std::size_t at) {
  const std::weak_ptr alive(alive_);
  for (const auto end = std::min(at + per_turn, to.size()); at < end; ++at) {
    const auto reader = to[at].lock();
    if (!reader) continue;
    open_ = true;
    for (const auto* kind : what) reader->list_changed(*kind);
    if (alive.expired()) return;  // a reader may end everything
    open_ = false;
    for (const auto& o : std::exchange(outlets_, {}))
      if (const auto outlet = o.lock()) outlet->deliver();
    if (alive.expired()) return;
  }
  if (at == to.size()) return;
  boost::asio::post(executor, [this, executor, alive, to = std::move(to), what = std::move(what), at]() mutable {
    if (!alive.expired()) tell(executor, std::move(to), std::move(what), at);
  });
}

bool news_round::take(std::weak_ptr<outlet> o) {
  if (open_) outlets_.push_back(std::move(o));
  return open_;
}

}  // namespace mcpbx::daemon
