// Starts and ends the sessions of one tool server and reports what happens to them. managed_client_calls.cpp has the
// calls.
#include "mcp/client/supervise/managed_client.hpp"

#include "mcp/redact/secret.hpp"
#include "mcp/support/log.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::mcp::supervise {
managed_client::managed_client(server_options o, server_context context)
    : options_(std::move(o)),
      context_(std::move(context)),
      core_({options_.disabled, options_.lazy, !options_.unusable.empty(), options_.start_timeout, options_.idle_stop},
            context_.random),
      meter_(context_.meter ? context_.meter : std::make_shared<call_meter>(context_.time.now())),
      connector_(options_.connect ? options_.connect() : nullptr),
      timer_(context_.time.make_timer()),
      desk_(std::make_shared<question_desk>(context_.soon)) {
  if (!options_.unusable.empty()) failed(who() + " cannot be started: " + options_.unusable);
}

managed_client::~managed_client() {
  drop();
}

void managed_client::drop() {
  if (std::exchange(dropped_, true)) return;
  stopping_ = true;  // holders of this client get refusals from now on
  timer_->cancel();
  drop_session();
  waiting_.clear();
  task_runs_.clear();
  std::exchange(calls_, {}).clear();
  desk_->clear("mcpbx is stopping");
}

void managed_client::start() {
  core_.start(context_.time.now());
  drive();
}

void managed_client::wake_to_list() {
  if (stopping_) return;
  if (up()) {
    session_->core()->lists_wanted(context_.time.now());
    arm_for(session_->next_time());
  }
  if (listed_) return;
  core_.wake(context_.time.now());
  drive();
}

void managed_client::restart() {
  attempted_ = true;
  suspect_ = false;
  if (recovers_by_ == recovery::answer) recovers_by_ = recovery::ready;
  core_.restart(context_.time.now());
  drive();
}

void managed_client::retry_now(std::size_t crowd) {
  core_.retry_now(context_.time.now(), crowd);
  drive();
}

void managed_client::adjust(server_options o) {
  options_ = std::move(o);
  if (session_) session_->set_extensions(options_.extensions);
  drive();
}

void managed_client::stop(milliseconds grace, std::string why) {
  const time_point until = context_.time.now() + grace;
  if (std::exchange(stopping_, true)) {
    stop_at_ = std::min(stop_at_, stop_at_ == never ? never : until);
    return drive();
  }
  stop_why_ = std::move(why);
  fail_waiting({errc::unavailable, who() + " is not started any more: " + stop_why_});
  stop_at_ = until;
  drive();
}

void managed_client::stop_now(time_point now) {
  stop_at_ = never;
  std::vector<ticket> open;
  for (const auto& [t, r] : calls_) open.push_back(t);
  std::ranges::sort(open);
  for (const ticket t : open) cancel(t, stop_why_);
  core_.stop(now);
}

bool managed_client::settling() const noexcept {
  if (attempted_ || options_.disabled || stopping_) return false;
  return core_.state() == clients::server_state::starting;
}

// Events of the connection and the conversation.

void managed_client::session_not_opened(const connect::link_failure& failure) {
  drop_session();
  failed(who() + " " + redact::redactor::redact(failure.why));
  log::warn(last_error_);
  attempted_ = true;
  core_.not_opened(context_.time.now(), context_.host.server_ended(*this), failure.try_again, failure.wait);
  fail_waiting({errc::unavailable, last_error_});
  drive();
}

