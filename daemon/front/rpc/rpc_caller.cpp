// Life of one JSON-RPC caller: its messages in both directions, and what it may do. rpc_runs.cpp has its runs.
#include "daemon/front/rpc/rpc_caller.hpp"

#include "daemon/front/base/admission.hpp"
#include "daemon/front/rpc/opening_reads.hpp"
#include "daemon/front/rpc/run_lookup.hpp"
#include "daemon/store/records/principal.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/redact/hidden_text.hpp"
#include "mcp/server/base/rpc_errors.hpp"
#include "mcp/support/log.hpp"
#include "mcp/support/shared_bytes.hpp"
#include "mcp/support/text.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace mcpbx::daemon::rpc_door {
namespace {

constexpr std::size_t large_outbox = 4u << 20;

/// Methods for tool servers that may call: they ask and read. They answer no question, approve no pin, and stop or
/// restart nothing. New methods are refused to them until listed here.
constexpr std::array<std::string_view, 12> for_servers{
    "mcpbx/hello",     "mcpbx/chat",          "mcpbx/attach",       "mcpbx/cancel",
    "mcpbx/tools",     "mcpbx/models",        "mcpbx/status",       "mcpbx/servers",
    "mcpbx/pins/list", "mcpbx/sessions/list", "mcpbx/sessions/get", "mcpbx/sessions/delete"};

}  // namespace

rpc_caller::rpc_caller(front::door_context& door, std::unique_ptr<mcp::transports::transport> transport, pid_t pid,
                       std::string principal)
    : door_(door),
      transport_(std::move(transport)),
      pid_(pid),
      principal_(std::move(principal)),
      scope_(mcp::clients::call_scope::of_caller(who(), {}, principal_)),
      audit_(door.settings.audit
                 ? std::make_shared<front::caller_audit>(*door.settings.audit, door.time, principal_, pid)
                 : nullptr),
      outbox_(door.settings.outbox, door.time, *transport_, *this),
      turns_(door.time,
             [this] {
               boost::asio::post(door_.executor, [weak = weak_from_this()] {
                 const auto self = weak.lock();
                 if (self && !self->closed_) self->take_turn();
               });
             }),
      session_(*this, door.settings.session) {
  door_.news.enter(*this);
}

rpc_caller::~rpc_caller() {
  rpc_caller::close("");
}

std::string rpc_caller::who() const {
  return "caller " + (name_.empty() ? std::string() : redact::printable(name_) + " ") + "(pid " + std::to_string(pid_) +
         ")";
}

void rpc_caller::close(std::string_view why) {
  if (std::exchange(closed_, true)) return;
  leave();
  if (!why.empty()) log::warn(who() + ": closed: " + std::string(why));
  // Closes the session first, so that no later end is answered; then its runs and its queue.
  session_.close();
  turns_.clear();
  for (auto& [serial, stream] : std::exchange(streams_, {})) stream->leave("the caller went away");
  end_openings({});
  count_into(door_.counters);
  outbox_.close();
  transport_->close();
  scope_.reset();
  std::exchange(kept_until_closed_, {}).clear();
  if (door_.on_gone) door_.on_gone(*this);
}

std::shared_ptr<void> rpc_caller::kept_until_closed(const std::string& key,
                                                    const std::function<std::shared_ptr<void>()>& make) {
  constexpr std::size_t most = 256;
  if (const auto found = kept_until_closed_.find(key); found != kept_until_closed_.end()) return found->second;
  auto made = make();
  if (closed_) return made;
  std::map<std::string, std::shared_ptr<void>>::node_type dropped;  // its end may close this caller
  if (kept_until_closed_.size() >= most) dropped = kept_until_closed_.extract(kept_until_closed_.begin());
  kept_until_closed_.emplace(key, made);
  return made;
}

void rpc_caller::count_into(front::door_counters& counters) const {
  counters.requests += session_.counts().requests;
  counters.faults += session_.counts().faults;
  counters.stray += session_.counts().stray;
  counters.overloaded += session_.counts().overloaded;
}

void rpc_caller::on_message(mcp::rpc::message&& m) {
  if (turns_.admit()) return session_.on_message(std::move(m));
  in_turn([this, m = std::move(m)]() mutable { session_.on_message(std::move(m)); });
}

void rpc_caller::on_fault(mcp::rpc::message_fault f) {
  if (closed_) return;
  if (turns_.admit()) return session_.on_fault(f);
  in_turn([this, f = std::move(f)] { session_.on_fault(f); });
}

// Runs `work` in a turn with room. Until then no more is read: at most one read's messages wait.
void rpc_caller::in_turn(std::move_only_function<void()> work) {
  turns_.wait(std::move(work));
  pause_reading(outbox_full_);
}

void rpc_caller::take_turn() {
  turns_.run();
  if (closed_) return;
  pause_reading(outbox_full_);
  if (!input_ended_) return;
  if (!turns_.waiting()) session_.end_input();
  if (!closed_ && done()) close("");
}

void rpc_caller::pause_reading(bool paused) {
  outbox_full_ = paused;
  const bool stop = outbox_full_ || turns_.waiting();
  if (std::exchange(not_read_, stop) != stop) transport_->pause_reading(stop);
}

