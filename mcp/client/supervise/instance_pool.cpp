// Begins, finds and ends the instances of a server that is not shared, and numbers their tickets.
#include "mcp/client/supervise/instance_pool.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::mcp::supervise {
namespace {

/// Bits of a ticket that are the instance's own; the others are its number.
constexpr unsigned ticket_bits = 64 - instance_pool::number_bits;
constexpr clients::client::ticket own_part = (clients::client::ticket{1} << ticket_bits) - 1;

}  // namespace

instance_pool::instance_pool(std::shared_ptr<managed_client> lister, server_context context)
    : lister_(std::move(lister)), context_(std::move(context)) {
  // One for all instances, so that the calls of those that have ended count.
  context_.meter = std::make_shared<call_meter>(context_.time.now());
}

std::uint64_t instance_pool::next_number(std::uint64_t last, const std::function<bool(std::uint64_t)>& taken) {
  constexpr std::uint64_t largest = (std::uint64_t{1} << number_bits) - 1;
  do last = last % largest + 1;
  while (taken(last));
  return last;
}

clients::era instance_pool::era() const {
  if (lister_->era() != clients::era::unknown) return lister_->era();
  for (const auto& i : instances_)
    if (i.client->era() != clients::era::unknown) return i.client->era();
  return clients::era::unknown;
}

clients::client::ticket instance_pool::call(clients::server_call&& c) {
  const auto found = instance_for(c.scope);
  if (found) {
    const std::uint64_t number = (*found)->number;
    const auto client = (*found)->client;
    return (number << ticket_bits) | (client->call(std::move(c)) & own_part);
  }
  if (c.done)
    context_.soon->post([done = std::move(c.done), why = found.error()] mutable {
      done({rpc::call_outcome::kind::failed, {}, std::move(why)});
    });
  return 0;
}

void instance_pool::cancel(ticket t, std::string_view reason) {
  const auto found = std::ranges::find(instances_, t >> ticket_bits, &instance::number);
  if (found == instances_.end()) return;
  const auto client = found->client;
  client->cancel(t & own_part, reason);
}

clients::watch instance_pool::watch_resource_of(const clients::call_scope_ptr& scope, std::string_view uri,
                                                std::function<void(const json::raw_json&)> updated,
                                                clients::watch_decided decided) {
  const auto found = instance_for(scope);
  if (!found) return nullptr;
  const auto client = (*found)->client;
  return client->watch_resource(uri, std::move(updated), std::move(decided));
}

clients::watch instance_pool::watch_task_of(const clients::call_scope_ptr& scope, std::string_view id,
                                            std::function<void(const json::raw_json&)> told,
                                            clients::watch_decided decided) {
  const auto found = instance_for(scope);
  if (!found) return nullptr;
  const auto client = (*found)->client;
  return client->watch_task_of(scope, id, std::move(told), std::move(decided));
}

clients::watch instance_pool::watch_logs_of(const clients::call_scope_ptr& scope, std::string_view level,
                                            std::function<void(const json::raw_json&)> logged) {
  if (dropped_ || !scope) return watch_logs(level, std::move(logged));
  auto w = std::make_shared<log_watch>(log_watch{scope->caller(), std::string(level), std::move(logged), {}, {}});
  // A caller with an account of its own hears nothing about that of the others.
  w->at_lister = lister_->watch_logs(
      level, [pool = weak_from_this(), whose = scope->principal(), logged = w->logged](const json::raw_json& params) {
        const auto self = pool.lock();
        if (self && self->is_for_all(whose)) logged(params);
      });
  for (const auto& i : instances_)
    if (!i.left && i.caller.lock() == w->caller.lock()) watch_logs_at(i.client, *w);
  std::erase_if(log_watches_, [](const auto& one) { return one.expired(); });
  log_watches_.push_back(w);
  return w;
}

// The subject of a log is that of the instance that speaks.
void instance_pool::watch_logs_at(const std::shared_ptr<managed_client>& client, log_watch& w) {
  std::erase_if(w.at_instances, [](const auto& one) { return one.first.expired(); });
  auto held = client->watch_logs(w.level, [pool = weak_from_this(), from = std::weak_ptr(client),
                                           logged = w.logged](const json::raw_json& params) {
    const auto self = pool.lock();
    const auto speaker = from.lock();
    if (!self || !speaker) return;
    self->log_subject_ = speaker->log_subject();
    logged(params);
    self->log_subject_.clear();
  });
  w.at_instances.emplace_back(client, std::move(held));
}

