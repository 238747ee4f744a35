// Watches of resources and logs at one tool server: kept over restarts, with their updates passed to all watchers.
#include "mcp/client/supervise/managed_client.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::mcp::supervise {
namespace {

rpc::call_outcome accepted() {
  return {rpc::call_outcome::kind::result, json::raw_json::literal("{}"), {}};
}

}  // namespace

clients::watch managed_client::watch_resource(std::string_view uri, std::function<void(const json::raw_json&)> updated,
                                              clients::watch_decided decided) {
  if (dropped_ || (offers_.known && !offers_.subscribe)) return nullptr;
  return watch_in(watches_, uri, std::move(updated), std::move(decided));
}

clients::watch managed_client::watch_task_of(const clients::call_scope_ptr& /*scope*/, std::string_view id,
                                             std::function<void(const json::raw_json&)> told,
                                             clients::watch_decided decided) {
  if (dropped_ || era_ != clients::era::modern) return nullptr;
  return watch_in(task_watches_, id, std::move(told), std::move(decided));
}

clients::watch managed_client::watch_in(server_watches& all, std::string_view key,
                                        std::function<void(const json::raw_json&)> told,
                                        clients::watch_decided decided) {
  auto w = all.add_resource(key, std::move(told), [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->watches_changed();
  });
  if (!w) return nullptr;
  if (!up()) all.decide(key, accepted());  // it is asked when it is there again
  if (all.watched_once(key)) watch_now();
  if (const rpc::call_outcome* known = all.decision(key); known == nullptr)
    w->decided = std::move(decided);
  else if (decided)
    decided(rpc::call_outcome(*known));
  return w;
}

clients::watch managed_client::watch_logs(std::string_view level, std::function<void(const json::raw_json&)> logged) {
  if (dropped_ || (offers_.known && !offers_.logging)) return nullptr;
  auto w = watches_.add_log(level, std::move(logged), [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->watches_changed();
  });
  watch_now();
  return w;
}

void managed_client::roots_changed() {
  if (up()) session_->core()->tell_roots_changed();
}

// A watch reaches the server before the next call of its caller, which may be about the watched resource. Further
// watches of the same turn follow together.
void managed_client::watch_now() {
  if (watches_posted_) return;
  sync_watches();
  watches_changed();
}

// Many watches may begin and end in one turn: the server hears of all at once.
void managed_client::watches_changed() {
  if (dropped_ || std::exchange(watches_posted_, true)) return;
  context_.soon->post([weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    self->watches_posted_ = false;
    self->sync_watches();
  });
}

void managed_client::sync_watches() {
  if (dropped_ || !up()) return;
  const time_point now = context_.time.now();
  auto uris = watches_.resources();
  if (!offers_.subscribe) uris.clear();
  session_->core()->watch(uris, now, task_watches_.resources());
  if (offers_.logging) session_->core()->set_log_level(watches_.lowest_level(), now);
  if (session_) arm_for(session_->next_time());
}

void managed_client::session_updated(const json::raw_json& params) {
  const auto to = watches_.updated(params, context_.time.now());
  arm_for(watches_.next_time());
  const clients::deferred::call inside(context_.soon);
  server_watches::tell(to, params);
}

// Watchers are notified in a later turn, since they may then watch or leave other resources.
void managed_client::session_watched(const std::string& uri, const rpc::call_outcome& answer) {
  tell_decided(watches_.decide(uri, answer), answer);
}

void managed_client::session_task_watched(const std::string& id, const rpc::call_outcome& answer) {
  tell_decided(task_watches_.decide(id, answer), answer);
}

void managed_client::session_task_told(const json::raw_json& params) {
  const auto to = task_watches_.watchers(json::member_text(params, "taskId"));
  const clients::deferred::call inside(context_.soon);
  server_watches::tell(to, params);
}

// Watches that the server has not answered are held for the next session, as all others are.
void managed_client::hold_watches() {
  if (dropped_) return;
  tell_decided(watches_.decide_all(accepted()), accepted());
  tell_decided(task_watches_.decide_all(accepted()), accepted());
}

void managed_client::tell_decided(server_watches::audience to, const rpc::call_outcome& answer) {
  if (to.empty()) return;
  context_.soon->post([to = std::move(to), answer] {
    for (const auto& weak : to)
      if (const auto w = weak.lock(); w && w->decided) std::exchange(w->decided, nullptr)(answer);
  });
}

void managed_client::deliver_updates(time_point now) {
  for (const auto& late : watches_.due(now)) {
    const clients::deferred::call inside(context_.soon);
    server_watches::tell(late.to, late.params);
  }
}

// A log goes to the call that it belongs to, as far as that can be known, else to all who watch and may hear it.
void managed_client::session_log(const json::raw_json& params) {
  const auto* r = logging_call();
  const clients::deferred::call inside(context_.soon);
  if (r != nullptr && r->call.log) {
    const auto handler = r->call.log;  // the handler may end the call
    return handler(params);
  }
  log_subject_ = principals_mixed_ ? std::string() : principal_;
  server_watches::tell(watches_.logged(params), params);
}

clients::watch managed_client::watch_extensions(clients::extension_note_handler told) {
  if (dropped_ || options_.sharing != server_sharing::shared) return nullptr;
  std::erase_if(extension_watches_, [](const auto& w) { return w.expired(); });
  auto w = std::make_shared<clients::extension_note_handler>(std::move(told));
  extension_watches_.push_back(w);
  return w;
}

// A notification of an extension goes the same way as a log. A process of one caller or run has one listener.
void managed_client::session_extension_note(std::string_view method, const json::raw_json& params) {
  const auto names = session_->core()->extensions_of(method);
  const auto* r = logging_call();
  const clients::deferred::call inside(context_.soon);
  if (r != nullptr && r->call.extension_note) {
    const auto handler = r->call.extension_note;  // the handler may end the call
    return handler(names, method, params);
  }
  if (options_.sharing != server_sharing::shared) {
    if (const auto scope = scope_.lock()) scope->caller()->tell(names, method, params);
    return;
  }
  log_subject_ = principals_mixed_ ? std::string() : principal_;
  for (const auto& weak : std::vector(extension_watches_))
    if (const auto w = weak.lock()) (*w)(names, method, params);
}

void managed_client::notify(const clients::call_scope_ptr& /*scope*/, std::string_view method,
                            const json::raw_json& params) {
  if (!up() || core_.ending()) return;
  session_->core()->notify(method, params, context_.time.now());
}

}  // namespace mcpbx::mcp::supervise
