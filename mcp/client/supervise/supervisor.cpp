// Runs all tool servers: started at once, stopped in order. Compares a new list of servers with the present one server
// by server. Their lists go to the kept_catalog.
#include "mcp/client/supervise/supervisor.hpp"

#include "mcp/client/supervise/instance_pool.hpp"
#include "mcp/client/supervise/kept_catalog.hpp"
#include "mcp/client/supervise/managed_client.hpp"
#include "mcp/redact/hidden_text.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <cassert>
#include <deque>
#include <optional>
#include <tuple>
#include <utility>

namespace mcpbx::mcp::supervise {
namespace {

/// Servers that end within this time of each other count as ended together.
constexpr milliseconds together{250};

}  // namespace

class supervisor::impl final : public server_host, public std::enable_shared_from_this<supervisor::impl> {
 public:
  impl(time_source& time, random_source& random, options o)
      : time_(time),
        random_(random),
        options_(std::move(o)),
        soon_(std::make_shared<clients::deferred>(time)),
        catalog_(std::make_shared<kept_catalog>(soon_, options_.kinds, options_.gate, [this] { server_moved(); })) {}

  void apply(std::vector<server_options> servers) {
    wanted_ = std::move(servers);
    if (std::exchange(applying_, true)) return;  // the outer call takes the new list at its end
    while (wanted_ && !stopping_) take(*std::exchange(wanted_, std::nullopt));
    applying_ = false;
    applied_ = true;
    tried_ = tried();
  }

  kept_catalog& kept() const { return *catalog_; }

  bool settled() const { return !starting() && !catalog_->waits(); }

  bool tried() const { return tried_ || (applied_ && !applying_ && !starting()); }

  void when_settled(milliseconds at_most, std::function<void()> then) {
    for (const auto& s : units()) s.client->wake_to_list();
    if (settled()) return soon_->post(std::move(then));  // the usual case: no time limit is needed
    auto w = std::make_shared<waiter>();
    w->then = std::move(then);
    w->limit = time_.make_timer();
    waiters_.push_back(w);
    w->limit->arm(time_.now() + at_most, [this, weak = std::weak_ptr(w)] {
      if (const auto waiting = weak.lock()) settle(waiting);
    });
    server_moved();
  }

  std::vector<clients::server_status> status() const {
    std::vector<clients::server_status> all;
    for (const slot& s : slots_) {
      all.push_back(s.client->status());
      clients::server_status& told = all.back();
      if (s.instances) s.instances->add_to(told);
      catalog_->add_to(*s.client, told);
      if (!s.begun && told.state == clients::server_state::stopped) told.state = clients::server_state::restarting;
    }
    return all;
  }

  result<void> restart(std::string_view name) {
    const auto found =
        std::ranges::find(slots_, name, [](const slot& s) { return std::string_view(s.client->name()); });
    if (found == slots_.end()) {
      std::vector<std::string_view> names;
      for (const slot& s : slots_) names.push_back(s.client->name());
      return fail(errc::not_found, "there is no tool server \"" + std::string(cut_utf8(redact::printable(name), 100)) +
                                       "\"" + did_you_mean(name, names) + "; `mcpbx servers` lists them");
    }
    const auto [client, instances] = static_cast<const processes&>(*found);
    if (client->configured().disabled)
      return fail(errc::invalid_argument, "tool server \"" + client->name() +
                                              "\" is disabled in the configuration; `mcpbx enable " +
                                              shell_word(client->name()) + "` enables it");
    if (const auto& why = client->configured().unusable; !why.empty())
      return fail(errc::invalid_argument, "tool server \"" + client->name() + "\" cannot be started: " + why);
    if (stopping_) return fail(errc::unavailable, "mcpbx is stopping");
    if (!found->begun) return {};  // it starts anyway
    client->restart();
    if (instances) instances->restart();
    return {};
  }

  void renew(std::string_view name, const std::function<bool(const std::string&)>& of, bool ready_too) {
    const auto found =
        std::ranges::find(slots_, name, [](const slot& s) { return std::string_view(s.client->name()); });
    if (found == slots_.end() || stopping_ || !found->begun) return;
    const auto [client, instances] = static_cast<const processes&>(*found);
    const auto& o = client->configured();
    if (o.disabled || !o.unusable.empty()) return;
    if (of({}) && (ready_too || client->state() != clients::server_state::ready)) client->restart();
    if (instances) instances->restart(of, ready_too);
  }

  void keeper_replaced() {
    std::size_t crowd = 0;
    for (const auto& s : units()) {
      s.client->retry_now(crowd++);
      if (!s.instances) continue;
      for (const auto& client : s.instances->clients()) client->retry_now(crowd++);
    }
  }

