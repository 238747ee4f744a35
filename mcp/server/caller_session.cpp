// A caller's session beyond a served_session: notifications, requests of mcpbx, the end. The MCP methods are in
// caller_methods.cpp and methods_*.cpp.
#include "mcp/server/caller_session.hpp"

#include "mcp/protocol/extensions.hpp"
#include "mcp/support/text.hpp"

#include <string_view>
#include <unordered_map>
#include <utility>

namespace mcpbx::mcp::callers {
namespace {

/// Returns the notification that a list of this kind has changed. All callers share the text.
const json::segments& changed_text(const protocol::feature_kind& kind) {
  static std::unordered_map<std::string_view, json::segments> made;
  const auto [found, fresh] = made.try_emplace(kind.changed);
  if (fresh) found->second = rpc::make_notification(kind.changed, json::raw_json());
  return found->second;
}

}  // namespace

void caller_session::list_changed(const protocol::feature_kind& kind) {
  if (closed()) return;
  if (watches_) watches_->refresh();
  if (listens_) listens_->refresh();
  watch_extensions();
  if (!listens_) {
    if (ready()) host_.send_list_changed(kind, changed_text(kind));
    return;
  }
  const auto asks = asks_;  // outlives the session
  if (ready()) host_.send_list_changed(kind, changed_text(kind));
  if (!asks->closed() && listens_) listens_->list_changed(kind);
}

// Finds the handler of a request. Methods of mcpbx's own have no era.
void caller_session::dispatch(const rpc::message& m, server::reply_once reply) {
  if (call_handler(*this, *tables_, m, reply)) return;
  if (has_extension(m.method(), m.params)) {
    if (enter(m, {}, reply)) call_extension(std::string(m.method()), m.params, {reply, host_.recorder(), m.method()});
    return;
  }
  reply.mark_own();
  if (host_.handle(m.method(), m.params, reply)) return;
  auto known = host_.methods();
  for (std::string_view name : tables_->legacy.names()) known.push_back(name);
  reply.error(rpc::rpc_error{rpc::code::method_not_found,
                             "unknown method " + json::json_quoted(cut_utf8(m.method(), 80)) +
                                 did_you_mean(m.method(), known) + about_extensions(m.method()),
                             {}});
}

void caller_session::on_ready() {
  offer_roots();
  watch_extensions();
}

void caller_session::take_notification(const rpc::message& m) {
  if (m.method() == "notifications/roots/list_changed") {
    roots_changed();
  } else if (m.method() == "notifications/progress" && !progress_.empty()) {
    const auto found = progress_.find(json::member_text(m.params, "progressToken"));
    if (found == progress_.end()) return;
    const auto progress = found->second;  // it may be forgotten meanwhile
    progress(m.params);
  } else if (protocol::is_notification_name(m.method()) && has_extension(m.method(), m.params)) {
    notify_extension(m.method(), m.params);
  }
}

void caller_session::take_progress(std::string token, std::function<void(const json::raw_json& params)> progress) {
  if (!closed() && progress_.size() < options_.asks.max_open)
    progress_.insert_or_assign(std::move(token), std::move(progress));
}

bool caller_session::take_response(rpc::message&& m) {
  return asks_->answer(std::move(m));
}

// A message with an id and nothing else is more likely a broken request than an answer.
bool caller_session::take_broken_response(const rpc::envelope_fault& f) {
  if (f.answers) asks_->answer_malformed(f.id, f.what);
  return f.answers;
}

// The caller first learns that requests about its own are cancelled, since the answer may end the connection.
std::move_only_function<void()> caller_session::ended(std::uint64_t serial) {
  auto asks = asks_->end_about(serial);
  if (!asks) return nullptr;
  return [asks = std::move(asks)] { asks.finish(); };
}

result<rpc::call_number> caller_session::ask(std::string_view method, const json::raw_json& params,
                                             const server::reply_once* call, milliseconds limit,
                                             rpc::pending_calls::done_handler done, bool listed) {
  if (closed()) return fail(errc::unavailable, "the caller is gone");
  if (input_ended_) return fail(errc::unavailable, "the caller has ended its side of the connection");
  if (!ready())
    return fail(errc::unavailable, "the caller has not said that it is initialized, so it can be asked nothing");
  if (auto able = protocol::check_answerable(capabilities_, method, params); !able && !listed)
    return std::unexpected(able.error());
  if (call && !call->open()) return fail(errc::cancelled, "the request that this belongs to has ended");
  return asks_->ask(method, params, call ? call->serial() : 0, limit, std::move(done));
}

bool caller_session::withdraw(rpc::call_number ask, std::string_view reason) {
  return !closed() && asks_->withdraw(ask, reason);
}

void caller_session::end_input() {
  if (closed() || std::exchange(input_ended_, true)) return;
  const auto asks = asks_;
  asks->end_input();
  // Nobody could end them any more.
  if (!asks->closed()) end_listens(true);
}

void caller_session::close() {
  if (closed()) return;
  auto ends = shut();
  if (link_) *link_ = nullptr;
  const auto asks = asks_;  // `end` may destroy this session
  extension_watches_.clear();
  if (watches_) watches_->close();
  if (listens_) listens_->close();
  for (auto& end : ends) end();
  asks->close();
}

}  // namespace mcpbx::mcp::callers
