// Bookkeeping of a session: envelopes, ids, batches, cancellation, the era of a request, the handshakes.
#include "mcp/server/base/served_session.hpp"

#include "mcp/protocol/modern_answers.hpp"
#include "mcp/protocol/revisions.hpp"
#include "mcp/server/base/batch.hpp"
#include "mcp/support/text.hpp"

#include <utility>

namespace mcpbx::mcp::server {

void served_session::on_message(rpc::message&& m) {
  if (closed_) return;
  switch (m.type) {
    case rpc::message::kind::request:
      return take_request(std::move(m), nullptr);
    case rpc::message::kind::notification:
      return take_own_notification(m);
    case rpc::message::kind::response:
      // May destroy this session if it returns true.
      if (!take_response(std::move(m))) ++counts_.stray;
      return;
    case rpc::message::kind::batch:
      return take_batch(m);
  }
}

void served_session::on_fault(rpc::message_fault f) {
  if (closed_) return;
  ++counts_.faults;
  if (take_broken_response(f.envelope)) return;
  refuse(f.envelope.id, f.envelope.code, refusal(f.envelope.code, f.envelope.what), nullptr);
}

void served_session::take_request(rpc::message&& m, std::shared_ptr<reply_batch> batch) {
  ++counts_.requests;
  const bool full = open_.size() >= rules_.max_open;
  boost::intrusive_ptr request(new open_request(static_cast<reply_taker*>(this), std::move(m.id), next_serial_++));
  if (full || !open_.try_emplace(request->id.key(), request.get()).second) {
    request->taker = nullptr;  // it is answered here
    const rpc::rpc_id& id = request->id;
    if (open_.contains(id.key()))
      return refuse(id, rpc::code::invalid_request,
                    refusal(rpc::code::invalid_request,
                            "the id " + std::string(id.token()) + " is in use by a request that is still open"),
                    batch, {}, request->serial);
    ++counts_.overloaded;
    return refuse(
        id, rpc::code::overloaded,
        "this connection has " + std::to_string(open_.size()) + " open requests already; wait for some of them", batch,
        json::raw_json::literal(R"({"cause":"limit","retryable":true})"), request->serial);
  }
  request->batch = std::move(batch);
  dispatch(m, reply_once(std::move(request)));
}

bool served_session::enter(const rpc::message& m, const method_eras& has, const reply_once& reply) {
  if (has.reads_meta) {
    auto modern = read_modern_request(m.params, rules_.only_modern || !has.legacy, &known_meta_);
    if (!modern) {
      reply.error(modern.error());
      return false;
    }
    if (*modern) {
      if (rules_.only_legacy) {
        reply.error(rpc::rpc_error{
            rpc::code::invalid_request,
            refusal(rpc::code::invalid_request, "a request of revision " + std::string(protocol::revision::modern) +
                                                    " belongs to no session; send it in a POST of its own"),
            {}});
        return false;
      }
      (*modern)->form.server_info = server_info();
      reply.set_modern(std::move(*modern));
      if (has.modern) return true;
      reply.error(rpc::rpc_error{
          rpc::code::method_not_found,
          "the revision " + std::string(protocol::revision::modern) + " has no method " + json::json_quoted(m.method()),
          {}});
      return false;
    }
  }
  if (phase_ != phase::fresh || m.method() == "initialize" || m.method() == "ping") return true;
  reply.error(rpc::rpc_error{rpc::code::invalid_request, std::string(rules_.words.not_open), {}});
  return false;
}

void served_session::take_own_notification(const rpc::message& m) {
  if (m.method() == "notifications/initialized") {
    if (phase_ != phase::answered) return;
    phase_ = phase::ready;
    on_ready();
  } else if (m.method() == "notifications/cancelled") {
    // Errors in a cancellation are ignored: the request may have been answered meanwhile, and notifications get no
    // answer.
    if (auto params = json::raw_object::open(m.params, {"requestId"}))
      if (auto id = rpc::rpc_id::from(params->find("requestId")))
        cancel(*id, params->find("reason").as_string().value_or(""));
  } else {
    take_notification(m);
  }
}

// Takes a batch, which one revision of MCP has. Its responses leave together, in the order in which they are made.
void served_session::take_batch(const rpc::message& m) {
  auto parts = read_batch(m, revision_, rules_.max_batch, rules_.max_depth);
  if (!parts)
    return refuse({}, rpc::code::invalid_request, refusal(rpc::code::invalid_request, parts.error()), nullptr);

  auto batch = std::make_shared<reply_batch>(next_serial_);
  batch->expect();  // counts this function: nothing may leave before every element has been handled
  if (!gone_) gone_ = std::make_shared<bool>(false);
  const auto gone = gone_;  // outlives the session, which an element may destroy
  for (auto& part : *parts) {
    if (*gone) return;
    if (!part) {
      ++counts_.faults;
      if (take_broken_response(part.error())) continue;
      batch->expect();
      refuse(part.error().id, part.error().code, refusal(rpc::code::invalid_request, part.error().what), batch);
    } else if (part->type == rpc::message::kind::request) {
      batch->expect();
      take_request(std::move(*part), batch);
    } else {
      on_message(std::move(*part));
    }
  }
  if (!*gone) finish_batch_part(batch);
}

std::string served_session::refusal(int code, std::string_view what) const {
  const refusal_words& words = rules_.words;
  std::string text(code == rpc::code::parse_error ? words.parse_error : words.invalid_request);
  return text.append(what).append(words.end);
}

void served_session::refuse(const rpc::rpc_id& id, int code, std::string text,
                            const std::shared_ptr<reply_batch>& batch, json::raw_json data, std::uint64_t serial) {
  deliver({serial, code}, rpc::make_error(id, rpc::rpc_error{code, std::move(text), std::move(data)}), batch);
}

void served_session::deliver(answered what, const json::segments& text, const std::shared_ptr<reply_batch>& batch) {
  if (!batch) return out_.send(what, text);
  batch->add(text);
  finish_batch_part(batch);
}

void served_session::finish_batch_part(const std::shared_ptr<reply_batch>& batch) {
  if (!batch) return;
  if (const json::segments whole = batch->end_one(); !whole.empty())
    return out_.send({.about = batch->serial()}, whole);
  if (batch->over() && batch->serial() < next_serial_) out_.send_nothing(batch->serial());
}

std::move_only_function<void()> served_session::end_request(open_request& r) {
  r.taker = nullptr;
  r.on_cancel = nullptr;
  open_.erase(r.id.key());
  return ended(r.serial);
}

void served_session::take_reply(open_request& r, const json::segments& text) {
  auto then = end_request(r);
  if (!closed_) deliver({r.serial, r.error}, text, r.batch);
  if (then) then();  // last: it may destroy this session
}

bool served_session::cancel(const rpc::rpc_id& id, std::string_view reason) {
  auto found = open_.find(id.key());
  if (found == open_.end()) return false;
  cancel_request(*found->second, reason);
  return true;
}

// Cancels a request. MCP: the receiver of a cancellation should not respond. Methods of mcpbx answer that they ended.
void served_session::cancel_request(open_request& r, std::string_view reason) {
  auto end = std::move(r.on_cancel);
  const rpc::rpc_id id = r.id;
  const auto batch = r.batch;
  const bool own = r.own;
  const auto serial = r.serial;
  auto then = end_request(r);
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
    out_.send_nothing(serial);
  }
  if (end) end();    // it may drop the request
  if (then) then();  // last: it may destroy this session
}

