// The table of held calls.
#include "mcp/server/held_calls.hpp"

#include "mcp/crypto/sha256.hpp"
#include "mcp/json/canonical_json.hpp"
#include "mcp/json/json_writer.hpp"

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

namespace mcpbx::mcp::callers {
namespace {

/// Returns a digest of a request. Equal ones mean the same caller, method, name and arguments, however these are
/// spelled.
std::string digest_of(const held_request& r) {
  // Hashes a JSON array, so that no part can be taken for the end of another.
  std::string text;
  json::json_writer w(text);
  w.begin_array().value(r.principal).value(r.method).value(r.name);
  if (r.arguments && !r.arguments.is_null()) w.token(json::canonical_json(r.arguments));
  w.end_array();
  return crypto::sha256(text);
}

constexpr std::size_t most_digits = 20;

}  // namespace

result<held_calls::place> held_calls::hold(std::shared_ptr<held_call> call, const held_request& request,
                                           std::size_t bytes) {
  if (closed_) return fail(errc::unavailable, "mcpbx is stopping");
  if (calls_.size() >= options_.max_calls)
    return fail(errc::limit, "mcpbx holds " + std::to_string(calls_.size()) +
                                 " calls already that wait for answers of their callers; try again later");
  const auto found = by_principal_.find(std::string(request.principal));
  const share own = found == by_principal_.end() ? share() : found->second;
  if (own.calls >= options_.max_per_principal)
    return fail(errc::limit, "mcpbx holds " + std::to_string(own.calls) +
                                 " calls of this caller already that wait for its answers; answer some of them");
  if (!has_room(own, bytes))
    return fail(errc::limit, "calls that wait for answers of their callers may hold " +
                                 std::to_string(options_.max_bytes) + " bytes together, and " +
                                 std::to_string(options_.max_bytes_per_principal) +
                                 " bytes of one caller; try again later");
  entry e{std::move(call), digest_of(request), std::string(request.principal), bytes, time_.now() + options_.expiry};
  if (e.digest.empty()) return fail(errc::internal, "OpenSSL gives no SHA-256");
  const std::uint64_t id = next_id_++;
  auto state = seal_.close(std::to_string(id) + " " + e.digest);
  if (!state) return std::unexpected(state.error());
  share& counted = by_principal_[e.principal];
  ++counted.calls;
  counted.bytes += bytes;
  bytes_ += bytes;
  calls_.emplace(id, std::move(e));
  if (calls_.size() == 1) arm();
  return place{id, std::move(*state)};
}

result<std::shared_ptr<held_call>> held_calls::take(std::string_view state, const held_request& request) {
  const auto plain = seal_.open(state);
  if (!plain) return fail(errc::invalid_argument, std::string(foreign));
  std::uint64_t id = 0;
  const auto end = std::from_chars(plain->data(), plain->data() + std::min(plain->size(), most_digits), id).ptr;
  const auto found = calls_.find(id);
  if (found == calls_.end())
    return fail(errc::invalid_argument,
                "params.requestState: it has been used already, or its time is over; send the request again without "
                "it");
  const std::string_view digest = std::string_view(*plain).substr(static_cast<std::size_t>(end - plain->data()) + 1);
  if (digest != found->second.digest || found->second.digest != digest_of(request))
    return fail(errc::invalid_argument,
                "params.requestState: it belongs to another request; repeat the one that it came with, with the same "
                "method, name and arguments, as the same caller");
  auto call = std::move(found->second.call);
  forget(found);
  return call;
}

bool held_calls::keep(std::uint64_t id, std::size_t more) {
  const auto found = calls_.find(id);
  if (found == calls_.end()) return false;
  share& own = by_principal_.find(found->second.principal)->second;
  if (!has_room(own, more)) return false;
  own.bytes += more;
  found->second.bytes += more;
  bytes_ += more;
  return true;
}

void held_calls::release(std::uint64_t id) {
  if (const auto found = calls_.find(id); found != calls_.end()) forget(found);
}

void held_calls::forget(std::map<std::uint64_t, entry>::iterator found) {
  bytes_ -= found->second.bytes;
  const auto counted = by_principal_.find(found->second.principal);
  counted->second.bytes -= found->second.bytes;
  if (--counted->second.calls == 0) by_principal_.erase(counted);
  const bool first = found == calls_.begin();
  const auto call = std::move(found->second.call);  // destroyed last: it may come back here
  calls_.erase(found);
  if (first) arm();
}

void held_calls::arm() {
  if (!timer_) timer_ = time_.make_timer();
  if (calls_.empty()) return timer_->cancel();
  timer_->arm(calls_.begin()->second.ends, [this] { expire(); });
}

void held_calls::expire() {
  const time_point now = time_.now();
  std::vector<std::shared_ptr<held_call>> over;
  while (!calls_.empty() && calls_.begin()->second.ends <= now) {
    over.push_back(calls_.begin()->second.call);
    forget(calls_.begin());
  }
  for (const auto& call : over)
    call->give_up("its caller did not come back with answers within " + std::to_string(options_.expiry.count() / 1000) +
                  " s");
  if (!closed_ && !calls_.empty()) arm();
}

void held_calls::close(std::string_view why) {
  closed_ = true;
  std::vector<std::shared_ptr<held_call>> over;
  while (!calls_.empty()) {
    over.push_back(calls_.begin()->second.call);
    forget(calls_.begin());
  }
  if (timer_) timer_->cancel();
  for (const auto& call : over) call->give_up(why);
}

}  // namespace mcpbx::mcp::callers
