// How a run makes its calls: which one after another, which again, and those that it carries out itself.
#include "daemon/loop/call_result.hpp"
#include "daemon/loop/live_run.hpp"
#include "daemon/loop/read_result.hpp"
#include "mcp/support/text.hpp"
#include "providers/call/retry.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::daemon {
namespace {

constexpr milliseconds first_wait{200}, longest_wait{5'000};

// The server, or the way to it, was at fault, and nothing says that another attempt meets the same. What a server
// answered is never asked for again.
bool may_pass(errc code) {
  return code == errc::unavailable || code == errc::timed_out || code == errc::limit;
}

}  // namespace

// Calls of the serial tools of one server share a lane; the lanes are numbered in order of appearance.
record::assistant live_run::with_lanes(record::assistant r) const {
  std::vector<std::string_view> servers;
  const auto calls = r.message->calls();
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const auto* entry = offer_->find(calls[i]->name);
    if (!entry || !entry->manner.serial) continue;
    auto lane = std::ranges::find(servers, std::string_view(entry->server));
    if (lane == servers.end()) lane = servers.insert(servers.end(), entry->server);
    r.lanes.resize(calls.size());
    r.lanes[i] = static_cast<int>(lane - servers.begin()) + 1;
  }
  return r;
}

// Whether the call, which may be made again, is: after a while that doubles each time (L13).
bool live_run::try_again(sent_call& sent, const mcp::call_outcome& outcome) {
  if (outcome.type != mcp::call_outcome::kind::failed || !may_pass(outcome.failure.code) || core_.ending())
    return false;
  const auto* entry = offer_->find(core_.find_call(sent.id)->name);
  const auto attempts = core_.attempts(sent.id);
  const auto left =
      request_.limits.timeout_ms > 0 ? milliseconds(request_.limits.timeout_ms - elapsed_ms()) : milliseconds::max();
  const auto wait = providers::wait_before_retry({entry->manner.max_retries, first_wait, longest_wait, {}}, attempts,
                                                 {}, around_.random.next(), left);
  if (!wait) return false;
  sent.failure = to_call_result(sent.id, outcome, sent.tool, sent.server, ms_since(sent.since), attempts);
  sent.again = around_.time.make_timer();
  sent.again->arm(around_.time.now() + *wait, [weak = weak_from_this(), id = sent.id] {
    if (auto self = weak.lock()) self->inbox_.push(retry_due{id});
  });
  return true;
}

// The next attempt, or what the last one came to when the tool is not there any more as it was.
run_record live_run::next_attempt(sent_call& sent) {
  sent.again.reset();
  auto failure = std::move(*std::exchange(sent.failure, std::nullopt));
  const auto& call = *core_.find_call(sent.id);
  const auto* entry = offer_->find(call.name);
  const auto now = around_.tools.snapshot()->find(entry->name);
  if (core_.ending() || !now || now->hash != entry->hash || entry->owner.expired()) return failure;
  record::call_intent intent;
  intent.call_id = sent.id;
  intent.name = entry->name;
  intent.server = entry->server;
  intent.attempt = core_.attempts(sent.id) + 1;
  intent.definition_hash = entry->hash;
  intent.arguments_hash = stable_hash(call.arguments.text());
  intent.repeatable = true;
  return intent;
}

void live_run::run_built_in(const std::string& id) {
  const auto result = read_result::page(core_.kept(), core_.find_call(id)->arguments, request_.limits.max_result_bytes);
  inbox_.push(call_done{id, {mcp::call_outcome::kind::result, result, {}}});
}

}  // namespace mcpbx::daemon
