// Beginning of a run, new or left by an earlier process: waits for memory, for the session and for the tool servers.
#include "daemon/loop/core/call_ids.hpp"
#include "daemon/loop/core/recovery.hpp"
#include "daemon/loop/core/stricter.hpp"
#include "daemon/loop/run/live_run.hpp"
#include "daemon/loop/run_words.hpp"
#include "daemon/loop/tools/chosen_tools.hpp"
#include "daemon/store/records/principal.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/support/text.hpp"
#include "providers/model/message_format.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::daemon {

namespace asio = boost::asio;
namespace {

constexpr milliseconds settle_time{1'000};             // the first round waits this long for servers that are starting
constexpr milliseconds longest_wait_for_room{30'000};  // a new run waits this long for memory
constexpr std::size_t most_kept_bytes = 32u << 20;     // messages of a session that a new one begins with
constexpr milliseconds longest_farewell{5'000};        // a run waits this long for the end of the run before it

}  // namespace

void live_run::begin_behind(const std::shared_ptr<live_run>& before) {
  before_ = before;
  before->next_ = weak_from_this();
}

void live_run::release_session() {
  over_ = true;
  if (const auto next = next_.lock()) next->inbox_.push(look_again{});
}

// Waits while memory is short, so that active runs can finish first. Fails with errc::limit after 30 s or the run's
// time limit, and with errc::cancelled if the run is asked to end meanwhile. A run of an earlier process does not wait.
asio::awaitable<result<void>> live_run::wait_for_room() {
  if (picked_up_ || !around_.room.is_short()) co_return result<void>();
  announcements_.status(words::waits_for_room);
  const auto look = [weak = weak_from_this()] {
    if (auto self = weak.lock()) self->inbox_.push(look_again{});
  };
  const auto place = around_.room.enter(look);
  const auto until = around_.time.now() + std::min(clock_.left(), longest_wait_for_room);
  const auto limit = around_.time.make_timer();
  limit->arm(until, look);
  std::vector<item> early;
  bool unwanted = false;
  while (!place->is_called() && !unwanted && around_.time.now() < until) {
    auto next = co_await inbox_.next();
    if (std::holds_alternative<look_again>(next)) continue;
    unwanted = std::holds_alternative<stop_asked>(next) || std::holds_alternative<shutdown_asked>(next);
    early.push_back(std::move(next));
  }
  for (auto& i : early) inbox_.push(std::move(i));
  if (unwanted) co_return fail(errc::cancelled, "the run was cancelled before it began");
  if (!place->is_called()) co_return fail(errc::limit, std::string(words::no_room));
  co_return result<void>();
}

// Waits for the run before this one in the session, which was asked to end and usually does so soon.
asio::awaitable<result<void>> live_run::wait_for_session() {
  if (const auto before = before_.lock(); !before || before->is_over()) co_return result<void>();
  const auto limit = around_.time.make_timer();
  limit->arm(around_.time.now() + longest_farewell, [weak = weak_from_this()] {
    if (auto self = weak.lock()) self->inbox_.push(look_again{});
  });
  std::vector<item> early;
  for (;;) {
    auto next = co_await inbox_.next();
    if (std::holds_alternative<look_again>(next)) break;
    early.push_back(std::move(next));
  }
  for (auto& i : early) inbox_.push(std::move(i));
  const auto before = before_.lock();
  if (before && !before->is_over())
    co_return fail(errc::unavailable, words::session_in_use(request_.session, before->name()));
  co_return result<void>();
}

// Loads the conversation and terms of the session, for a run that continues one.
asio::awaitable<result<void>> live_run::inherit() {
  if (!goes_on_) co_return result<void>();
  auto history = co_await history_of(around_.store, request_.session);
  if (!history) {
    // The error names the active run only to people, because the session may belong to another caller.
    if (history.error().code == errc::unavailable && !is_person(request_.principal))
      co_return fail(errc::unavailable, words::session_in_use(request_.session));
    co_return std::unexpected(std::move(history.error()));
  }
  if (!may_have(request_.principal, history->principal))
    co_return fail(errc::not_found, "this caller has no session " + json_quoted(request_.session));
  inherited_ = std::move(*history);
  offer_.restore(inherited_.tools);
  kept_.session = true;
  if (auto inherited = inherit_terms(); !inherited) co_return inherited;
  if (request_.keep) {
    if (auto begun = begin_beside(); !begun) co_return begun;
    co_return result<void>();
  }
  const bool waits = !inherited_.empty() && inherited_.back()->role != providers::role::assistant;
  if (request_.messages.empty() && !waits)
    co_return fail(
        errc::invalid_argument,
        "the session " + request_.session +
            " has no question that waits for an answer; ask one (`mcpbx sessions resume ID TEXT`, or \"input\" in a "
            "request)");
  co_return result<void>();
}

// Makes the run the first one of a new session, which begins with the messages of the session that was read. They
// become the run's own messages, and keep the provider's bytes and the marks of foreign words.
result<void> live_run::begin_beside() {
  const auto keep = *std::exchange(request_.keep, std::nullopt);
  auto& before = inherited_;
  if (keep > before.size())
    return fail(errc::invalid_argument, "params.keep: the session " + request_.session + " has only " +
                                            counted(before.size(), "message") + ", so it cannot keep " +
                                            std::to_string(keep));
  const auto is_user = [&](std::size_t at) { return before[at]->role == providers::role::user; };
  // Anywhere else calls would lose their results, or an answer its end.
  if (keep < before.size() && keep > 0 && !is_user(keep) && !is_user(keep - 1))
    return fail(errc::invalid_argument, "params.keep: expected the number of a message of the user, got " +
                                            std::to_string(keep) + ", which is another one in the session " +
                                            request_.session);
  auto& mine = request_.messages;
  if (mine.empty() && (keep == 0 || !is_user(keep - 1)))
    return fail(errc::invalid_argument,
                "params.keep: no question waits for an answer there; ask one with \"input\" or \"messages\"");
  std::string size;
  json_writer measured(size);
  for (std::size_t i = 0; i < keep && size.size() <= most_kept_bytes; ++i)
    providers::append_message(measured, *before[i]);
  if (size.size() > most_kept_bytes)
    return fail(errc::limit, "params.keep: the first " + counted(keep, "message") + " of the session " +
                                 request_.session + " have more than " + std::to_string(most_kept_bytes >> 20) +
                                 " MiB, too much for the beginning of another one");
  const bool has_system = !mine.empty() && mine.front()->role == providers::role::system;
  mine.insert(mine.begin() + (has_system ? 1 : 0), before.begin(), before.begin() + static_cast<std::ptrdiff_t>(keep));
  meant_before_ = std::move(before.tools);
  inherited_ = {};
  request_.session = "ses_" + hex(around_.random.next(), 16);
  return {};
}

// Fills in the terms that the request leaves open from the session's latest run. So continuing a session never lifts an
// approval or adds a tool that was not offered.
result<void> live_run::inherit_terms() {
  if (!request_.keep_terms) return {};
  if (auto kept = request_.keep_terms(request_, inherited_.terms); !kept) return kept;
  auto models = models_of(request_);
  if (!models) return std::unexpected(std::move(models.error()));
  use(std::move(*models));
  return {};
}

// Applies the records; resume() then yields the commands to continue with. The time between the two processes does not
// count. Callers that attach from here on find the run as it was left, even before its tools are available.
void live_run::pick_up(unfinished_run left) {
  picked_up_ = true;
  records_.open(std::move(left.journal));
  std::int64_t before_ms = 0, parked_until_ms = 0;
  for (const auto& r : left.records) {
    core_.apply(r);
    if (const auto* round = std::get_if<record::round_started>(&r)) before_ms = round->elapsed_ms;
    if (const auto* used = std::get_if<record::time_used>(&r)) before_ms = used->elapsed_ms;
    if (const auto* parked = std::get_if<record::parked>(&r)) {
      parked_until_ms = parked->expires_ms;
      before_ms = std::max(before_ms, parked->elapsed_ms);
    }
  }
  const auto& started = std::get<record::run_started>(left.records.front());
  offer_.restore(started.inherited_tools);
  offer_.restore(meant_tools(left.records));
  call_ids_ = ids_of(started.inherited);
  call_ids_.merge(ids_of(started.messages));
  clock_.used_before(milliseconds(before_ms));
  note_kept();
  keep_to_limits();
  core_.resume();
  for (const auto& c : core_.commands()) todo_.push_back(c);
  for (const auto* q : core_.questions()) approvals_.asked_before(q->id);
  tell_again();
  records_.tell_recorded();
  if (core_.facts().parked) hand_over(parked_until_ms);
}

// Sets the stricter of the recorded limits and those that the request would get now. Recorded ones may be stricter
// because an earlier process has lowered them.
void live_run::keep_to_limits() {
  auto limits = stricter(core_.facts().limits, request_.limits);
  if (limits != core_.facts().limits) {
    records lowered;
    lowered.emplace_back(record::limits_lowered{limits});
    fold(std::move(lowered));
  }
  limits.status = request_.limits.status;  // resume() changes it if the model of status lines is gone
  request_.limits = std::move(limits);
}

// Repeats the round and the open questions for readers. If the wall clock was set back meanwhile, the questions get no
// more than questionTimeoutMs.
void live_run::tell_again() {
  std::vector<record::question> open;
  for (const auto* q : core_.questions()) {
    open.push_back(*q);
    open.back().expires_ms = around_.time.wall_ms() + approvals_.left_until(q->expires_ms).count();
  }
  announcements_.tell_again(open);
}

// Waits until the tool servers have started, at most for settle_time, or longer for tools of calls that an earlier
// process left. Returns the items that came meanwhile; a stop among them ends the wait.
asio::awaitable<std::vector<live_run::item>> live_run::wait_for_tools() {
  std::vector<item> early;
  for (bool over = false; !over;) {
    const auto since = around_.time.now();
    around_.tools.when_settled(settle_time, [weak = weak_from_this()] {
      if (auto self = weak.lock()) self->inbox_.push(settled{});
    });
    for (;;) {
      auto next = co_await inbox_.next();
      if (std::holds_alternative<settled>(next)) break;
      early.push_back(std::move(next));
      if (std::holds_alternative<stop_asked>(early.back()) || std::holds_alternative<shutdown_asked>(early.back()))
        co_return early;
    }
    // An end before settle_time means that no server is starting. Otherwise waits again, but not for ever: each server
    // has a time limit for its start.
    over = around_.time.now() - since < settle_time || !misses_tools();
  }
  co_return early;
}

// Returns true if calls that an earlier process left are to be made or asked about and their tools are not available.
bool live_run::misses_tools() {
  if (!picked_up_ || core_.to_be_made().empty()) return false;
  take_offer();
  return std::ranges::any_of(core_.to_be_made(), [&](const auto* call) { return !offer_.find(call->name); });
}

// Tells readers which servers' tools are missing because nobody has logged in to them. If the run has a profile or
// chose its tools, it hears only of servers that may have some of these.
void live_run::tell_of_logins() {
  for (const auto& server : around_.tools.waiting_for_login())
    if (may_choose(request_.tools, server.name)) announcements_.status(server.sentence);
}

}  // namespace mcpbx::daemon