std::vector<std::move_only_function<void()>> served_session::shut() {
  std::vector<std::move_only_function<void()>> ends;
  if (std::exchange(closed_, true)) return ends;
  if (gone_) *gone_ = true;
  for (const auto& [key, r] : std::exchange(open_, {})) {
    r->taker = nullptr;
    if (r->on_cancel) ends.push_back(std::exchange(r->on_cancel, nullptr));
  }
  return ends;
}

void served_session::initialize(const json::raw_json& params, const reply_once& reply) {
  const auto asked = read_opening(params);
  if (!asked) return reply.error(asked.error());
  // MCP: answer with the requested revision if it is supported, otherwise with the latest supported one.
  revision_ = protocol::revision::is_legacy(*asked) ? *asked : std::string(protocol::revision::latest_legacy);
  phase_ = phase::answered;
  when_settled([this, reply] {
    if (reply.open()) reply.result(opening(revision_));
  });
}

void served_session::discover(const reply_once& reply) {
  reply.modern()->form.cache = protocol::cache_hints();
  when_settled([this, reply] {
    if (reply.open()) reply.result(opening(protocol::revision::modern));
  });
}

// Returns the result of initialize, or of server/discover, which tells the server's name in another place.
json::raw_json served_session::opening(std::string_view revision) {
  const bool modern = revision == protocol::revision::modern;
  std::string json;
  json::json_writer out(json);
  out.begin_object();
  if (modern)
    out.key("supportedVersions").begin_array().value(revision).end_array();
  else
    out.member("protocolVersion", revision);
  write_capabilities(out, revision);
  if (!modern) out.member("serverInfo", server_info());
  return out.filled("instructions", instructions()).end_object().json();
}

const json::raw_json& served_session::server_info() {
  if (!server_info_) server_info_ = make_server_info();
  return server_info_;
}

}  // namespace mcpbx::mcp::server
