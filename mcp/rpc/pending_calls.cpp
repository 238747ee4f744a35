// Keeps our open requests, matches answers by exact id, and ends each request exactly once.
#include "mcp/rpc/pending_calls.hpp"

#include "mcp/redact/secret.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

namespace mcpbx::mcp::rpc {
namespace {

constexpr std::size_t remembered = 1024;

time_point after(time_point now, milliseconds wait) {
  return wait >= std::chrono::duration_cast<milliseconds>(never - now) ? never : now + wait;
}

std::string in_words(milliseconds t) {
  if (t.count() % 1000 == 0) return std::to_string(t.count() / 1000) + " s";
  return std::to_string(t.count()) + " ms";
}

/// Returns the number of an id in exactly our spelling; 0: it cannot be ours. The string "2" is not 2.
call_number number_of(const rpc_id& id) {
  const std::string_view token = id.token();
  call_number n = 0;
  const auto [end, ec] = std::from_chars(token.data(), token.data() + token.size(), n);
  return ec == std::errc{} && end == token.data() + token.size() && n > 0 ? n : 0;
}

/// Takes known secrets out of a peer's error object. An error is words for people, which go on to callers, models and
/// logs, and some servers quote the token that they refuse. A result is data: it stays as it is, byte for byte.
json::raw_json redacted_error(json::raw_json error) {
  const std::string clean = redact::redactor::redact(error.text());
  if (clean == error.text()) return error;
  auto whole = json::raw_json::parse(clean);
  // A value can also be a number or the name of a member.
  if (whole && json::find_member(*whole, "code").as_integer() && json::find_member(*whole, "message").is_string())
    return *whole;
  const auto code = json::find_member(error, "code").as_integer().value_or(code::server_error);
  return rpc_error{static_cast<int>(code), "the words of this error have a secret in them", {}}.json();
}

}  // namespace

call_number pending_calls::open(call_limits limits, time_point now, done_handler done, progress_handler progress) {
  if (calls_.empty()) {
    calls_.reserve(64);
    earliest_ = never;
  }
  const call_number number = next_++;
  const call& c = calls_
                      .try_emplace(number, limits, after(now, limits.idle), after(now, limits.hard), std::move(done),
                                   std::move(progress))
                      .first->second;
  earliest_ = std::min({earliest_, c.idle_at, c.hard_at});
  return number;
}

/// Takes a call out before its handler runs: the handler may open and close calls.
pending_calls::open_calls::node_type pending_calls::take(call_number number, bool answered) {
  auto taken = calls_.extract(number);
  if (taken.empty()) return taken;
  if (ended_.size() < remembered) {
    ended_.push_back({number, answered});
  } else {
    ended_[ended_at_] = {number, answered};
    ended_at_ = (ended_at_ + 1) % remembered;
  }
  return taken;
}

void pending_calls::count_stray(const rpc_id& id) {
  const call_number number = number_of(id);
  if (number == 0 || number >= next_) {
    ++counters_.unknown;
    return;
  }
  const auto found = std::ranges::find(ended_, number, &ended_call::number);
  if (found != ended_.end() && found->answered) {
    ++counters_.duplicate;
    return;
  }
  ++counters_.late;
  if (found != ended_.end()) found->answered = true;
}

bool pending_calls::answer(message& response) {
  // JSON-RPC allows any result; in MCP every result is an object.
  if (response.error.empty() && !response.result.is_object())
    return answer_malformed(response.id, "member \"result\" must be an object");
  auto taken = take(number_of(response.id), true);
  if (taken.empty()) {
    count_stray(response.id);
    return false;
  }
  const bool failed = !response.error.empty();
  if (auto& done = taken.mapped().done)
    done({failed ? call_outcome::kind::error : call_outcome::kind::result,
          failed ? redacted_error(std::move(response.error)) : std::move(response.result),
          {}});
  return true;
}

bool pending_calls::answer_malformed(const rpc_id& id, const std::string& what) {
  auto taken = take(number_of(id), true);
  if (taken.empty()) {
    count_stray(id);
    return false;
  }
  if (auto& done = taken.mapped().done)
    done(call_outcome::lost(errc::protocol, "was answered against the protocol: " + what));
  return true;
}

bool pending_calls::progress(const json::raw_json& params, time_point now) {
  const std::optional<std::int64_t> token = json::find_member(params, "progressToken").as_integer();
  const auto found = token ? calls_.find(*token) : calls_.end();
  if (found == calls_.end()) return false;
  call& c = found->second;
  c.idle_at = after(now, c.limits.idle);
  if (!c.progress) return true;
  // The handler may end this very call, and with it the function object that is running.
  progress_handler handler = std::exchange(c.progress, {});
  handler(params);
  if (const auto again = calls_.find(*token); again != calls_.end()) again->second.progress = std::move(handler);
  return true;
}

bool pending_calls::close(call_number number, call_outcome outcome) {
  auto taken = take(number, false);
  if (taken.empty()) return false;
  if (auto& done = taken.mapped().done) done(std::move(outcome));
  return true;
}

void pending_calls::pause(call_number number, time_point now) {
  const auto found = calls_.find(number);
  if (found != calls_.end() && found->second.pauses++ == 0) found->second.paused_since = now;
}

void pending_calls::resume(call_number number, time_point now) {
  const auto found = calls_.find(number);
  if (found == calls_.end()) return;
  call& c = found->second;
  if (c.pauses == 0 || --c.pauses != 0) return;
  c.idle_at = after(now, c.limits.idle);
  if (c.hard_at != never) c.hard_at += now - c.paused_since;
  earliest_ = std::min({earliest_, c.idle_at, c.hard_at});
}

void pending_calls::close_all(errc code, const std::string& why) {
  std::vector<call_number> open;
  open.reserve(calls_.size());
  for (const auto& [number, c] : calls_) open.push_back(number);
  std::ranges::sort(open);
  const std::string reason = why;  // a copy: `why` may belong to an object that a handler destroys
  for (const call_number number : open) close(number, call_outcome::lost(code, reason));
}

bool pending_calls::has_older(call_number n) const {
  return std::ranges::any_of(calls_, [n](const auto& one) { return one.first < n && one.second.hard_at != never; });
}

time_point pending_calls::next_deadline() const {
  return calls_.empty() ? never : earliest_;
}

std::vector<call_number> pending_calls::expire(time_point now) {
  std::vector<call_number> due;
  if (calls_.empty() || now < earliest_) return due;
  earliest_ = never;
  for (const auto& [number, c] : calls_) {
    if (c.pauses != 0) continue;
    const time_point deadline = std::min(c.idle_at, c.hard_at);
    if (deadline <= now)
      due.push_back(number);
    else
      earliest_ = std::min(earliest_, deadline);
  }
  std::ranges::sort(due);
  std::vector<call_number> ended;
  ended.reserve(due.size());
  for (const call_number number : due) {
    auto taken = take(number, false);
    if (taken.empty()) continue;  // an earlier handler has ended this call
    ended.push_back(number);
    ++counters_.timed_out;
    call& c = taken.mapped();
    std::string why = c.hard_at <= now ? "has not ended within its limit of " + in_words(c.limits.hard)
                                       : "gave no sign of life for " + in_words(c.limits.idle);
    if (c.done) c.done(call_outcome::lost(errc::timed_out, std::move(why)));
  }
  return ended;
}

}  // namespace mcpbx::mcp::rpc
