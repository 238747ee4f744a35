// Bounds and expiry of sessions and streams.
#include "daemon/front/mcp/mcp_room.hpp"

#include "daemon/store/records/principal.hpp"
#include "mcp/support/encodings.hpp"

#include <boost/asio/post.hpp>

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace mcpbx::daemon::mcp_door {
namespace {

/// Time between two looks at silent streams and idle sessions.
constexpr milliseconds round_time{5'000};

/// Returns the largest number of `most` things that one principal may have: a part is left for others.
std::size_t share_of(std::size_t most, std::size_t part) {
  return most - most / part;
}

/// Returns 128 random bits as hexadecimal digits.
result<std::string> new_session_id() {
  std::array<unsigned char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    return fail(errc::io, "the system gave no random numbers for a session");
  return hex_text({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace

/// Open streams of one entrance, all and by principal.
struct mcp_room::places {
  std::size_t taken = 0;
  std::unordered_map<std::string, std::size_t> by_principal;
};

mcp_room::mcp_room(front::door_context& door)
    : door_(door),
      modern_([&] {
        auto o = door.settings.session;
        o.only_modern = true;
        return o;
      }()),
      legacy_([&] {
        auto o = door.settings.session;
        o.only_legacy = true;
        return o;
      }()),
      on_port_(std::make_shared<places>()),
      on_socket_(std::make_shared<places>()),
      session_patience_(door.time, milliseconds{100}),
      request_patience_(door.time, milliseconds{10'000}),
      timer_(door.time.make_timer()) {}

std::size_t mcp_room::most_sessions() const {
  return std::max<std::size_t>(door_.settings.max_callers / 2, 1);
}

result<std::shared_ptr<mcp_session>> mcp_room::make_session(const mcp_identity& who, pid_t pid) {
  if (closed_ || door_.refuses_calls) return fail(errc::unavailable, "mcpbx is stopping and takes no new sessions");
  const auto own = [&](const auto& one) { return one.second->identity().principal == who.principal; };
  const auto most = most_sessions();
  const auto owned = static_cast<std::size_t>(std::ranges::count_if(sessions_, own));
  if (stored::is_tool_server(who.principal) && owned >= std::max<std::size_t>(most / 16, 1))
    return fail(errc::limit, "the tool server has as many sessions as it may have; end one of them");
  const bool at_share = owned >= share_of(most, 16);
  if (at_share || sessions_.size() >= most) {
    // One that begins session after session pushes out its own, and nobody else's.
    const bool own_only = at_share || owned >= most / 2;
    std::shared_ptr<mcp_session> oldest;
    for (const auto& one : sessions_)
      if (const auto& s = one.second; s->idle() && (!own_only || own(one)) && (!oldest || s->used() < oldest->used()))
        oldest = s;
    if (!oldest)
      return fail(errc::limit, "mcpbx has " + std::to_string(sessions_.size()) +
                                   " sessions over HTTP already; end one or raise limits.callers in the configuration");
    end(oldest);
  }
  auto id = new_session_id();
  if (!id) return std::unexpected(id.error());
  auto label = pid > 0 ? "caller (pid " + std::to_string(pid) + ", /mcp)" : std::string("caller (/mcp)");
  auto s = std::make_shared<mcp_session>(door_, legacy_, *id, who, pid,
                                         mcp::clients::call_scope::of_caller(std::move(label), {}, who.principal));
  sessions_.emplace(std::move(*id), s);
  arm();
  return s;
}

std::shared_ptr<mcp_session> mcp_room::find(std::string_view id, const mcp_identity& who) const {
  const auto found = sessions_.find(id);
  return found != sessions_.end() && found->second->identity() == who && found->second->usable() ? found->second
                                                                                                 : nullptr;
}

void mcp_room::end(const std::shared_ptr<mcp_session>& s) {
  if (sessions_.erase(s->id()) == 0) return;
  s->close();
  forget(s->counts());
  bury(s);
}

// Newer callers have no session, so those of one principal share a scope while they call.
mcp::clients::call_scope_ptr mcp_room::scope_of(const std::string& principal) {
  auto& kept = scopes_[principal];
  if (!kept.scope)
    kept.scope = mcp::clients::call_scope::of_caller("callers as " + principal + " (/mcp)", {}, principal);
  kept.used = door_.time.now();
  return kept.scope;
}

std::shared_ptr<single_request> mcp_room::make_request(const mcp_identity& who, pid_t pid) {
  auto r = std::make_shared<single_request>(door_, modern_, who, pid, scope_of(who.principal),
                                            [this](single_request& ended) {
                                              auto found = requests_.extract(&ended);
                                              if (!found) return;
                                              forget(ended.counts());
                                              bury(std::move(found.mapped()));
                                            });
  requests_.emplace(r.get(), r);
  arm();
  return r;
}

result<std::shared_ptr<void>> mcp_room::take_stream_place(const std::string& principal, bool on_port) {
  const auto most = std::max<std::size_t>(door_.settings.max_callers / 4, 1);
  auto& here = on_port ? on_port_ : on_socket_;
  auto& own = here->by_principal[principal];
  const auto share = stored::is_tool_server(principal) ? std::max<std::size_t>(most / 16, 1) : share_of(most, 64);
  const bool full = here->taken >= most || own >= share;
  if (full)
    return fail(errc::limit, "mcpbx has " + std::to_string(here->taken) +
                                 " open streams here already; close one or raise limits.callers in the configuration");
  ++here->taken;
  ++own;
  return std::shared_ptr<void>(here.get(), [here, principal](void*) {
    --here->taken;
    if (const auto found = here->by_principal.find(principal); --found->second == 0) here->by_principal.erase(found);
  });
}

void mcp_room::end_listens() {
  std::vector<std::shared_ptr<single_request>> requests;
  requests.reserve(requests_.size());
  for (const auto& [key, r] : requests_) requests.push_back(r);
  for (const auto& r : requests) r->end_listens();
}

void mcp_room::relieve() {
  for (const auto& [id, s] : sessions_) s->drop_lost();
}

std::size_t mcp_room::streams() const noexcept {
  return on_port_->taken + on_socket_->taken;
}

void mcp_room::forget(const mcp::callers::caller_session::counters& counts) {
  past_.requests += counts.requests;
  past_.faults += counts.faults;
  past_.stray += counts.stray;
  past_.overloaded += counts.overloaded;
}

void mcp_room::count_into(front::door_counters& counters) const {
  auto all = past_;
  const auto add = [&](const mcp::callers::caller_session::counters& c) {
    all.faults += c.faults;
    all.stray += c.stray;
    all.overloaded += c.overloaded;
  };
  for (const auto& [id, s] : sessions_) add(s->counts());
  for (const auto& [key, r] : requests_) add(r->counts());
  // Requests are counted by their connections.
  counters.faults += all.faults;
  counters.stray += all.stray;
  counters.overloaded += all.overloaded;
}

// Destroys it later, because it may be inside a callback of its own.
template <class T>
void mcp_room::bury(std::shared_ptr<T> dead) {
  boost::asio::post(door_.executor, [dead = std::move(dead)] {});
}

void mcp_room::arm() {
  if (closed_ || std::exchange(armed_, true)) return;
  timer_->arm(door_.time.now() + round_time, [this] {
    armed_ = false;
    look_after();
    if (!sessions_.empty() || !requests_.empty() || !scopes_.empty()) arm();
  });
}

void mcp_room::look_after() {
  const auto now = door_.time.now();
  std::vector<std::shared_ptr<mcp_session>> expired;
  for (const auto& [id, s] : sessions_) {
    s->look_after(now);
    if (!s->usable() || (s->idle() && now >= s->used() + mcp_session::longest_idle)) expired.push_back(s);
  }
  for (const auto& s : expired) end(s);
  for (const auto& [key, r] : requests_) r->look_after(now);
  std::erase_if(scopes_, [&](const auto& one) {
    return one.second.scope.use_count() == 1 && now >= one.second.used + mcp_session::longest_idle;
  });
}

void mcp_room::close() {
  if (std::exchange(closed_, true)) return;
  timer_->cancel();
  for (auto& [id, s] : std::exchange(sessions_, {})) {
    s->close();
    bury(s);
  }
  for (auto& [key, r] : std::exchange(requests_, {})) {
    r->close();
    bury(r);
  }
  scopes_.clear();
}

}  // namespace mcpbx::daemon::mcp_door
