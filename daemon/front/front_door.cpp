// Admission of callers, notifications to all of them, and relief when memory runs short.
#include "daemon/front/front_door.hpp"

#include "daemon/front/http/http_caller.hpp"
#include "daemon/front/mcp/mcp_room.hpp"
#include "daemon/front/new_caller.hpp"
#include "daemon/front/rpc/methods.hpp"
#include "daemon/store/records/principal.hpp"
#include "mcp/server/base/rpc_errors.hpp"
#include "mcp/support/heap.hpp"
#include "mcp/support/log.hpp"
#include "mcp/transport/stream_transport.hpp"

#include <boost/asio/post.hpp>

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace mcpbx::daemon::door {
namespace {

namespace asio = boost::asio;

/// Least bytes in an outbox for which a connection is closed when memory runs short.
constexpr std::size_t worth_closing = 1u << 20;
/// Most log lines about refused callers within refusals_time; further ones are counted.
constexpr int refusals_told = 20;
constexpr milliseconds refusals_time{60'000};
/// Time without reading after which, when memory runs short, a caller counts as not reading.
constexpr milliseconds unread_for{5'000};

// Writes one line. The socket is new and its buffer empty, so the line fits unless the peer has left.
void refuse(int fd, const std::string& line) {
  (void)!::send(fd, line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  ::close(fd);
}

}  // namespace

struct front_door::state : std::enable_shared_from_this<front_door::state> {
  state(asio::any_io_executor executor, time_source& time, front::backend& daemon, options o, admission a)
      : context{.executor = std::move(executor),
                .time = time,
                .daemon = daemon,
                .settings = std::move(o),
                .started = time.now(),
                .started_wall_ms = time.wall_ms(),
                .counters = {},
                .methods = {},
                .on_gone = {},
                .relieve = {},
                .load = {},
                .handed = {},
                .tasks = {},
                .mcp = nullptr,
                .news = {},
                .refuses_calls = false,
                .tools_cache = {},
                .views = {}},
        admit(std::move(a)) {}

  void open() {
    if (context.settings.session.version.empty()) context.settings.session.version = context.settings.version;
    rpc_door::add_daemon_methods(context.methods);
    rpc_door::add_tool_methods(context.methods);
    rpc_door::add_why_method(context.methods);
    rpc_door::add_pin_methods(context.methods);
    rpc_door::add_auth_methods(context.methods);
    rpc_door::add_model_methods(context.methods);
    rpc_door::add_chat_methods(context.methods);
    rpc_door::add_session_methods(context.methods);
    rpc_door::add_history_methods(context.methods);
    rpc_door::add_log_methods(context.methods);
    rpc_door::add_stats_methods(context.methods);
    context.on_gone = [this](front::caller& c) { gone(c); };
    context.relieve = [this] { relieve(); };
    context.load = [this] { return load(); };
    mcp = std::make_unique<mcp_door::mcp_room>(context);
    context.mcp = mcp.get();
    catalog_subscription =
        context.daemon.on_catalog_change([this](const mcp::protocol::feature_kind& kind) { tell_list_changed(kind); });
  }

  void tell_list_changed(const mcp::protocol::feature_kind& kind) { context.news.changed(kind, context.executor); }

  /// Tells callers that lists have changed if a profile that one of them has seen chooses otherwise now. Servers that
  /// come or go are told by the catalog. Views of profiles that chose the same stay, and those of others go.
  void configuration_replaced() {
    const auto now = context.settings.chat();
    bool changed = false;
    for (auto one = context.views.begin(); one != context.views.end();) {
      auto& [profile, view] = *one;
      const auto before = view.configured->base("", profile), after = now->base("", profile);
      const bool same = before && after && before->shows_as(*after);
      if (same) view.configured = now;
      changed |= !same;
      one = same ? std::next(one) : context.views.erase(one);
    }
    if (!changed) return;
    for (const auto& kind : mcp::protocol::feature_kinds()) tell_list_changed(kind);
  }

  /// Returns a copy, because a connection may close during a call.
  std::vector<std::shared_ptr<front::caller>> all() const {
    std::vector<std::shared_ptr<front::caller>> out;
    out.reserve(callers.size());
    for (const auto& [key, c] : callers) out.push_back(c);
    return out;
  }

  /// Logs a refusal, a bounded number of times because a refused caller may return at once.
  void tell_refusal(const std::string& whom, const std::string& why) {
    ++context.counters.refused;
    const auto now = context.time.now();
    if (now - refusals_since >= refusals_time) {
      if (refusals > refusals_told)
        log::warn("refused " + std::to_string(refusals - refusals_told) + " more callers in the meantime");
      refusals_since = now;
      refusals = 0;
    }
    if (++refusals <= refusals_told) log::warn("refused a caller (" + whom + "): " + why);
  }

  /// Returns the reason why no caller may enter now, if any.
  std::optional<error> refusal_of_anybody() const {
    if (closed) return error{errc::unavailable, "mcpbx is stopping"};
    if (callers.size() >= context.settings.max_callers)
      return error{errc::limit, "mcpbx serves " + std::to_string(context.settings.max_callers) +
                                    " callers already; close one or raise limits.callers in the configuration"};
    return {};
  }

  /// Returns the identity of a caller, or the reason to refuse it.
  result<std::string> principal_of(const mcp::socket::peer_credentials& peer) const {
    if (auto anybody = refusal_of_anybody()) return std::unexpected(*anybody);
    const auto server = admit ? admit(peer) : result<std::string>();
    if (!server) return std::unexpected(server.error());
    if (server->empty()) return "uid:" + std::to_string(peer.uid);
    const auto most = std::max<std::size_t>(context.settings.max_callers / 16, 1);
    auto principal = stored::principal_of_server(*server);
    if (std::ranges::count(of_servers, principal, [](const auto& one) { return one.second; }) >=
        static_cast<std::ptrdiff_t>(most))
      return fail(errc::limit, "the tool server has " + std::to_string(most) +
                                   " connections already, which is the most for one; close one");
    return principal;
  }

  /// Counts a caller of a tool server while it is connected.
  void note_server(const front::caller& c, const std::string& principal) {
    if (!stored::is_person(principal)) of_servers.emplace(&c, principal);
  }

  /// Returns true if the port has room, if need be after closing the oldest caller without a permitted request, or else
  /// the one that has waited longest between two requests (RFC 9112, section 9.5, permits that at any time).
  bool has_place_on_port() {
    const auto share = std::max<std::size_t>(context.settings.max_callers / 2, 1);
    if (on_port.size() < share && callers.size() < context.settings.max_callers) return true;
    const auto silent = std::ranges::find_if(on_port, [](const auto* c) { return !c->authorized(); });
    if (silent != on_port.end()) {
      (*silent)->close("");
      return true;
    }
    const auto resting = std::ranges::min_element(on_port, {}, [](const auto* c) { return c->rests_since(); });
    if (resting == on_port.end() || (*resting)->rests_since() == never) return false;
    (*resting)->close("");
    return true;
  }

  void add(const std::shared_ptr<front::caller>& c) {
    ++context.counters.accepted;
    callers.emplace(c.get(), c);
    c->start();
    tell_callers();
  }

  void add_new(int fd, pid_t pid, const std::string& principal) {
    const auto unknown = std::make_shared<new_caller>(
        context.executor, fd, [this, pid, principal](new_caller& c, int spoke, caller_protocol p) {
          // Keeps the identity of the caller for all counts.
          const auto kept = callers.extract(&c);
          of_servers.erase(&c);
          if (spoke < 0) return tell_callers();
          const auto known = made_for(spoke, pid, principal, p);
          note_server(*known, principal);
          callers.emplace(known.get(), known);
          known->start();
        });
    note_server(*unknown, principal);
    add(unknown);
  }

  std::shared_ptr<front::caller> made_for(int fd, pid_t pid, const std::string& principal, caller_protocol p) {
    if (p == caller_protocol::json_rpc)
      return std::make_shared<rpc_door::rpc_caller>(context, lines_of(fd), pid, principal);
    return std::make_shared<http_door::http_caller>(context, fd, socket_rules,
                                                    "caller (pid " + std::to_string(pid) + ", HTTP)", principal, pid);
  }

  http_door::identity_question question_about(int fd) const {
    if (!identify) return {};
    return [who = identify, ends = mcp::socket::ends_of(fd)](std::function<void(result<std::string>)> then) {
      if (ends) return who(*ends, std::move(then));
      then(fail(errc::unavailable, "it cannot be told which program this connection is from"));
    };
  }

  std::unique_ptr<mcp::transports::transport> lines_of(int fd) const {
    return mcp::transports::make_stream_transport(context.executor, fd, fd, context.settings.framing);
  }

  void gone(front::caller& c) {
    std::erase_if(on_port, [&](const front::caller* one) { return one == &c; });
    of_servers.erase(&c);
    auto found = callers.find(&c);
    if (found == callers.end()) return;
    // Destroys it later, because it may be inside a callback of its own.
    asio::post(context.executor, [self = shared_from_this(), kept = std::move(found->second)]() mutable {
      const bool was_large = kept->was_large();
      kept.reset();
      // Runs after its reads and writes have ended, since they hold bytes too.
      if (was_large) asio::post(self->context.executor, give_back_free_memory);
    });
    callers.erase(found);
    tell_callers();
  }

  void tell_callers() {
    if (!callers_changed) return;
    asio::post(context.executor, [self = shared_from_this()] {
      if (self->callers_changed && !self->closed) self->callers_changed(self->callers.size());
    });
  }

  /// Closes callers when too many bytes are owned: of those that have taken nothing for a while, the ones with the
  /// largest outboxes. Callers that read are left alone.
  void relieve() {
    if (std::exchange(relieving, true)) return;
    mcp->relieve();
    std::unordered_map<const front::caller*, std::uint64_t> taken;
    for (const auto& [key, c] : callers)
      if (c->outbox_bytes() >= worth_closing) taken.emplace(key, c->taken_bytes());
    if (!relief) relief = context.time.make_timer();
    relief->arm(context.time.now() + unread_for, [this, taken = std::move(taken)] {
      relieving = false;
      close_unread(taken);
    });
  }

  void close_unread(const std::unordered_map<const front::caller*, std::uint64_t>& taken) {
    const std::size_t total = byte_account::total(), most = byte_account::limit();
    if (closed || total <= most) return;
    std::vector<std::shared_ptr<front::caller>> unread;
    bool others = false;
    for (const auto& [key, c] : callers) {
      if (c->outbox_bytes() < worth_closing) continue;
      const auto before = taken.find(key);
      if (before != taken.end() && before->second == c->taken_bytes())
        unread.push_back(c);
      else
        others = true;
    }
    std::ranges::sort(unread, std::ranges::greater(), [](const auto& c) { return c->outbox_bytes(); });
    std::size_t freed = 0;
    for (const auto& c : unread) {
      if (total - std::min(total, freed) <= most) break;
      freed += c->outbox_bytes();
      ++context.counters.stuck;
      c->close("mcpbx holds too many bytes, and this caller has read nothing for " +
               std::to_string(unread_for.count() / 1000) + " s (" + std::to_string(c->outbox_bytes() >> 20) +
               " MiB wait for it)");
    }
    if (others) relieve();
  }

  front::door_load load() const {
    front::door_load l;
    l.counters = context.counters;
    for (const auto& [key, c] : callers) {
      const std::size_t bytes = c->outbox_bytes();
      ++l.callers;
      l.outbox_bytes += bytes;
      l.largest_outbox = std::max(l.largest_outbox, bytes);
      l.open_requests += c->open_requests();
      c->count_into(l.counters);
    }
    mcp->count_into(l.counters);
    return l;
  }

  void close() {
    if (std::exchange(closed, true)) return;
    catalog_subscription.reset();
    relief.reset();
    mcp->close();
    for (const auto& c : all()) c->close("");
    context.held.close("mcpbx is stopping");
  }

  front::door_context context;
  std::unique_ptr<mcp_door::mcp_room> mcp;
  admission admit;
  front::http_rules socket_rules;
  port_admission identify;
  std::unordered_map<const front::caller*, std::shared_ptr<front::caller>> callers;
  std::unordered_map<const front::caller*, std::string> of_servers;  // callers of tool servers: their principal
  std::vector<http_door::http_caller*> on_port;                      // callers by the port, oldest first
  std::shared_ptr<void> catalog_subscription;
  std::function<void(std::size_t)> callers_changed;
  bool closed = false, relieving = false;
  int refusals = 0;  // since refusals_since
  time_point refusals_since{};
  std::unique_ptr<timer> relief;
};

front_door::front_door(asio::any_io_executor executor, time_source& time, front::backend& daemon, options o,
                       admission admit)
    : state_(std::make_shared<state>(std::move(executor), time, daemon, std::move(o), std::move(admit))) {
  state_->open();
}

front_door::~front_door() {
  state_->close();
  // Keeps the state for callers that are closing and may be calling this from inside.
  if (!state_->callers.empty()) asio::post(state_->context.executor, [kept = state_] {});
}

void front_door::accept(int fd, const mcp::socket::peer_credentials& peer) {
  auto principal = state_->principal_of(peer);
  if (principal) return state_->add_new(fd, peer.pid, *principal);
  state_->tell_refusal("pid " + std::to_string(peer.pid), principal.error().message);
  refuse(fd, mcp::rpc::make_error({}, mcp::server::to_rpc_error(principal.error())).str() + "\n");
}

void front_door::accept(std::unique_ptr<mcp::transports::transport> transport,
                        const mcp::socket::peer_credentials& peer) {
  auto principal = state_->principal_of(peer);
  if (principal) {
    const auto known =
        std::make_shared<rpc_door::rpc_caller>(state_->context, std::move(transport), peer.pid, *principal);
    state_->note_server(*known, *principal);
    return state_->add(known);
  }
  state_->tell_refusal("pid " + std::to_string(peer.pid), principal.error().message);
  transport->send(mcp::rpc::make_error({}, mcp::server::to_rpc_error(principal.error())),
                  mcp::rpc::outgoing::response());
  transport->finish_sending();
  asio::post(state_->context.executor, [kept = std::shared_ptr<mcp::transports::transport>(std::move(transport))] {});
}

void front_door::serves_port(const std::string& address, front::http_rules rules, const std::string& token_file,
                             port_admission who) {
  state_->identify = std::move(who);
  auto& settings = state_->context.settings;
  settings.http = address;
  settings.port_rules = std::move(rules);
  settings.token_file = token_file;
}

void front_door::accept_on_port(int fd, const std::string& from) {
  auto& context = state_->context;
  if (state_->closed || !state_->has_place_on_port()) {
    state_->tell_refusal(
        from, state_->closed ? "mcpbx is stopping" : "all places of the port are taken (half of limits.callers)");
    return refuse(fd, "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
  }
  const auto known =
      std::make_shared<http_door::http_caller>(context, fd, context.settings.port_rules, "caller (" + from + ", HTTP)",
                                               std::string(stored::port_principal), -1, state_->question_about(fd));
  state_->on_port.push_back(known.get());
  state_->add(known);
}

void front_door::configuration_replaced() {
  if (!state_->closed) state_->configuration_replaced();
}

std::size_t front_door::callers() const noexcept {
  return state_->callers.size();
}

void front_door::on_callers(std::function<void(std::size_t)> changed) {
  state_->callers_changed = std::move(changed);
}

json::raw_json front_door::status() {
  return rpc_door::status_of(state_->context);
}

void front_door::refuse_calls() {
  state_->context.refuses_calls = true;
  for (const auto& c : state_->all()) c->end_listens();
  state_->mcp->end_listens();
}

void front_door::close() {
  state_->close();
}

}  // namespace mcpbx::daemon::door
