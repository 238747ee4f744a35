// All tool servers together: started at once, one catalog, stopped in order.
#include "mcp/client/supervise/supervisor.hpp"

#include "mcp/client/catalog/catalog_builder.hpp"
#include "mcp/client/supervise/managed_client.hpp"
#include "mcp/redact/hidden_text.hpp"
#include "mcp/support/log.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <cassert>
#include <deque>
#include <utility>

namespace mcpbx::mcp {
namespace {

/// Servers that end within this time of each other die together.
constexpr milliseconds together{250};

}  // namespace

class supervisor::impl final : public server_host, public std::enable_shared_from_this<supervisor::impl> {
 public:
  impl(time_source& time, random_source& random, options o)
      : time_(time), random_(random), options_(std::move(o)), soon_(std::make_shared<deferred>(time)) {}

  void start(std::vector<server_options> servers) {
    std::vector<catalog_builder::server> named;
    for (server_options& s : servers) {
      catalog_builder::server n{s.name, s.tools, s.plain_names, {}, s.calls, s.origin};
      n.calls.limits = s.limits;
      n.calls.serial = s.max_concurrency == 1;
      servers_.push_back(
          std::make_shared<managed_client>(std::move(s), server_context{time_, random_, *this, options_, soon_}));
      n.owner = servers_.back();
      index_.emplace(servers_.back().get(), named.size());
      named.push_back(std::move(n));
    }
    judged_.resize(named.size());
    builder_ = catalog_builder(std::move(named));
    for (const auto& s : servers_) s->start();
  }

  catalog_ptr snapshot() {
    if (std::exchange(stale_, false)) {
      auto next = builder_.build();
      for (const std::string& n : builder_.take_notices()) log::warn(n);
      // What was dropped is in no list that a caller reads.
      changed_ = changed_ || !std::ranges::equal(next->entries(), catalog_->entries()) ||
                 next->withheld() != catalog_->withheld();
      catalog_ = std::move(next);
    }
    return catalog_;
  }

  void when_settled(milliseconds at_most, std::function<void()> then) {
    for (const auto& s : servers_) s->wake_to_list();
    if (settled()) return soon_->post(std::move(then));  // nearly always: no limit is needed
    auto w = std::make_shared<waiter>();
    w->then = std::move(then);
    w->limit = time_.make_timer();
    waiters_.push_back(w);
    w->limit->arm(time_.now() + at_most, [this, weak = std::weak_ptr(w)] {
      if (const auto waiting = weak.lock()) settle(waiting);
    });
    server_moved();
  }

  std::vector<server_status> status() const {
    std::vector<server_status> all;
    for (std::size_t i = 0; i < servers_.size(); ++i) {
      all.push_back(servers_[i]->status());
      // Ready is who can be called: its tools are in the catalog.
      if (judged_[i].waits && judged_[i].decisions == 0 && all.back().state == server_state::ready)
        all.back().state = server_state::starting;
      all.back().pin_notice = judged_[i].notice;
      all.back().withheld = judged_[i].withheld;
    }
    return all;
  }

  result<void> restart(std::string_view name) {
    const auto found = std::ranges::find(servers_, name, [](const auto& s) { return std::string_view(s->name()); });
    if (found == servers_.end()) {
      std::vector<std::string_view> names;
      for (const auto& s : servers_) names.push_back(s->name());
      return fail(errc::not_found, "there is no tool server \"" + std::string(cut_utf8(printable(name), 100)) + "\"" +
                                       did_you_mean(name, names) + "; `mcpbx servers` lists them");
    }
    if ((*found)->configured().disabled)
      return fail(errc::invalid_argument, "tool server \"" + (*found)->name() +
                                              "\" is disabled in the configuration; take `disabled` out there");
    if (const auto& why = (*found)->configured().unusable; !why.empty())
      return fail(errc::invalid_argument, "tool server \"" + (*found)->name() + "\" cannot be started: " + why);
    if (stopping_) return fail(errc::unavailable, "mcpbx is stopping");
    (*found)->restart();
    return {};
  }

  void keeper_replaced() {
    std::size_t crowd = 0;
    for (const auto& s : servers_) s->retry_now(crowd++);
  }

  subscription on_catalog_change(std::function<void()> changed) {
    auto s = std::make_shared<std::function<void()>>(std::move(changed));
    std::erase_if(subscribers_, [](const auto& w) { return w.expired(); });
    subscribers_.push_back(s);
    return s;
  }

  void stop(std::function<void()> done, std::optional<milliseconds> grace) {
    stopping_ = true;
    on_stopped_.push_back(std::move(done));
    for (const auto& s : servers_) s->stop(grace.value_or(options_.stop_grace));
    server_moved();
  }

  std::size_t open_calls() const {
    std::size_t n = 0;
    for (const auto& s : servers_) n += s->open_calls();
    return n;
  }

  bool calling() const noexcept { return soon_->calling(); }

  void drop() {
    for (const auto& s : servers_) s->drop();
    waiters_.clear();
    soon_->clear();
  }

  // server_host