void managed_client::session_ended(const std::string& how) {
  const auto self = shared_from_this();
  const time_point now = context_.time.now();
  const bool expected = core_.ending();
  const bool starting = !session_->ready() && !expected;
  std::string text = who() + " " + how;
  if (starting) {
    const auto waits_for = session_->core() ? session_->core()->waits_for() : std::string_view();
    text += waits_for.empty() ? " before it was ready"
                              : " before it was ready, while it was asked " + std::string(waits_for);
    // Some servers exit at a request that they do not know; the next session begins with the old handshake at once.
    if (session_->core() && session_->core()->probing()) legacy_known_ = true;
    text += junk();
  }
  const std::string for_calls = with_last_words(starting ? text : text + " during the call");
  if (!expected) {
    failed(with_last_words(text));
    log::warn(last_error_);
  }
  attempted_ = attempted_ || !expected;
  core_.gone(now, expected ? 0 : context_.host.server_ended(*this));
  dirty_ = true;
  // Calls that wait fail first: handlers of the others may make new calls, which may wait for the next session.
  if (!expected || !core_.will_be_ready(now)) fail_waiting({errc::unavailable, for_calls});
  for (const auto& w : waiting_)
    if (const auto r = calls_.find(w.t); r != calls_.end()) r->second.since = std::max(r->second.since, now);
  end_session(for_calls);
  drive();
}

void managed_client::session_expired(const std::string& how) {
  const time_point now = context_.time.now();
  // A server that ends its sessions one after another is treated like one that exits.
  if (!up() || core_.ending() || !core_.renew(now)) return session_ended(how);
  const auto self = shared_from_this();
  log::info(who() + " " + how + "; a new session is opened");
  dirty_ = true;
  end_session(who() + " " + how + " during the call, and it is not known whether it did what was asked");
  drive();
}

void managed_client::session_ready() {
  up_since_ = context_.time.now();
  era_ = session_->core()->era();
  revision_ = session_->core()->revision();
  instructions_ = session_->core()->instructions();
  legacy_known_ = era_ == clients::era::legacy;
  attempted_ = true;
  core_.ready(context_.time.now());
  note_load(context_.time.now());
  sync_watches();
  dirty_ = true;
  if (!log::enabled(log::level::info)) return;
  const std::string label = connector_->label();
  log::info("server " + options_.name + " is ready: MCP " + revision_ + ", " + std::to_string(listed_items_.front()) +
            " tools" + (label.empty() ? label : ", " + label));
}

void managed_client::session_refused(const error& why) {
  failed(with_last_words(why.message));
  log::warn(last_error_);
  legacy_known_ = false;
  attempted_ = true;
  core_.refused(context_.time.now());
  fail_waiting({errc::unavailable, last_error_});
  dirty_ = true;
}

void managed_client::session_dropped(const protocol::feature_kind& kind, std::vector<std::string> why) {
  context_.host.server_dropped(*this, kind, std::move(why));
}

void managed_client::session_offers(const protocol::server_offers& offers) {
  offers_ = offers;
  context_.host.server_offered(*this);
}

void managed_client::session_list(const protocol::feature_kind& kind, protocol::feature_list list) {
  if (const auto place = static_cast<std::size_t>(kind.id); place < listed_items_.size())
    listed_items_[place] = list->size();
  if (kind.id == protocol::kind_id::tools) read_task_tools(*list);
  listed_ = true;
  context_.host.server_list(*this, kind, std::move(list));
}

void managed_client::session_problem(const std::string& what) {
  if (!what.empty())
    failed(what, recovery::list);
  else
    recovered(recovery::list);
}

void managed_client::session_lost(const std::string& why) {
  const auto self = shared_from_this();
  failed(with_last_words(who() + " " + why + "; it is being restarted"), recovery::answer);
  suspect_ = true;
  log::warn(last_error_);
  attempted_ = true;
  core_.lost(context_.time.now());
  dirty_ = true;
  const std::string text = last_error_;
  fail_waiting({errc::unavailable, text});
  if (session_) session_->close_session(errc::unavailable, text);
  end_unsent_rounds(text);
}

void managed_client::session_settled() {
  if (dropped_) return;
  if (dirty_) {
    const auto self = shared_from_this();
    drive();
  } else if (session_) {
    arm_for(session_->next_time());
  }
}

// Steps to take.

// Takes steps until nothing changes any more. Events of a step call this again, which only asks for another round.
void managed_client::drive() {
  dirty_ = true;
  if (driving_ || dropped_) return;
  driving_ = true;
  while (std::exchange(dirty_, false)) {
    const time_point now = context_.time.now();
    if (stopping_ && !core_.ended() && stop_at_ != never && (calls_.empty() || stop_at_ <= now)) stop_now(now);
    for (auto c = core_.next_command(now); c != supervisor_core::command::none; c = core_.next_command(now))
      obey(c, now);
    dispatch_waiting(now);
  }
  driving_ = false;
  rearm();
  context_.host.server_moved();
}