result<instance_pool::instance*> instance_pool::instance_for(const clients::call_scope_ptr& scope) {
  const auto& o = lister_->configured();
  if (!scope) return fail(errc::internal, who() + " has a process for each caller, and this call names none");
  const auto key = o.sharing == server_sharing::per_run ? scope : scope->caller();
  const auto found = std::ranges::find_if(
      instances_, [&](const instance& i) { return i.key == key.get() && !i.left && !i.client->ended(); });
  if (found != instances_.end()) return &*found;
  return begin(key);
}

// Only a process that exists hears of it: a notification begins none.
void instance_pool::notify(const clients::call_scope_ptr& scope, std::string_view method,
                           const json::raw_json& params) {
  if (!scope) return;
  const auto key = lister_->configured().sharing == server_sharing::per_run ? scope : scope->caller();
  const auto found = std::ranges::find_if(instances_, [&](const instance& i) { return i.key == key.get() && !i.left; });
  if (found == instances_.end()) return;
  const auto client = found->client;
  client->notify(scope, method, params);
}

// Returns true for an instance that has no process and no work, so that nothing is lost with it.
bool instance_pool::stands_still(const instance& i) const {
  if (i.client->open_calls() != 0) return false;
  const auto state = i.client->state();
  return state == clients::server_state::lazy || state == clients::server_state::failed ||
         state == clients::server_state::crash_loop;
}

result<instance_pool::instance*> instance_pool::begin(const clients::call_scope_ptr& scope) {
  const auto& o = lister_->configured();
  if (stopping_)
    return fail(errc::unavailable, who() + " takes no new calls: mcpbx is stopping, or its entry has changed");
  if (o.disabled) return fail(errc::unavailable, who() + " is disabled in the configuration");
  if (!o.unusable.empty()) return fail(errc::unavailable, who() + " cannot be started: " + o.unusable);
  if (o.connect_in && scope->cwd().empty())
    return fail(errc::invalid_argument,
                who() +
                    " runs in the working directory of its caller (cwd: \"caller\"), and this caller has not told "
                    "it; give cwd in mcpbx/hello, or name a directory in the entry");
  if (instances_.size() >= o.max_instances) {
    const auto idle = std::ranges::find_if(instances_, [&](const instance& i) { return stands_still(i); });
    if (idle == instances_.end())
      return fail(errc::limit, who() + " has " + std::to_string(instances_.size()) +
                                   " processes already, one for each " +
                                   (o.sharing == server_sharing::per_run ? "run" : "caller") +
                                   " (maxInstances); try again when one has ended");
    idle->left = true;
    const auto client = idle->client;
    client->stop(milliseconds(0), "another caller needs its place");
    const auto again = std::ranges::find(instances_, client, &instance::client);
    if (again != instances_.end()) {
      client->drop();
      context_.soon->post([client] {});
      instances_.erase(again);
    }
  }
  server_context context{context_.time, context_.random, *this, context_.options, context_.soon, context_.meter};
  auto client =
      std::make_shared<managed_client>(instance_options(scope->cwd(), scope->principal()), std::move(context));
  const clients::call_scope_ptr caller = scope->caller();
  client->serve(scope);
  last_number_ = next_number(last_number_, [&](std::uint64_t n) {
    return std::ranges::find(instances_, n, &instance::number) != instances_.end();
  });
  instances_.push_back({scope.get(), caller, scope->label(), scope->principal(), last_number_, client});
  for (const auto& one : log_watches_)
    if (const auto w = one.lock(); w && w->caller.lock() == caller) watch_logs_at(client, *w);
  scope->when_ended(this, [weak = weak_from_this(), key = scope.get()] {
    if (const auto self = weak.lock()) self->scope_ended(key);
  });
  client->start();
  return &*std::ranges::find(instances_, client, &instance::client);
}

// An instance starts with its first call, and the supervisor's rules of starting hold for each.
server_options instance_pool::instance_options(const std::string& cwd, const std::string& principal) const {
  server_options o = lister_->configured();
  o.lazy = true;
  if (o.idle_stop.count() == 0) o.idle_stop = usual_idle_stop;
  if (o.connect_in) o.connect = o.connect_in(cwd);
  if (o.connect_for) o.connect = o.connect_for(principal);
  return o;
}

void instance_pool::scope_ended(const clients::call_scope* key) {
  if (dropped_) return;
  // Marked at once: another scope may get this address.
  for (auto& i : instances_)
    if (i.key == key) i.left = true;
  look_soon();
}

