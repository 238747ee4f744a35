// Answers requests once, and gathers the responses of batches.
#include "mcp/server/base/reply_once.hpp"

#include "mcp/support/log.hpp"

#include <string>
#include <utility>

namespace mcpbx::mcp {

void reply_batch::add(const segments& response) {
  text_.append_literal(gathered_++ == 0 ? "[" : ",");
  text_.append(response);
}

segments reply_batch::end_one() {
  if (--waiting_ > 0 || gathered_ == 0) return {};
  text_.append_literal("]");
  return std::exchange(text_, {});
}

open_request::~open_request() {
  if (!taker) return;
  log::error("a request was dropped without an answer; this is a bug in mcpbx");
  error = code::internal_error;
  std::exchange(taker, nullptr)
      ->take_reply(
          *this,
          make_error(id, rpc_error{code::internal_error, "mcpbx lost this request; this is a bug in mcpbx", {}}));
}

void reply_once::send(const segments& text) const {
  // After a cancellation, or when the caller has left, the answer has nowhere to go. This is no bug.
  if (!request_ || !request_->taker) return;
  std::exchange(request_->taker, nullptr)->take_reply(*request_, text);
}

void reply_once::result(const raw_json& value) const {
  if (!open()) return;
  if (const modern_request* m = modern()) return send(make_result(request_->id, modern_result(value, m->form)));
  send(make_result(request_->id, value));
}
void reply_once::result(const segments& value) const {
  if (open()) send(make_result(request_->id, value));
}
void reply_once::error(const rpc_error& e) const {
  if (!open()) return;
  // "Implementations of this protocol version MUST NOT emit" the old code (2026-07-28, basic, "Error Codes").
  if (modern() && e.code == code::not_found) return error(rpc_error{code::invalid_params, e.message, e.data});
  request_->error = e.code;
  send(make_error(request_->id, e));
}
void reply_once::error(const raw_json& e) const {
  if (!open()) return;
  request_->error = static_cast<int>(find_member(e, "code").as_integer().value_or(code::internal_error));
  send(make_error(request_->id, e));
}

}  // namespace mcpbx::mcp