// Returns true if all requests are answered and all answers have left.
bool rpc_caller::done() const {
  return !turns_.waiting() && session_.open() == 0 && outbox_.bytes() == 0 && transport_->unsent() == 0;
}

bool rpc_caller::on_input_end() {
  input_ended_ = !closed_ && !done();
  if (!input_ended_) return false;
  const auto self = shared_from_this();  // an ending request may release this object
  for (const auto& [serial, stream] : streams_) stream->answer_no_more();
  if (!turns_.waiting()) session_.end_input();
  return !closed_;
}

void rpc_caller::on_drained() {
  outbox_.flush();
  if (input_ended_ && !closed_ && done()) close("");
}

void rpc_caller::on_closed(const error& why) {
  log::debug(who() + ": left: " + why.message);
  close("");
}

void rpc_caller::send(const mcp::server::answered&, const json::segments& text) {
  outbox_.push(text);
  watch_bytes();
}

void rpc_caller::send_progress(std::uint64_t serial, const json::segments& text) {
  outbox_.push_progress(serial, text);
}

// Queues a request of ours; all of them use this one connection.
void rpc_caller::send_ask(std::uint64_t /*about*/, const json::segments& text, mcp::rpc::outgoing what) {
  outbox_.push(text, what);
  watch_bytes();
}

void rpc_caller::send_note(const mcp::server::note& n, const json::segments& text) {
  if (n.droppable && outbox_.over()) return;
  if (!n.same.empty()) return outbox_.push_merged(std::to_string(n.about) + " " + std::string(n.same), text);
  outbox_.push(text, {});
  watch_bytes();
}

void rpc_caller::watch_bytes() {
  was_large_ = was_large_ || outbox_.bytes() > large_outbox;
  door_.watch_bytes();
}

bool rpc_caller::hears_of_others() const {
  return stored::is_person(principal_);
}

result<void> rpc_caller::admit_call() const {
  return front::admit_call(door_);
}

result<void> rpc_caller::admit_call(const mcp::catalogs::catalog_entry& tool) const {
  return front::admit_call(door_, principal_, tool);
}

result<void> rpc_caller::admit_read(const mcp::protocol::feature_kind& kind, std::string_view server,
                                    std::string_view own) const {
  return front::admit_read(door_, principal_, kind, server, own);
}

bool rpc_caller::uses_extensions() const {
  return front::may_use_extensions(principal_);
}

result<void> rpc_caller::admit_extension(std::string_view method) const {
  return front::admit_extension(principal_, method);
}

std::shared_ptr<mcp::clients::question_handler> rpc_caller::own_answers(const mcp::clients::server_question& q) {
  auto* const answers = door_.settings.answers;
  if (!answers || !answers->answers(q)) return nullptr;
  if (!own_answers_) own_answers_ = answers->handler_for({.principal = principal_, .pid = pid_, .name = name_});
  return own_answers_;
}

bool rpc_caller::lends(const mcp::clients::server_question& q) {
  return door_.settings.answers && door_.settings.answers->lends(q);
}

bool rpc_caller::handle(std::string_view method, const json::raw_json& params, const mcp::server::reply_once& reply) {
  const auto* handler = mcp_only_ ? nullptr : door_.methods.find(method);
  if (!handler) return false;
  if (!stored::is_person(principal_) && std::ranges::find(for_servers, method) == for_servers.end()) {
    reply.error(
        mcp::rpc::rpc_error{mcp::rpc::code::invalid_request,
                            "a tool server may not use " + std::string(method) +
                                ", which is for the person whose daemon this is; ask from a program of your own",
                            {}});
    return true;
  }
  (*handler)(*this, params, reply);
  return true;
}

bool rpc_caller::set_profile(std::string name) {
  if (name == profile_) return false;
  profile_ = std::move(name);
  return true;
}

void rpc_caller::tell_other_tools() {
  if (!closed_) session_.list_changed(mcp::protocol::tool_kind());
}

void rpc_caller::when_settled(milliseconds at_most, std::function<void()> then) {
  door_.daemon.when_settled(at_most, [weak = weak_from_this(), then = std::move(then)] {
    const auto self = weak.lock();
    if (!self || self->closed_) return;
    if (self->turns_.admit()) return then();
    self->in_turn(then);
  });
}

void rpc_caller::ask_flush() {
  const std::shared_ptr<front::news_round::outlet> self(shared_from_this(), this);
  if (door_.news.take(self)) return;
  boost::asio::post(door_.executor, [weak = weak_from_this()] {
    if (const auto self = weak.lock(); self && !self->closed_) self->deliver();
  });
}

void rpc_caller::deliver() {
  transport_->hold_writes();
  outbox_.flush();
  transport_->release_writes();
}

void rpc_caller::on_stuck(const std::string& why) {
  ++door_.counters.stuck;
  close(why);
}

void rpc_caller::on_ready(const std::shared_ptr<front::event_stream>& stream, front::outgoing_queue::pace how) {
  outbox_.ready(stream, how);
  watch_bytes();
}

void rpc_caller::on_end(front::event_stream& stream) {
  const auto kept = streams_.extract(stream.reply().serial());
  if (const auto& why = stream.refusal())
    stream.reply().error(mcp::server::to_rpc_error(*why));
  else
    stream.reply().result(stream.result());
}

}  // namespace mcpbx::daemon::rpc_door