bool instance_pool::is_for_all(const std::string& principal) const {
  const auto& same = lister_->configured().same_lists;
  return !same || same(principal);
}

// Returns true if what an instance lists is what the server has for all callers.
bool instance_pool::lists_for_all(const managed_client& s) const {
  if (stopping_) return false;
  if (!lister_->configured().same_lists) return true;
  const auto found = std::ranges::find_if(instances_, [&](const instance& i) { return i.client.get() == &s; });
  return found != instances_.end() && is_for_all(found->principal);
}

void instance_pool::server_dropped(const managed_client& s, const protocol::feature_kind& kind,
                                   std::vector<std::string> why) {
  if (!lists_for_all(s)) return;
  context_.host.server_dropped(*lister_, kind, std::move(why));
}

void instance_pool::server_list(const managed_client& s, const protocol::feature_kind& kind,
                                protocol::feature_list list) {
  if (lists_for_all(s)) context_.host.server_list(*lister_, kind, std::move(list));
}

void instance_pool::server_moved() {
  look_soon();
  context_.host.server_moved();
}

void instance_pool::look_soon() {
  if (dropped_ || std::exchange(look_posted_, true)) return;
  context_.soon->post([weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    self->look_posted_ = false;
    self->look();
  });
}

// Ends instances that nobody needs any more, and forgets those that have ended.
void instance_pool::look() {
  if (dropped_) return;
  std::erase_if(instances_, [](const instance& i) { return i.client->ended() && i.client->open_calls() == 0; });
  for (const auto& client : clients()) {
    const auto i = std::ranges::find(instances_, client, &instance::client);
    if (i == instances_.end() || client->ended()) continue;
    const bool asleep = client->open_calls() == 0 && client->state() == clients::server_state::lazy;
    if (i->left)
      client->stop(context_.options.stop_grace, "its caller has left");
    else if (asleep)
      client->stop(milliseconds(0), "nobody has called it for a while");
  }
}

std::vector<std::shared_ptr<managed_client>> instance_pool::clients() const {
  std::vector<std::shared_ptr<managed_client>> all;
  for (const auto& i : instances_) all.push_back(i.client);
  return all;
}

void instance_pool::adjust() {
  for (const auto& client : clients()) {
    server_options o = instance_options({}, {});
    o.connect = client->configured().connect;
    client->adjust(std::move(o));
  }
}

void instance_pool::roots_changed() {
  lister_->roots_changed();
  for (const auto& client : clients()) client->roots_changed();
}

void instance_pool::restart() {
  for (const auto& client : clients())
    if (client->state() != clients::server_state::lazy) client->restart();
}

void instance_pool::restart(const std::function<bool(const std::string&)>& of, bool ready_too) {
  std::vector<std::shared_ptr<managed_client>> chosen;
  for (const auto& i : instances_) {
    const auto state = i.client->state();
    if (state == clients::server_state::lazy || (state == clients::server_state::ready && !ready_too)) continue;
    if (of(i.principal)) chosen.push_back(i.client);
  }
  for (const auto& client : chosen) client->restart();
}

void instance_pool::stop(milliseconds grace, const std::string& why) {
  stopping_ = true;
  for (const auto& client : clients()) client->stop(grace, why);
}

bool instance_pool::ended() const {
  return std::ranges::all_of(instances_, [](const instance& i) { return i.client->ended(); });
}

std::size_t instance_pool::open_calls() const {
  std::size_t n = 0;
  for (const auto& i : instances_) n += i.client->open_calls();
  return n;
}

void instance_pool::add_to(clients::server_status& s) const {
  s.per_scope = true;
  s.calls = context_.meter->counts(context_.time.now());
  for (const auto& i : instances_) {
    const auto one = i.client->status();
    s.restarts += one.restarts;
    s.open_calls += one.open_calls;
    s.queued_calls += one.queued_calls;
    s.noise_lines += one.noise_lines;
    s.dropped_answers += one.dropped_answers;
    s.suspect = s.suspect || one.suspect;
    if (one.last_error_ms > s.last_error_ms) {
      s.last_error = one.last_error;
      s.last_error_ms = one.last_error_ms;
    }
    s.instances.push_back(
        {i.label, one.state, one.process ? one.process->pid : pid_t{-1}, one.open_calls, one.last_error});
  }
}

void instance_pool::drop() {
  if (std::exchange(dropped_, true)) return;
  stopping_ = true;
  for (const auto& client : clients()) client->drop();
}

}  // namespace mcpbx::mcp::supervise
