// A request without a session, from its arrival to its end.
#include "daemon/front/mcp/single_request.hpp"

#include "daemon/front/mcp/mcp_room.hpp"
#include "mcp/protocol/revisions.hpp"

#include <utility>

namespace mcpbx::daemon::mcp_door {
int modern_status(int error) {
  switch (error) {
    case mcp::protocol::mcp_code::header_mismatch:
    case mcp::protocol::mcp_code::missing_client_capability:
    case mcp::protocol::mcp_code::unsupported_protocol_version:
    case mcp::rpc::code::invalid_request:
      return 400;
    case mcp::rpc::code::method_not_found:
      return 404;
    default:
      return 200;
  }
}

single_request::single_request(front::door_context& door, const mcp::callers::caller_session::options& o,
                               mcp_identity who, pid_t pid, mcp::clients::call_scope_ptr scope,
                               std::function<void(single_request&)> ended)
    : mcp_host(door, std::move(who), pid, std::move(scope)),
      session_(*this, o),
      answer_([&] {
        answer_stream::owner& told = *this;
        return std::make_shared<answer_stream>(door, told,
                                               answer_stream::options{.patience = &door.mcp->request_patience()});
      }()),
      ended_(std::move(ended)) {
  door.news.enter(*this);
}

void single_request::start(const std::shared_ptr<routes::exchange>& x, mcp::rpc::message&& m,
                           std::shared_ptr<void> place, late_check check) {
  const auto self = shared_from_this();
  check_ = std::move(check);
  place_ = std::move(place);
  answer_->serve(x);
  session_.on_message(std::move(m));
}

void single_request::send(const mcp::server::answered& what, const json::segments& text) {
  answer_->respond(text, modern_status(what.error));
}

// Never called: a modern caller is asked by the result of its request (2026-07-28, basic/patterns/mrtr).
void single_request::send_ask(std::uint64_t /*about*/, const json::segments& text, mcp::rpc::outgoing what) {
  answer_->push(text, what);
}

void single_request::send_note(const mcp::server::note& n, const json::segments& text) {
  if (!n.same.empty()) return answer_->push_merged(std::string(n.same), text);
  if (n.droppable) return answer_->push_droppable(text);
  answer_->push(text, {});
}

void single_request::on_lost(answer_stream&) {
  end();
}

void single_request::on_over(answer_stream&) {
  end();
}

void single_request::end() {
  if (closed_) return;
  const auto self = shared_from_this();
  const auto told = std::exchange(ended_, nullptr);
  close();
  if (told) told(*this);
}

void single_request::close() {
  if (std::exchange(closed_, true)) return;
  leave();
  end_waits();
  answer_->disown();
  session_.close();
  place_.reset();
  answer_->end();
}

}  // namespace mcpbx::daemon::mcp_door