  void server_dropped(const managed_client& s, std::vector<std::string> why) override {
    builder_.set_dropped(index_.at(&s), std::move(why));
    change_soon();
  }
  void server_tools(const managed_client& s, tool_list tools) override {
    const std::size_t index = index_.at(&s);
    if (!options_.gate) return set_tools(index, std::move(tools), {});
    judged_[index].waits = true;
    const auto generation = ++judged_[index].generation;
    options_.gate->judge(s.name(), tools, [weak = weak_from_this(), index, generation, tools](definition_decision d) {
      const auto self = weak.lock();
      if (self && self->judged_[index].generation == generation) self->decided(index, tools, std::move(d));
    });
  }
  std::size_t server_ended(const managed_client&) override {
    const time_point now = time_.now();
    while (!ends_.empty() && now - ends_.front() > together) ends_.pop_front();
    ends_.push_back(now);
    return ends_.size() - 1;
  }

  void server_moved() override {
    if (waiters_.empty() && on_stopped_.empty() && told_settled_) return;
    if (std::exchange(look_posted_, true)) return;
    soon_->post([weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->look();
    });
  }

 private:
  // What the gate has said of a server's list.
  struct judgement {
    std::uint64_t generation = 0;  // of the list: decisions about an older one do not count
    bool waits = false;            // nothing said yet
    std::uint64_t decisions = 0;   // about all its lists
    std::string notice;
    std::size_t withheld = 0;
  };
  struct waiter {
    std::function<void()> then;
    std::unique_ptr<timer> limit;
  };

  void decided(std::size_t index, tool_list tools, definition_decision d) {
    judgement& j = judged_[index];
    j.waits = false;
    ++j.decisions;
    j.notice = std::move(d.notice);
    j.withheld = d.withheld ? d.withheld->size() : 0;
    set_tools(index, std::move(tools), std::move(d));
    server_moved();
  }

  void set_tools(std::size_t index, tool_list tools, definition_decision d) {
    builder_.set_tools(index, std::move(tools), std::move(d.withheld), std::move(d.prefixed));
    change_soon();
  }

  void change_soon() {
    stale_ = true;
    if (std::exchange(change_posted_, true)) return;
    soon_->post([weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->tell_change();
    });
  }

  void settle(const std::shared_ptr<waiter>& w) {
    w->limit->cancel();
    std::erase(waiters_, w);
    const deferred::call inside(soon_);
    if (const auto then = std::exchange(w->then, {})) then();
  }

  bool settled() const {
    return std::ranges::none_of(servers_, [](const auto& s) { return s->settling(); }) &&
           std::ranges::none_of(judged_, &judgement::waits);
  }

  void look() {
    look_posted_ = false;
    if (!told_settled_ && std::ranges::none_of(servers_, [](const auto& s) { return s->settling(); })) {
      told_settled_ = true;
      options_.gate->settled();
    }
    if (settled())
      for (const auto& w : std::vector(waiters_)) settle(w);
    if (stopping_ && std::ranges::all_of(servers_, [](const auto& s) { return s->ended(); }))
      for (const auto& done : std::exchange(on_stopped_, {}))
        if (done) done();
  }

  void tell_change() {
    change_posted_ = false;
    snapshot();
    if (!std::exchange(changed_, false)) return;
    for (const auto& weak : std::vector(subscribers_))
      if (const auto changed = weak.lock()) (*changed)();
  }

  time_source& time_;
  random_source& random_;
  options options_;
  std::shared_ptr<deferred> soon_;
  std::vector<std::shared_ptr<managed_client>> servers_;
  std::vector<judgement> judged_;  // by the server's number
  std::unordered_map<const managed_client*, std::size_t> index_;
  catalog_builder builder_{{}};
  catalog_ptr catalog_ = builder_.build();
  bool told_settled_ = options_.gate == nullptr;
  bool stale_ = false, changed_ = false, change_posted_ = false, look_posted_ = false, stopping_ = false;
  std::vector<std::weak_ptr<std::function<void()>>> subscribers_;
  std::vector<std::shared_ptr<waiter>> waiters_;
  std::vector<std::function<void()>> on_stopped_;
  std::deque<time_point> ends_;
};

supervisor::supervisor(time_source& time, random_source& random, options o)
    : impl_(std::make_shared<impl>(time, random, std::move(o))) {}
supervisor::~supervisor() {
  assert(!impl_->calling());  // see supervisor.hpp
  impl_->drop();
}

void supervisor::start(std::vector<server_options> servers) {
  impl_->start(std::move(servers));
}
catalog_ptr supervisor::snapshot() const {
  return impl_->snapshot();
}
void supervisor::when_settled(milliseconds at_most, std::function<void()> then) {
  impl_->when_settled(at_most, std::move(then));
}
std::vector<server_status> supervisor::status() const {
  return impl_->status();
}
result<void> supervisor::restart(std::string_view name) {
  return impl_->restart(name);
}
void supervisor::keeper_replaced() {
  impl_->keeper_replaced();
}
supervisor::subscription supervisor::on_catalog_change(std::function<void()> changed) {
  return impl_->on_catalog_change(std::move(changed));
}
void supervisor::stop(std::function<void()> done, std::optional<milliseconds> grace) {
  impl_->stop(std::move(done), grace);
}
std::size_t supervisor::open_calls() const {
  return impl_->open_calls();
}

}  // namespace mcpbx::mcp
