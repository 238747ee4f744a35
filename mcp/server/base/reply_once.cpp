// Answers requests once, and gathers the responses of batches.
#include "mcp/server/base/reply_once.hpp"

#include "mcp/support/log.hpp"

#include <string>
#include <utility>

namespace mcpbx::mcp::server {

void reply_batch::add(const json::segments& response) {
  text_.append_literal(gathered_++ == 0 ? "[" : ",");
  text_.append(response);
}

json::segments reply_batch::end_one() {
  if (--waiting_ > 0 || gathered_ == 0) return {};
  text_.append_literal("]");
  return std::exchange(text_, {});
}

open_request::~open_request() {
  if (!taker) return;
  log::error("a request was dropped without an answer; this is a bug in mcpbx");
  error = rpc::code::internal_error;
  std::exchange(taker, nullptr)
      ->take_reply(*this, rpc::make_error(id, rpc::rpc_error{rpc::code::internal_error,
                                                             "mcpbx lost this request; this is a bug in mcpbx",
                                                             {}}));
}

void reply_once::send(const json::segments& text) const {
  // After a cancellation, or when the caller has left, the answer has nowhere to go. This is no bug.
  if (!request_ || !request_->taker) return;
  std::exchange(request_->taker, nullptr)->take_reply(*request_, text);
}

void reply_once::result(const json::raw_json& value) const {
  if (!open()) return;
  if (const modern_request* m = modern())
    return send(rpc::make_result(request_->id, protocol::modern_result(value, m->form)));
  send(rpc::make_result(request_->id, value));
}
void reply_once::result(const json::segments& value) const {
  if (open()) send(rpc::make_result(request_->id, value));
}
void reply_once::error(const rpc::rpc_error& e) const {
  if (!open()) return;
  // "Implementations of this protocol version MUST NOT emit" the old code (2026-07-28, basic, "Error Codes").
  if (modern() && e.code == rpc::code::not_found)
    return error(rpc::rpc_error{rpc::code::invalid_params, e.message, e.data});
  request_->error = e.code;
  send(rpc::make_error(request_->id, e));
}
void reply_once::error(const json::raw_json& e) const {
  if (!open()) return;
  request_->error = static_cast<int>(json::find_member(e, "code").as_integer().value_or(rpc::code::internal_error));
  send(rpc::make_error(request_->id, e));
}

}  // namespace mcpbx::mcp::server