  void stop(std::function<void()> done, std::optional<milliseconds> grace) {
    stopping_ = true;
    on_stopped_.push_back(std::move(done));
    for (const auto& s : units()) s.stop(grace.value_or(options_.stop_grace), "mcpbx is stopping");
    for (const auto& s : std::vector(leaving_)) s.stop(grace.value_or(options_.stop_grace), "mcpbx is stopping");
    server_moved();
  }

  std::size_t open_calls() const {
    std::size_t n = 0;
    for (const slot& s : slots_) n += s.open_calls();
    for (const auto& s : leaving_) n += s.open_calls();
    return n;
  }

  bool calling() const noexcept { return soon_->calling(); }

  void drop() {
    for (const auto& s : units()) s.drop();
    for (const auto& s : leaving_) s.drop();
    waiters_.clear();
    soon_->clear();
  }

  // server_host

  void server_dropped(const managed_client& s, const protocol::feature_kind& kind,
                      std::vector<std::string> why) override {
    catalog_->take_dropped(s, kind, std::move(why));
  }
  void server_list(const managed_client& s, const protocol::feature_kind& kind, protocol::feature_list list) override {
    catalog_->take_list(s, kind, std::move(list));
  }
  void server_offered(const managed_client& s) override { catalog_->take_offers(s); }
  void server_hints(const managed_client& s, const protocol::feature_kind& kind,
                    const std::optional<catalogs::told_hints>& hints) override {
    catalog_->take_hints(s, kind, hints);
  }
  void server_list_changed(const managed_client& s, const protocol::feature_kind& kind) override {
    catalog_->take_change(s, kind);
  }
  std::size_t server_ended(const managed_client&) override {
    const time_point now = time_.now();
    while (!ends_.empty() && now - ends_.front() > together) ends_.pop_front();
    ends_.push_back(now);
    return ends_.size() - 1;
  }

  void server_moved() override {
    note_silent();
    tried_ = tried();
    if (waiters_.empty() && on_stopped_.empty() && leaving_.empty() && told_settled_) return;
    if (std::exchange(look_posted_, true)) return;
    soon_->post([weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->look();
    });
  }

 private:
  // All processes of one server.
  struct processes {
    std::shared_ptr<managed_client> client;
    std::shared_ptr<instance_pool> instances = nullptr;  // null: it is shared

    void stop(milliseconds grace, const std::string& why) const {
      client->stop(grace, why);
      if (instances) instances->stop(grace, why);
    }
    bool ended() const { return client->ended() && (!instances || instances->ended()); }
    std::size_t open_calls() const { return client->open_calls() + (instances ? instances->open_calls() : 0); }
    void drop() const {
      client->drop();
      if (instances) instances->drop();
    }
    std::shared_ptr<clients::client> owner() const {
      if (instances) return instances;
      return client;
    }
  };
  // A wanted server.
  struct slot : processes {
    bool begun = false;  // false: it waits for the end of a server that had its name
  };
  struct waiter {
    std::function<void()> then;
    std::unique_ptr<timer> limit;
  };

  // Takes a list of servers. A server that runs alike keeps its client, and with it its process and its calls.
  void take(std::vector<server_options> servers) {
    auto before = std::exchange(slots_, {});
    std::vector<kept_catalog::served> named;
    for (server_options& s : servers) {
      if (s.sharing != server_sharing::shared && s.idle_stop.count() == 0) s.idle_stop = instance_pool::usual_idle_stop;
      catalogs::catalog_builder::server n{s.name,   s.tools,   s.plain_names, {},          s.calls,
                                          s.origin, s.prompts, s.resources,   s.extensions};
      n.calls.limits = s.limits;
      n.calls.serial = s.max_concurrency == 1;
      const auto known = std::ranges::find_if(before, [&](const slot& b) { return runs_alike(b, s); });
      if (known != before.end()) {
        slots_.push_back(std::exchange(*known, {}));
        slots_.back().client->adjust(std::move(s));
        if (const auto instances = slots_.back().instances) instances->adjust();
      } else {
        slots_.push_back({start_of(std::move(s))});
      }
      n.owner = slots_.back().owner();
      named.push_back({slots_.back().client, std::move(n)});
    }
    catalog_->set_servers(std::move(named));
    for (const slot& b : before)
      if (b.client) leave(b);
    begin_free();
    server_moved();
  }

  // Returns true if the settings that need a new process are the same.
  static bool runs_alike(const slot& s, const server_options& o) {
    if (!s.client) return false;
    const server_options& now = s.client->configured();
    const auto what = [](const server_options& x) {
      return std::tie(x.name, x.identity, x.disabled, x.lazy, x.unusable, x.protocol, x.start_timeout, x.idle_stop,
                      x.sharing, x.extensions.named);
    };
    return what(now) == what(o);
  }

