// See connection.hpp.
#include "daemon/front/connection.hpp"

#include "mcp/server/errors.hpp"
#include "mcp/support/log.hpp"
#include "mcp/support/shared_bytes.hpp"
#include "mcp/support/text.hpp"

#include <boost/asio/post.hpp>

#include <utility>

namespace mcpbx::daemon {
namespace {

constexpr std::size_t large_outbox = 4u << 20;

/// "GET /x HTTP/1.1" and its like: somebody took the socket for a web server.
bool is_http_request(std::string_view line) {
  const auto method = line.find(' ');
  if (method == std::string_view::npos || method == 0 || method > 16) return false;
  for (char c : line.substr(0, method))
    if (c < 'A' || c > 'Z') return false;
  return line.find(" HTTP/", method) != std::string_view::npos;
}

}  // namespace

connection::connection(door_context& door, std::unique_ptr<mcp::transport> transport, mcp::peer_credentials peer)
    : door_(door),
      transport_(std::move(transport)),
      peer_(peer),
      outbox_(door.settings.outbox, door.time, *transport_, *this),
      session_(*this, door.settings.session) {}

connection::~connection() {
  connection::close("");
}

std::string connection::who() const {
  return "caller " + (name_.empty() ? std::string() : printable(name_) + " ") + "(pid " + std::to_string(peer_.pid) +
         ")";
}

void connection::close(std::string_view why) {
  if (std::exchange(closed_, true)) return;
  if (!why.empty()) log::warn(who() + ": closed: " + std::string(why));
  // First the session, so that nothing that ends from here on is answered; then what it had going.
  session_.close();
  runs_.clear();
  door_.daemon.forget_runs(*this);
  count_into(door_.counters);
  outbox_.close();
  transport_->close();
  if (door_.on_gone) door_.on_gone(*this);
}

void connection::count_into(door_counters& counters) const {
  counters.requests += session_.counts().requests;
  counters.faults += session_.counts().faults;
  counters.stray += session_.counts().stray;
  counters.overloaded += session_.counts().overloaded;
  counters.dropped_logs += outbox_.counts().dropped_logs;
}

void connection::on_message(mcp::message&& m) {
  any_message_ = true;
  session_.on_message(std::move(m));
}

void connection::on_fault(mcp::line_fault f) {
  if (closed_) return;
  if (!any_message_ && is_http_request(f.excerpt)) {
    f.envelope.what = "HTTP is not served by this version of mcpbx; send JSON-RPC, one message per line";
    session_.on_fault(f);
    // Not a whole-line error: what follows are headers, each of which would be one more.
    transport_->pause_reading(true);
    transport_->finish_sending();
    boost::asio::post(door_.executor, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->close("");
    });
    return;
  }
  any_message_ = true;
  session_.on_fault(f);
}

void connection::on_closed(const error& why) {
  log::debug(who() + ": left: " + why.message);
  close("");
}

void connection::send(const segments& text) {
  outbox_.push(text);
  watch_bytes();
}

void connection::send_progress(std::uint64_t serial, const segments& text) {
  outbox_.push_progress(serial, text);
}

void connection::watch_bytes() {
  was_large_ = was_large_ || outbox_.bytes() > large_outbox;
  if (byte_account::total() > byte_account::limit() && door_.relieve) door_.relieve();
}

result<void> connection::admit_call() const {
  if (door_.refuses_calls) return fail(errc::unavailable, "mcpbx is stopping and takes no new calls");
  return {};
}

bool connection::handle(std::string_view method, const raw_json& params, const mcp::reply_once& reply) {
  const auto* handler = door_.methods.find(method);
  if (!handler) return false;
  (*handler)(*this, params, reply);
  return true;
}

void connection::when_settled(milliseconds at_most, std::function<void()> then) {
  door_.daemon.when_settled(at_most, [weak = weak_from_this(), then = std::move(then)] {
    const auto self = weak.lock();
    if (self && !self->closed_) then();
  });
}

void connection::ask_flush() {
  boost::asio::post(door_.executor, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->outbox_.flush();
  });
}

void connection::on_stuck(const std::string& why) {
  ++door_.counters.stuck;
  close(why);
}

void connection::start_run(run_request r, const mcp::reply_once& reply) {
  if (runs_.size() >= door_.settings.max_runs_per_caller)
    return reply.error(mcp::to_rpc_error({errc::limit, "this connection has " + std::to_string(runs_.size()) +
                                                           " runs going already; wait for one of them"}));
  r.principal = "uid:" + std::to_string(peer_.uid);
  const bool deltas = r.stream;
  auto started = door_.daemon.start_run(std::move(r), *this);
  if (!started) return reply.error(mcp::to_rpc_error(started.error()));
  runs_.insert_or_assign(*started, chat{reply, std::make_shared<event_stream>(reply.id(), *started), deltas});
  reply.on_cancel([weak = weak_from_this(), run = *started] {
    const auto self = weak.lock();
    if (!self || self->closed_) return;  // close() tells the runner about all of them
    self->runs_.erase(run);
    self->door_.daemon.cancel_run(run, "cancelled by its caller");
  });
}

bool connection::cancel_request(const mcp::rpc_id& id) {
  for (const auto& [run, chat] : runs_)
    if (chat.reply.id() == id) return door_.daemon.cancel_run(run, "cancelled by its caller");
  return session_.cancel(id, "");
}

void connection::on_event(const std::string& run, run_event e) {
  const auto found = runs_.find(run);
  if (closed_ || found == runs_.end()) return;
  if (!found->second.deltas && event_stream::is_delta(e.type)) return;
  outbox_.push_event(found->second.stream, std::move(e));
  watch_bytes();
}

void connection::on_done(const std::string& run, raw_json result) {
  auto found = runs_.extract(run);
  if (closed_ || found.empty()) return;
  outbox_.push_done(found.mapped().stream, result);
  found.mapped().reply.result(result);
}

}  // namespace mcpbx::daemon