void managed_client::obey(supervisor_core::command command, time_point now) {
  using enum supervisor_core::command;
  const auto step = [this](connect::ending s) { return session_ && session_->end(s); };
  switch (command) {
    case none:
      return;
    case open:
      return this->open();
    case start_timed_out: {
      const auto waits_for = session_ && session_->core() ? session_->core()->waits_for() : std::string_view();
      failed(with_last_words(who() + " was not ready within " + wait_in_words(options_.start_timeout) +
                             (waits_for.empty() ? "" : ": it did not answer " + std::string(waits_for)) + junk()));
      log::warn(last_error_);
      attempted_ = true;
      legacy_known_ = false;  // the next session probes again
      return fail_waiting({errc::timed_out, last_error_});
    }
    case ask_to_end:
      if (step(connect::ending::ask)) return;
      break;
    case insist:
      if (step(connect::ending::insist)) return;
      break;
    case force:
      if (step(connect::ending::force)) return;
      break;
    case abandon:
      failed(who() + " is still there after " + std::string(connector_->force_name()) +
             "; mcpbx no longer waits for it");
      log::warn(last_error_);
      break;
  }
  // There is no end to wait for: the connection was not open yet, or it is abandoned.
  core_.gone(now, 0);
  if (session_) end_session(last_error_);
}

void managed_client::open() {
  if (!connector_) return session_not_opened({"cannot be started: its entry names no program"});
  recovered(recovery::list);  // the new session asks for its own lists
  session::session_core::options o;
  o.server = options_.name;
  o.own_info =
      json::raw_json::own("{\"name\":\"mcpbx\",\"version\":" + json::json_quoted(context_.options.version) + "}");
  o.protocol = options_.protocol;
  o.start_timeout = options_.start_timeout;
  o.skip_probe = legacy_known_;
  o.kinds = context_.options.kinds;
  o.extensions = options_.extensions;
  session_ = std::make_unique<server_session>(static_cast<server_session_events&>(*this), context_.time, context_.soon,
                                              std::move(o));
  const clients::deferred::call inside(context_.soon);
  session_->open(*connector_);
}

// Ends the session. Its unanswered calls fail with `why`.
void managed_client::end_session(const std::string& why) {
  auto session = std::move(session_);
  session->detach();
  if (session->core()) {
    noise_before_ += session->core()->noise_lines();
    dropped_before_ += session->core()->dropped_answers();
  }
  session->close_session(errc::unavailable, why);
  end_unsent_rounds(why);
  forget_questions(why);
  notes_.clear();
  context_.soon->bury(std::move(session));
  hold_watches();
}

// Drops the session. Its calls get no outcome from it.
void managed_client::drop_session() {
  if (!session_) return;
  auto session = std::move(session_);
  session->detach();
  context_.soon->bury(std::move(session));
  hold_watches();
}

// Time.

void managed_client::tick() {
  const auto self = shared_from_this();
  armed_at_ = never;
  const time_point now = context_.time.now();
  if (session_) session_->tick(now);
  expire_waiting(now);
  desk_->expire(now);
  tick_tasks(now);
  deliver_updates(now);
  if (!dropped_) drive();
}

void managed_client::arm_for(time_point when) {
  if (when >= armed_at_ || dropped_) return;
  armed_at_ = when;
  timer_->arm(when, [this] { tick(); });
}

void managed_client::rearm() {
  time_point next =
      std::min({core_.next_time(), session_ ? session_->next_time() : never, core_.ended() ? never : stop_at_,
                desk_->next_deadline(), next_task_time(), watches_.next_time()});
  for (const auto& w : waiting_)
    if (const auto r = calls_.find(w.t); r != calls_.end()) next = std::min(next, waits_until(r->second));
  arm_for(next);
}

}  // namespace mcpbx::mcp::supervise
