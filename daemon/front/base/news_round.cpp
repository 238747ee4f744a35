// Readers in groups, each told and written to before the next one.
#include "daemon/front/base/news_round.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>

namespace mcpbx::daemon::front {

void news_reader::leave() noexcept {
  if (round_ != nullptr) round_->forget(*this);
}

news_round::~news_round() {
  while (first_ != nullptr) forget(*first_);
}

void news_round::enter(news_reader& r) noexcept {
  r.leave();
  r.round_ = this;
  r.before_ = last_;
  (last_ != nullptr ? last_->behind_ : first_) = &r;
  last_ = &r;
}

void news_round::forget(news_reader& r) noexcept {
  for (const auto& one : under_way_)
    if (const auto t = one.lock()) {
      if (t->next == &r) t->next = t->last == &r ? nullptr : r.behind_;
      if (t->last == &r) t->last = r.before_;
    }
  (r.before_ != nullptr ? r.before_->behind_ : first_) = r.behind_;
  (r.behind_ != nullptr ? r.behind_->before_ : last_) = r.before_;
  r.round_ = nullptr;
  r.before_ = r.behind_ = nullptr;
}

void news_round::changed(const mcp::protocol::feature_kind& kind, const boost::asio::any_io_executor& executor) {
  if (std::ranges::find(changed_, &kind) != changed_.end()) return;
  changed_.push_back(&kind);
  if (changed_.size() > 1) return;
  boost::asio::post(executor, [this, executor, alive = std::weak_ptr(alive_)] {
    if (!alive.expired()) begin(executor);
  });
}

void news_round::begin(const boost::asio::any_io_executor& executor) {
  const auto t = std::make_shared<telling>(std::exchange(changed_, {}), first_, last_);
  std::erase_if(under_way_, [](const auto& one) { return one.expired(); });
  under_way_.push_back(t);
  tell(executor, t);
}

void news_round::tell(const boost::asio::any_io_executor& executor, const std::shared_ptr<telling>& t) {
  const std::weak_ptr alive(alive_);
  std::vector<std::weak_ptr<outlet>> asked;
  for (std::size_t told = 0; told < per_turn && t->next != nullptr; ++told) {
    news_reader& reader = *t->next;
    t->next = t->last == &reader ? nullptr : reader.behind_;
    __builtin_prefetch(t->next);
    open_ = true;
    for (const auto* kind : t->what) {
      reader.list_changed(*kind);
      if (alive.expired()) return;  // a reader may end everything
      if (reader.round_ != this) break;
    }
    open_ = false;
    asked.swap(outlets_);
    for (const auto& o : asked)
      if (const auto outlet = o.lock()) {
        outlet->deliver();
        if (alive.expired()) return;
      }
    asked.clear();
  }
  if (t->next == nullptr) return;
  boost::asio::post(executor, [this, executor, alive, t] {
    if (!alive.expired()) tell(executor, t);
  });
}

bool news_round::take(std::weak_ptr<outlet> o) {
  if (open_) outlets_.push_back(std::move(o));
  return open_;
}

}  // namespace mcpbx::daemon::front
