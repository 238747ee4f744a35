// Connects the events of link, transport and conversation.
#include "mcp/client/supervise/server_session.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::mcp::supervise {

server_session::server_session(server_session_events& owner, time_source& time, std::shared_ptr<clients::deferred> soon,
                               session::session_core::options options)
    : owner_(&owner), time_(time), soon_(std::move(soon)), options_(std::move(options)) {}

void server_session::open(connect::connector& way) {
  link_ = way.open(*this);
}

void server_session::set_extensions(const protocol::extension_rules& rules) {
  options_.extensions = rules;
  if (core_) core_->set_extensions(rules);
}

void server_session::on_open(std::unique_ptr<transports::transport> connection) {
  if (!owner_) return;
  transport_ = std::move(connection);
  connected_ = true;
  options_.mirrors = transport_->mirrors();
  options_.skip_probe = transport_->legacy_known().value_or(options_.skip_probe);
  transport_->start(*this);
  if (closing_) {
    transport_->finish_sending();
  } else {
    core_ = std::make_unique<session::session_core>(options_, static_cast<session::session_output&>(*this), *owner_);
    core_->begin(time_.now());
  }
  if (owner_) owner_->session_settled();
}

void server_session::on_not_opened(const connect::link_failure& failure) {
  if (!owner_) return;
  owner_->session_not_opened(failure);
  if (owner_) owner_->session_settled();
}

void server_session::on_ended(const std::string& how) {
  if (!owner_) return;
  owner_->session_ended(how);
  if (owner_) owner_->session_settled();
}

void server_session::on_expired(connect::link_expiry&& expiry) {
  if (!owner_) return;
  // First the requests that may be sent again: with the end of the session all others are lost.
  if (core_)
    for (rpc::lost_request& lost : expiry.lost) core_->on_lost(std::move(lost), time_.now());
  if (owner_) owner_->session_expired(expiry.how);
  if (owner_) owner_->session_settled();
}

void server_session::on_lost(rpc::lost_request&& lost) {
  if (!owner_ || !core_) return;
  core_->on_lost(std::move(lost), time_.now());
  if (owner_) owner_->session_settled();
}

void server_session::on_message(rpc::message&& m) {
  if (!owner_ || !core_) return;
  core_->on_message(std::move(m), time_.now());
  if (owner_) owner_->session_settled();
}

void server_session::on_fault(rpc::message_fault fault) {
  if (!owner_ || !core_) return;
  if (fault.type == rpc::message_fault::kind::malformed && fault.envelope.code == rpc::code::parse_error) {
    // Half a line may be the first sign of an exit, which explains more than half a line does: report it a turn later.
    soon_->post([this, alive = std::weak_ptr<bool>(alive_), f = std::move(fault)] {
      if (alive.expired() || !owner_ || !connected_) return;
      core_->on_fault(f, time_.now());
      if (owner_) owner_->session_settled();
    });
    return;
  }
  core_->on_fault(fault, time_.now());
  if (owner_) owner_->session_settled();
}

void server_session::on_drained() {
  window_.drained();
}

void server_session::on_closed(const error& why) {
  connected_ = false;
  if (!owner_ || closing_) return;
  closed_why_ = why.code == errc::limit ? why.message : "closed a stream (" + why.message + ") and did not exit";
  lost_at_ = time_.now() + end_grace;
  owner_->session_settled();
}

void server_session::session_send(const json::segments& text, rpc::outgoing what) {
  if (!connected_ || closing_) return;
  if (window_.idle()) window_.begin(time_.now());
  if (const auto* request = std::exchange(sending_, nullptr))
    window_.sent_request(text.size() + 1, request->asker);
  else
    window_.sent(text.size() + 1);
  transport_->send(text, what);
}

result<rpc::call_number> server_session::call(const clients::server_call& c, rpc::call_limits limits, time_point now,
                                              rpc::pending_calls::done_handler done,
                                              rpc::pending_calls::progress_handler progress) {
  sending_ = &c;
  auto number = core_->call(c, limits, now, std::move(done), std::move(progress));
  sending_ = nullptr;
  return number;
}

bool server_session::end(connect::ending step) {
  closing_ = true;
  if (step == connect::ending::ask && transport_) transport_->finish_sending();
  return link_ && link_->end(step);
}

void server_session::close_session(errc code, const std::string& why) {
  if (core_) core_->close(code, why);
}

void server_session::detach() {
  owner_ = nullptr;
  connected_ = false;
  if (core_) core_->mute();
  if (transport_) transport_->close();
}

void server_session::tick(time_point now) {
  if (core_ && owner_ && !closing_) core_->tick(now);
  if (!owner_ || closing_) return;
  if (lost_at_ <= now) {
    lost_at_ = never;
    return owner_->session_lost(closed_why_);
  }
  if (connected_ && window_.stalled(unsent(), now)) owner_->session_lost("has read nothing for 30 s");
}

time_point server_session::next_time() const {
  if (closing_) return never;
  return std::min({core_ ? core_->next_deadline() : never, lost_at_, connected_ ? window_.next_time() : never});
}

}  // namespace mcpbx::mcp::supervise