  processes start_of(server_options o) {
    const server_context context{time_, random_, *this, options_, soon_};
    const bool shared = o.sharing == server_sharing::shared;
    processes made{std::make_shared<managed_client>(std::move(o), context)};
    if (!shared) made.instances = std::make_shared<instance_pool>(made.client, context);
    return made;
  }

  void leave(const processes& server) {
    leaving_.push_back(server);
    const bool wanted =
        std::ranges::any_of(slots_, [&](const slot& s) { return s.client->name() == server.client->name(); });
    server.stop(options_.stop_grace, wanted ? "its configuration has changed" : "it is not configured any more");
  }

  // Starts servers whose name is free. Two processes of one name might want the same file, port or device.
  void begin_free() {
    for (std::size_t i = 0; i < slots_.size(); ++i) {  // by number: a start may lead to another list
      slot& s = slots_[i];
      if (s.begun || std::ranges::any_of(leaving_, [&](const auto& l) { return l.client->name() == s.client->name(); }))
        continue;
      s.begun = true;
      const auto client = s.client;
      client->start();
    }
  }

  // Returns copies, because work on one client may lead to another list.
  std::vector<processes> units() const { return {slots_.begin(), slots_.end()}; }

  // Notes the servers whose capabilities will never be known, so that nobody waits for their lists.
  void note_silent() {
    for (const slot& s : slots_) {
      const clients::server_state state = s.client->state();
      catalog_->set_silent(*s.client, state == clients::server_state::disabled ||
                                          (state == clients::server_state::failed && s.client->next_start() == never));
    }
  }

  void settle(const std::shared_ptr<waiter>& w) {
    w->limit->cancel();
    std::erase(waiters_, w);
    const clients::deferred::call inside(soon_);
    if (const auto then = std::exchange(w->then, {})) then();
  }

  bool starting() const {
    return std::ranges::any_of(slots_, [](const slot& s) { return !s.begun || s.client->settling(); });
  }

  // Looks at all servers after something has moved: starts those whose name is free now, reports settled and stopped.
  void look() {
    look_posted_ = false;
    std::erase_if(leaving_, [](const auto& s) { return s.ended(); });
    if (!stopping_) begin_free();
    if (!told_settled_ && !starting()) {
      told_settled_ = true;
      options_.gate->settled();
    }
    if (settled())
      for (const auto& w : std::vector(waiters_)) settle(w);
    if (stopping_ && leaving_.empty() && std::ranges::all_of(slots_, [](const slot& s) { return s.ended(); }))
      for (const auto& done : std::exchange(on_stopped_, {}))
        if (done) done();
  }

  time_source& time_;
  random_source& random_;
  options options_;
  std::shared_ptr<clients::deferred> soon_;
  std::shared_ptr<kept_catalog> catalog_;
  std::vector<slot> slots_;                            // in file order
  std::vector<processes> leaving_;                     // not wanted any more, and not gone yet
  std::optional<std::vector<server_options>> wanted_;  // a list that is yet to be taken
  bool told_settled_ = options_.gate == nullptr;
  bool applied_ = false, tried_ = false;
  bool look_posted_ = false, stopping_ = false, applying_ = false;
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

void supervisor::apply(std::vector<server_options> servers) {
  impl_->apply(std::move(servers));
}
catalogs::catalog_ptr supervisor::snapshot() const {
  return impl_->kept().snapshot();
}

protocol::feature_list supervisor::listed_tools(std::string_view server) const {
  return impl_->kept().listed_tools(server);
}
bool supervisor::settled() const {
  return impl_->settled();
}

bool supervisor::tried() const {
  return impl_->tried();
}

void supervisor::when_settled(milliseconds at_most, std::function<void()> then) {
  impl_->when_settled(at_most, std::move(then));
}
std::vector<clients::server_status> supervisor::status() const {
  return impl_->status();
}
result<void> supervisor::restart(std::string_view name) {
  return impl_->restart(name);
}
void supervisor::renew(std::string_view name, const std::function<bool(const std::string&)>& of, bool ready_too) {
  impl_->renew(name, of, ready_too);
}

void supervisor::keeper_replaced() {
  impl_->keeper_replaced();
}
supervisor::subscription supervisor::on_catalog_change(std::function<void(const protocol::feature_kind&)> changed) {
  return impl_->kept().on_change(std::move(changed));
}
void supervisor::stop(std::function<void()> done, std::optional<milliseconds> grace) {
  impl_->stop(std::move(done), grace);
}
std::size_t supervisor::open_calls() const {
  return impl_->open_calls();
}

}  // namespace mcpbx::mcp::supervise
