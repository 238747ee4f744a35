// Beginning of a run, new or left by an earlier process, up to its first record.
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

namespace mcpbx::daemon::run {

namespace asio = boost::asio;
namespace {

constexpr milliseconds longest_wait_for_room{30'000};  // a new run waits this long for memory
constexpr std::size_t most_kept_bytes = 32u << 20;     // messages of a session that a new one begins with

}  // namespace

void live_run::begin_behind(const std::shared_ptr<live_run>& before) {
  before_ = before;
  before->next_ = weak_from_this();
}

void live_run::release_session() {
  over_ = true;
  if (const auto next = next_.lock()) next->waits_.look_again();
}

// Waits for memory, for the run before this one in its session and for the session's messages. A run of an earlier
// process does not wait for memory.
asio::awaitable<result<void>> live_run::wait_to_begin() {
  if (!picked_up_ && around_.room.is_short()) {
    announcements_.status(loop::words::waits_for_room);
    if (auto room = co_await waits_.for_room(std::min(clock_.left(), longest_wait_for_room)); !room) co_return room;
  }
  const auto is_free = [this] {
    const auto before = before_.lock();
    return !before || before->is_over();
  };
  if (!is_free() && !co_await waits_.for_session(is_free)) {
    const auto before = before_.lock();
    co_return fail(errc::unavailable, loop::words::session_in_use(request_.session, before ? before->name() : ""));
  }
  co_return co_await inherit();
}

// Loads the conversation and terms of the session, for a run that continues one.
asio::awaitable<result<void>> live_run::inherit() {
  if (!goes_on_) co_return result<void>();
  auto history = co_await store::history_of(around_.store, request_.session);
  if (!history) {
    // The error names the active run only to people, because the session may belong to another caller.
    if (history.error().code == errc::unavailable && !stored::is_person(request_.principal))
      co_return fail(errc::unavailable, loop::words::session_in_use(request_.session));
    co_return std::unexpected(std::move(history.error()));
  }
  if (!stored::may_have(request_.principal, history->principal))
    co_return fail(errc::not_found, "this caller has no session " + json::json_quoted(request_.session));
  before_this_.history = std::move(*history);
  offer_.restore(before_this_.history.tools);
  kept_.session = true;
  if (auto inherited = inherit_terms(); !inherited) co_return inherited;
  if (request_.keep) {
    if (auto begun = begin_beside(); !begun) co_return begun;
    co_return result<void>();
  }
  const bool waits = !before_this_.history.empty() && before_this_.history.back()->role != providers::role::assistant;
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
  auto& before = before_this_.history;
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
  json::json_writer measured(size);
  for (std::size_t i = 0; i < keep && size.size() <= most_kept_bytes; ++i)
    providers::append_message(measured, *before[i]);
  if (size.size() > most_kept_bytes)
    return fail(errc::limit, "params.keep: the first " + counted(keep, "message") + " of the session " +
                                 request_.session + " have more than " + std::to_string(most_kept_bytes >> 20) +
                                 " MiB, too much for the beginning of another one");
  const bool has_system = !mine.empty() && mine.front()->role == providers::role::system;
  mine.insert(mine.begin() + (has_system ? 1 : 0), before.begin(), before.begin() + static_cast<std::ptrdiff_t>(keep));
  before_this_.meant = std::move(before.tools);
  before_this_.history = {};
  request_.session = "ses_" + hex(around_.random.next(), 16);
  return {};
}

// Fills in the terms that the request leaves open from the session's latest run. So continuing a session never lifts an
// approval or adds a tool that was not offered.
result<void> live_run::inherit_terms() {
  if (!request_.keep_terms) return {};
  if (auto kept = request_.keep_terms(request_, before_this_.history.terms); !kept) return kept;
  auto models = models_of(request_);
  if (!models) return std::unexpected(std::move(models.error()));
  use(std::move(*models));
  return {};
}

// Applies the records; resume() then yields the commands to continue with. The time between the two processes does not
// count. Callers that attach from here on find the run as it was left, even before its tools are available.
void live_run::pick_up(store::unfinished_run left) {
  picked_up_ = true;
  records_.open(std::move(left.journal));
  std::int64_t before_ms = 0, parked_until_ms = 0;
  for (const auto& r : left.records) {
    core_.apply(r);
    if (const auto* round = std::get_if<stored::record::round_started>(&r)) before_ms = round->elapsed_ms;
    if (const auto* used = std::get_if<stored::record::time_used>(&r)) before_ms = used->elapsed_ms;
    if (const auto* parked = std::get_if<stored::record::parked>(&r)) {
      parked_until_ms = parked->expires_ms;
      before_ms = std::max(before_ms, parked->elapsed_ms);
    }
  }
  const auto& started = std::get<stored::record::run_started>(left.records.front());
  offer_.restore(started.inherited_tools);
  offer_.restore(core::meant_tools(left.records));
  call_ids_ = core::ids_of(started.inherited);
  call_ids_.merge(core::ids_of(started.messages));
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
  auto limits = core::stricter(core_.facts().limits, request_.limits);
  if (limits != core_.facts().limits) {
    records lowered;
    lowered.emplace_back(stored::record::limits_lowered{limits});
    fold(std::move(lowered));
  }
  limits.status = request_.limits.status;  // resume() changes it if the model of status lines is gone
  request_.limits = std::move(limits);
}

// Repeats the round and the open questions for readers. If the wall clock was set back meanwhile, the questions get no
// more than questionTimeoutMs.
void live_run::tell_again() {
  std::vector<stored::record::question> open;
  for (const auto* q : core_.questions()) {
    open.push_back(*q);
    open.back().expires_ms = around_.time.wall_ms() + approvals_.left_until(q->expires_ms).count();
  }
  announcements_.tell_again(open);
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
    if (tools::may_choose(request_.tools, server.name)) announcements_.status(server.sentence);
}

stored::record::run_started live_run::opening() {
  take_offer();
  auto made =
      opening_of(request_, std::exchange(before_this_, {}), {model_.model(), offer_, around_.tools, around_.random});
  call_ids_ = std::move(made.call_ids);
  return std::move(made.first);
}

asio::awaitable<result<run_preview>> live_run::preview() {
  auto begun = co_await inherit();
  if (!begun) co_return std::unexpected(std::move(begun.error()));
  co_await waits_.for_servers([this] { return misses_tools(); });
  const auto first = opening();
  const auto& offered = *offer_.now();
  run_preview p;
  p.model = first.model;
  p.id = model_.model().id();
  p.api = model_.model().api();
  p.profile = first.profile;
  for (const auto& m : stored::conversation_of(first)) {
    std::string json;
    json::json_writer w(json);
    providers::append_message(w, *m);
    ++p.messages;
    p.message_bytes += json.size();
  }
  p.left_out = offered.left_out;
  if (first.limits.max_rounds > 0)
    for (const auto& tool : offered.set->tools) {
      p.tools.push_back(tool.name);
      p.tool_bytes += tool.name.size() + tool.description.size() + tool.schema.text().size();
    }
  co_return p;
}

void live_run::take_offer() {
  offer_.take(model_.model(), request_.messages.empty() ? core_.facts().started.messages : request_.messages,
              !core_.facts().kept.empty());
}

}  // namespace mcpbx::daemon::run
