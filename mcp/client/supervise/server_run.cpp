// Events of process, connection and conversation, brought together.
#include "mcp/client/supervise/server_run.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::mcp {

server_run::server_run(run_events& owner, time_source& time, std::shared_ptr<deferred> soon,
                       session_core::options options)
    : owner_(&owner), time_(time), soon_(std::move(soon)), options_(std::move(options)) {}

void server_run::launch(process_launcher& launcher, process_spec spec) {
  process_ = launcher.launch(std::move(spec), *this);
}

void server_run::on_spawned(pid_t pid, std::unique_ptr<transport> connection) {
  if (!owner_) return;
  pid_ = pid;
  transport_ = std::move(connection);
  connected_ = true;
  transport_->start(*this);
  owner_->run_spawned(pid);
  if (!owner_) return;
  if (closing_) {
    transport_->finish_sending();
  } else {
    session_ = std::make_unique<session_core>(options_, static_cast<session_events&>(*this));
    session_->begin(time_.now());
  }
  if (owner_) owner_->run_settled();
}

void server_run::on_spawn_failed(const error& why) {
  if (!owner_) return;
  owner_->run_spawn_failed(why);
  if (owner_) owner_->run_settled();
}

void server_run::on_stderr(std::string_view bytes) {
  if (owner_) owner_->run_stderr(bytes);
}

void server_run::on_exited(process_exit how) {
  if (!owner_) return;
  owner_->run_exited(how);
  if (owner_) owner_->run_settled();
}

void server_run::on_message(message&& m) {
  if (!owner_ || !session_) return;
  session_->on_message(std::move(m), time_.now());
  if (owner_) owner_->run_settled();
}

void server_run::on_fault(line_fault fault) {
  if (!owner_ || !session_) return;
  if (fault.type == line_fault::kind::malformed && fault.envelope.code == code::parse_error) {
    // Half a line may be the first sign of a death, and the exit that follows explains more than half a line does.
    soon_->post([this, alive = std::weak_ptr<bool>(alive_), f = std::move(fault)] {
      if (alive.expired() || !owner_ || !connected_) return;
      session_->on_fault(f, time_.now());
      if (owner_) owner_->run_settled();
    });
    return;
  }
  session_->on_fault(fault, time_.now());
  if (owner_) owner_->run_settled();
}

void server_run::on_drained() {
  window_.drained();
}

void server_run::on_closed(const error& why) {
  connected_ = false;
  if (!owner_ || closing_) return;
  closed_why_ = why.code == errc::limit ? why.message : "closed a stream (" + why.message + ") and did not exit";
  lost_at_ = time_.now() + exit_grace;
  owner_->run_settled();
}

void server_run::session_send(const segments& text) {
  if (!connected_ || closing_) return;
  if (window_.idle()) window_.begin(time_.now());
  if (const auto* request = std::exchange(sending_, nullptr))
    window_.sent_request(text.size() + 1, request->asker);
  else
    window_.sent(text.size() + 1);
  transport_->send(text);
}

result<call_number> server_run::call(const server_call& c, call_limits limits, time_point now,
                                     pending_calls::done_handler done, pending_calls::progress_handler progress) {
  sending_ = &c;
  auto number = session_->call(c, limits, now, std::move(done), std::move(progress));
  sending_ = nullptr;
  return number;
}

void server_run::close_stdin() {
  closing_ = true;
  if (transport_) transport_->finish_sending();
}

void server_run::signal(int number) {
  if (process_) process_->signal(number);
}

void server_run::close_session(errc code, const std::string& why) {
  if (session_) session_->close(code, why);
}

void server_run::detach() {
  owner_ = nullptr;
  connected_ = false;
  if (transport_) transport_->close();
}

void server_run::tick(time_point now) {
  if (session_ && owner_ && !closing_) session_->tick(now);
  if (!owner_ || closing_) return;
  if (lost_at_ <= now) {
    lost_at_ = never;
    return owner_->run_lost(closed_why_);
  }
  if (connected_ && window_.stalled(unsent(), now)) owner_->run_lost("has read nothing for 30 s");
}

time_point server_run::next_time() const {
  if (closing_) return never;
  return std::min({session_ ? session_->next_deadline() : never, lost_at_, connected_ ? window_.next_time() : never});
}

void server_run::session_ready() {
  if (owner_) owner_->run_ready();
}
void server_run::session_refused(const error& why) {
  if (owner_) owner_->run_refused(why);
}
void server_run::session_dropped(const feature_kind& kind, std::vector<std::string> why) {
  if (owner_) owner_->run_dropped(kind, std::move(why));
}
void server_run::session_list(const feature_kind& kind, feature_list list) {
  if (owner_) owner_->run_list(kind, std::move(list));
}
void server_run::session_log(const raw_json& params) {
  if (owner_) owner_->run_log(params);
}

void server_run::session_problem(const std::string& what) {
  if (owner_) owner_->run_problem(what);
}
void server_run::session_hangs(const std::string& why) {
  if (owner_) owner_->run_lost("hangs: " + why);
}

}  // namespace mcpbx::mcp
