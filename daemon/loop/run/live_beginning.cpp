// Beginning of a run, also of one that an earlier process left: waits for memory, its session and its tools.
#include "daemon/loop/core/call_ids.hpp"
#include "daemon/loop/core/recovery.hpp"
#include "daemon/loop/core/stricter.hpp"
#include "daemon/loop/run/live_run.hpp"
#include "daemon/loop/run_words.hpp"
#include "daemon/store/records/principal.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::daemon {

namespace asio = boost::asio;
namespace {

constexpr milliseconds settle_time{1'000};  // longest wait of the first round for servers that still start
constexpr milliseconds longest_wait_for_room{30'000};
constexpr milliseconds longest_farewell{5'000};  // longest wait for the run before it, which is ending

}  // namespace

void live_run::begin_behind(const std::shared_ptr<live_run>& before) {
  before_ = before;
  before->next_ = weak_from_this();
}

void live_run::let_next_begin() {
  over_ = true;
  if (const auto next = next_.lock()) next->inbox_.push(look_again{});
}

// Runs that go on come to their end first. One that was asked to end while it waits here never begins.
asio::awaitable<result<void>> live_run::wait_for_room() {
  if (picked_up_ || !around_.room.is_short()) co_return result<void>();
  told_.status(words::waits_for_room);
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
    unwanted = std::holds_alternative<stop_asked>(next) || std::holds_alternative<winding_up>(next);
    early.push_back(std::move(next));
  }
  for (auto& i : early) inbox_.push(std::move(i));
  if (unwanted) co_return fail(errc::cancelled, "the run was cancelled before it began");
  if (!place->is_called()) co_return fail(errc::limit, std::string(words::no_room));
  co_return result<void>();
}

// A run that was asked to end is over in a moment, and whoever asked for that goes on with its session.
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

// Loads the session's messages, for a run that goes on with a session.
asio::awaitable<result<void>> live_run::inherit() {
  if (!goes_on_) co_return result<void>();
  auto history = co_await history_of(around_.store, request_.session);
  if (!history) {
    // The run is named to persons only; the session may be another's.
    if (history.error().code == errc::unavailable && !is_person(request_.principal))
      co_return fail(errc::unavailable, words::session_in_use(request_.session));
    co_return std::unexpected(std::move(history.error()));
  }
  if (!may_have(request_.principal, history->principal))
    co_return fail(errc::not_found, "there is no session " + json_quoted(request_.session) + " of this caller's own");
  inherited_ = std::move(*history);
  offer_.restore(inherited_.tools);
  kept_.session = true;
  if (auto kept = keep_terms(); !kept) co_return kept;
  const bool waits = !inherited_.empty() && inherited_.back()->role != providers::role::assistant;
  if (request_.messages.empty() && !waits)
    co_return fail(
        errc::invalid_argument,
        "the session " + request_.session +
            " has no question that waits for an answer; ask one (`mcpbx sessions resume ID TEXT`, or \"input\" in a "
            "request)");
  co_return result<void>();
}

// Fills in what the request does not say itself from the session's latest run: so nothing that needed an approval
// there, or was not offered, is done without one because somebody goes on with the session.
result<void> live_run::keep_terms() {
  if (!request_.keep_terms) return {};
  if (auto kept = request_.keep_terms(request_, inherited_.terms); !kept) return kept;
  auto models = around_.models(request_);
  if (!models) return std::unexpected(std::move(models.error()));
  use(std::move(*models));
  return {};
}

// The fold of the records says what is to be done now; time that no process lived does not count. Whoever comes from
// here on finds the run as it was left, also while its tools are still waited for.
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
  if (core_.parked()) hand_over(parked_until_ms);
}

// They may be stricter than when the run began, and stricter ones may have been recorded by a process between.
void live_run::keep_to_limits() {
  auto limits = stricter(core_.limits(), request_.limits);
  if (limits != core_.limits()) {
    records lowered;
    lowered.emplace_back(record::limits_lowered{limits});
    fold(std::move(lowered));
  }
  limits.status = request_.limits.status;  // the model that writes the lines may be gone
  request_.limits = std::move(limits);
}

// A clock that was set back meanwhile gives open questions no more time than they had.
void live_run::tell_again() {
  std::vector<record::question> open;
  for (const auto* q : core_.questions()) {
    open.push_back(*q);
    open.back().expires_ms = around_.time.wall_ms() + approvals_.left_until(q->expires_ms).count();
  }
  told_.tell_again(open);
}

// Keeps other items that come while the servers start for later, except for a wish to stop.
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
      if (std::holds_alternative<stop_asked>(early.back()) || std::holds_alternative<winding_up>(early.back()))
        co_return early;
    }
    // Before its time: no server is starting any more. None starts for longer than its own limit.
    over = around_.time.now() - since < settle_time || !misses_tools();
  }
  co_return early;
}

// Calls that an earlier process left are to be made, or asked about, and the servers of their tools are not there yet.
bool live_run::misses_tools() {
  if (!picked_up_ || core_.to_be_made().empty()) return false;
  take_offer();
  return std::ranges::any_of(core_.to_be_made(), [&](const auto* call) { return !offer_.find(call->name); });
}

}  // namespace mcpbx::daemon
