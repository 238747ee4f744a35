// The session's bookkeeping: envelopes, ids, batches, cancellation, requests of mcpbx. The MCP methods are in
// caller_methods.cpp and methods_*.cpp.
#include "mcp/server/caller_session.hpp"

#include "mcp/protocol/extensions.hpp"
#include "mcp/protocol/revisions.hpp"
#include "mcp/server/base/batch.hpp"
#include "mcp/server/base/modern_request.hpp"
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

void caller_session::on_message(rpc::message&& m) {
  if (closed_) return;
  switch (m.type) {
    case rpc::message::kind::request:
      return take_request(std::move(m), nullptr);
    case rpc::message::kind::notification:
      return take_notification(m);
    case rpc::message::kind::response:
      return take_response(std::move(m));
    case rpc::message::kind::batch:
      return take_batch(m);
  }
}

void caller_session::on_fault(const rpc::message_fault& f) {
  if (closed_) return;
  ++counts_.faults;
  // Answers are never answered. A message with an id and nothing else is more likely a broken request than an answer.
  if (f.envelope.answers) {
    asks_->answer_malformed(f.envelope.id, f.envelope.what);
    return;
  }
  const std::string_view kind = f.envelope.code == rpc::code::parse_error ? "parse error: " : "invalid request: ";
  host_.send({.error = f.envelope.code},
             rpc::make_error(f.envelope.id, rpc::rpc_error{f.envelope.code, std::string(kind) + f.envelope.what, {}}));
}

void caller_session::list_changed(const protocol::feature_kind& kind) {
  if (closed_) return;
  if (watches_) watches_->refresh();
  if (listens_) listens_->refresh();
  watch_extensions();
  if (!listens_) {
    if (phase_ == phase::ready) host_.send_list_changed(kind, changed_text(kind));
    return;
  }
  const auto asks = asks_;  // outlives the session
  if (phase_ == phase::ready) host_.send_list_changed(kind, changed_text(kind));
  if (!asks->closed() && listens_) listens_->list_changed(kind);
}

void caller_session::take_request(rpc::message&& m, std::shared_ptr<server::reply_batch> batch) {
  ++counts_.requests;
  const bool full = open_.size() >= options_.max_open;
  boost::intrusive_ptr request(
      new server::open_request(static_cast<server::reply_taker*>(this), std::move(m.id), next_serial_++));
  if (full || !open_.try_emplace(request->id.key(), request.get()).second) {
    request->taker = nullptr;  // it is answered here
    const rpc::rpc_id& id = request->id;
    if (open_.contains(id.key()))
      return refuse(id, rpc::code::invalid_request,
                    "invalid request: the id " + std::string(id.token()) + " is in use by a request that is still open",
                    batch, {}, request->serial);
    ++counts_.overloaded;
    return refuse(
        id, rpc::code::overloaded,
        "this connection has " + std::to_string(open_.size()) + " open requests already; wait for some of them", batch,
        json::raw_json::literal(R"({"cause":"limit","retryable":true})"), request->serial);
  }
  request->batch = std::move(batch);
  dispatch(m, server::reply_once(std::move(request)));
}

// Finds the handler of a request, by the era that it speaks. Methods of mcpbx's own have no era.
void caller_session::dispatch(const rpc::message& m, server::reply_once reply) {
  const auto* handler = tables_->legacy.find(m.method());
  const auto* modern = tables_->modern.find(m.method());
  const bool extended = !handler && !modern && has_extension(m.method(), m.params);
  if (handler || modern || extended) {
    auto era = server::read_modern_request(m.params, options_.only_modern || (!handler && !extended), &known_meta_);
    if (!era) return reply.error(era.error());
    if (*era && options_.only_legacy)
      return reply.error(rpc::rpc_error{rpc::code::invalid_request,
                                        "invalid request: a request of revision " +
                                            std::string(protocol::revision::modern) +
                                            " belongs to no session; send it in a POST of its own",
                                        {}});
    if (*era) {
      handler = modern;
      if (!server_info_)
        server_info_ = json::raw_json::own(json::json_object("name", "mcpbx", "version", options_.version));
      (*era)->form.server_info = server_info_;
      reply.set_modern(std::move(*era));
      if (!handler && !extended)
        return reply.error(rpc::rpc_error{rpc::code::method_not_found,
                                          "the revision " + std::string(protocol::revision::modern) +
                                              " has no method " + json::json_quoted(m.method()),
                                          {}});
    } else if (phase_ == phase::fresh && m.method() != "initialize" && m.method() != "ping") {
      return reply.error(rpc::rpc_error{rpc::code::invalid_request, "invalid request: send initialize first", {}});
    }
    if (extended) return call_extension(std::string(m.method()), m.params, {reply, host_.recorder(), m.method()});
    return (*handler)(*this, m.params, std::move(reply));
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

void caller_session::take_notification(const rpc::message& m) {
  if (m.method() == "notifications/initialized") {
    if (phase_ != phase::answered) return;
    phase_ = phase::ready;
    offer_roots();
    watch_extensions();
  } else if (m.method() == "notifications/cancelled") {
    // Errors in a cancellation are ignored: the request may have been answered meanwhile, and notifications get no
    // answer.
    if (auto params = json::raw_object::open(m.params, {"requestId"}))
      if (auto id = rpc::rpc_id::from(params->find("requestId")))
        cancel(*id, params->find("reason").as_string().value_or(""));
  } else if (m.method() == "notifications/roots/list_changed") {
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
  if (!closed_ && progress_.size() < options_.asks.max_open)
    progress_.insert_or_assign(std::move(token), std::move(progress));
}

void caller_session::take_response(rpc::message&& m) {
  if (!asks_->answer(std::move(m))) ++counts_.stray;
}

result<rpc::call_number> caller_session::ask(std::string_view method, const json::raw_json& params,
                                             const server::reply_once* call, milliseconds limit,
                                             rpc::pending_calls::done_handler done, bool listed) {
  if (closed_) return fail(errc::unavailable, "the caller is gone");
  if (input_ended_) return fail(errc::unavailable, "the caller has ended its side of the connection");
  if (phase_ != phase::ready)
    return fail(errc::unavailable, "the caller has not said that it is initialized, so it can be asked nothing");
  if (auto able = protocol::check_answerable(capabilities_, method, params); !able && !listed)
    return std::unexpected(able.error());
  if (call && !call->open()) return fail(errc::cancelled, "the request that this belongs to has ended");
  return asks_->ask(method, params, call ? call->serial() : 0, limit, std::move(done));
}

bool caller_session::withdraw(rpc::call_number ask, std::string_view reason) {
  return !closed_ && asks_->withdraw(ask, reason);
}

void caller_session::end_input() {
  if (closed_ || std::exchange(input_ended_, true)) return;
  const auto asks = asks_;
  asks->end_input();
  // Nobody could end them any more.
  if (!asks->closed()) end_listens(true);
}

// Takes a batch, which one revision of MCP has. Its responses leave together, in the order in which they are made.
void caller_session::take_batch(const rpc::message& m) {
  auto parts = server::read_batch(m, revision_, options_.max_batch);
  if (!parts) return refuse({}, rpc::code::invalid_request, "invalid request: " + parts.error(), {});

  auto batch = std::make_shared<server::reply_batch>(next_serial_);
  batch->expect();          // counts this function: nothing may leave before every element has been handled
  const auto asks = asks_;  // outlives the session, which an element may destroy
  for (auto& part : *parts) {
    if (asks->closed()) return;
    if (!part) {
      ++counts_.faults;
      if (part.error().answers) {
        asks_->answer_malformed(part.error().id, part.error().what);
      } else {
        batch->expect();
        refuse(part.error().id, part.error().code, "invalid request: " + part.error().what, batch);
      }
    } else if (part->type == rpc::message::kind::request) {
      batch->expect();
      take_request(std::move(*part), batch);
    } else {
      on_message(std::move(*part));
    }
  }
  if (!asks->closed()) finish_batch_part(batch);
}

void caller_session::refuse(const rpc::rpc_id& id, int code, std::string text,
                            const std::shared_ptr<server::reply_batch>& batch, json::raw_json data,
                            std::uint64_t serial) {
  deliver({serial, code}, rpc::make_error(id, rpc::rpc_error{code, std::move(text), std::move(data)}), batch);
}

void caller_session::deliver(server::answered what, const json::segments& text,
                             const std::shared_ptr<server::reply_batch>& batch) {
  if (!batch) return host_.send(what, text);
  batch->add(text);
  finish_batch_part(batch);
}

void caller_session::finish_batch_part(const std::shared_ptr<server::reply_batch>& batch) {
  if (!batch) return;
  if (const json::segments whole = batch->end_one(); !whole.empty())
    return host_.send({.about = batch->serial()}, whole);
  if (batch->over() && batch->serial() < next_serial_) host_.send_nothing(batch->serial());
}

// Ends a request. The caller first learns that requests about it are cancelled, since the answer may end the
// connection.
caller_asks::ending caller_session::end_request(server::open_request& r) {
  r.taker = nullptr;
  r.on_cancel = nullptr;
  open_.erase(r.id.key());
  return asks_->end_about(r.serial);
}

void caller_session::take_reply(server::open_request& r, const json::segments& text) {
  const auto asks = end_request(r);
  if (!closed_) deliver({r.serial, r.error}, text, r.batch);
  asks.finish();  // last: it may destroy this session
}

bool caller_session::cancel(const rpc::rpc_id& id, std::string_view reason) {
  auto found = open_.find(id.key());
  if (found == open_.end()) return false;
  cancel_request(*found->second, reason);
  return true;
}

// Cancels a request. MCP: the receiver of a cancellation should not respond. Methods of mcpbx answer that they ended.
void caller_session::cancel_request(server::open_request& r, std::string_view reason) {
  auto end = std::move(r.on_cancel);
  const rpc::rpc_id id = r.id;
  const auto batch = r.batch;
  const bool own = r.own;
  const auto serial = r.serial;
  const auto asks = end_request(r);
  if (closed_) {
    // The caller left while it was being notified of the requests that end here.
  } else if (own) {
    refuse(
        id, rpc::code::cancelled,
        reason.empty() ? "cancelled by its caller" : "cancelled by its caller: " + std::string(cut_utf8(reason, 200)),
        batch, {}, serial);
  } else if (batch) {
    finish_batch_part(batch);
  } else {
    host_.send_nothing(serial);
  }
  if (end) end();  // `end` may drop the request
  asks.finish();   // last: it may destroy this session
}

void caller_session::close() {
  if (std::exchange(closed_, true)) return;
  auto open = std::exchange(open_, {});
  std::vector<std::move_only_function<void()>> ends;
  for (auto& [key, r] : open) {
    r->taker = nullptr;
    if (r->on_cancel) ends.push_back(std::exchange(r->on_cancel, nullptr));
  }
  if (link_) *link_ = nullptr;
  const auto asks = asks_;  // `end` may destroy this session
  extension_watches_.clear();
  if (watches_) watches_->close();
  if (listens_) listens_->close();
  for (auto& end : ends) end();
  asks->close();
}

}  // namespace mcpbx::mcp::callers
