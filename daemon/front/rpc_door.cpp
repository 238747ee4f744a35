// See rpc_door.hpp.
#include "daemon/front/rpc_door.hpp"

#include "daemon/front/methods.hpp"
#include "mcp/server/errors.hpp"
#include "mcp/support/heap.hpp"
#include "mcp/support/log.hpp"
#include "mcp/transport/stream_transport.hpp"

#include <boost/asio/post.hpp>

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace mcpbx::daemon {
namespace {

namespace asio = boost::asio;

/// An outbox below this is not worth a caller's connection when bytes run short.
constexpr std::size_t worth_closing = 1u << 20;

}  // namespace

struct rpc_door::state : std::enable_shared_from_this<rpc_door::state> {
  state(asio::any_io_executor executor, time_source& time, backend& daemon, options o, admission a)
      : context{.executor = std::move(executor),
                .time = time,
                .daemon = daemon,
                .settings = std::move(o),
                .started = time.now(),
                .counters = {},
                .methods = {},
                .on_gone = {},
                .relieve = {},
                .load = {},
                .refuses_calls = false,
                .tools_cache = {},
                .views = {}},
        admit(std::move(a)) {}

  void open() {
    if (context.settings.session.version.empty()) context.settings.session.version = context.settings.version;
    add_daemon_methods(context.methods);
    add_tool_methods(context.methods);
    add_pin_methods(context.methods);
    add_model_methods(context.methods);
    add_chat_methods(context.methods, context.settings.chat);
    add_session_methods(context.methods);
    context.on_gone = [this](connection& c) { gone(c); };
    context.relieve = [this] { relieve(); };
    context.load = [this] { return load(); };
    tools_subscription = context.daemon.on_tools_change([this] {
      for (const auto& c : all()) c->tools_changed();
    });
  }

  /// Copies: a connection may go while it is told something.
  std::vector<std::shared_ptr<connection>> all() const {
    std::vector<std::shared_ptr<connection>> out;
    out.reserve(connections.size());
    for (const auto& [key, c] : connections) out.push_back(c);
    return out;
  }

  /// Why nobody more may come in now, or this one never.
  std::optional<error> refusal(pid_t pid) const {
    if (closed) return error{errc::unavailable, "mcpbx is stopping"};
    if (connections.size() >= context.settings.max_callers)
      return error{errc::limit, "mcpbx serves " + std::to_string(context.settings.max_callers) +
                                    " callers already; close one or raise limits.callers in the configuration"};
    if (admit)
      if (auto allowed = admit(pid); !allowed) return allowed.error();
    return {};
  }

  void add(std::unique_ptr<mcp::transport> transport, mcp::peer_credentials peer) {
    ++context.counters.accepted;
    auto c = std::make_shared<connection>(context, std::move(transport), peer);
    connections.emplace(c.get(), c);
    c->start();
    tell_callers();
  }

  void gone(connection& c) {
    auto found = connections.find(&c);
    if (found == connections.end()) return;
    // It is in the middle of a callback of its own.
    asio::post(context.executor, [self = shared_from_this(), kept = std::move(found->second)]() mutable {
      const bool was_large = kept->was_large();
      kept.reset();
      // Behind the ends of its reads and writes, which hold bytes too.
      if (was_large) asio::post(self->context.executor, give_back_free_memory);
    });
    connections.erase(found);
    tell_callers();
  }

  void tell_callers() {
    if (!callers_changed) return;
    asio::post(context.executor, [self = shared_from_this()] {
      if (self->callers_changed && !self->closed) self->callers_changed(self->connections.size());
    });
  }

  /// More bytes are owned than may be. The largest outbox belongs to whoever reads least (design section 2).
  void relieve() {
    if (relieving) return;
    relieving = true;
    asio::post(context.executor, [self = shared_from_this()] {
      self->relieving = false;
      if (byte_account::total() <= byte_account::limit()) return;
      std::shared_ptr<connection> largest;
      for (const auto& [key, c] : self->connections)
        if (!largest || c->outbox_bytes() > largest->outbox_bytes()) largest = c;
      if (!largest || largest->outbox_bytes() < worth_closing) return;
      ++self->context.counters.stuck;
      largest->close("mcpbx holds too many bytes, and this caller's outbox is the largest (" +
                     std::to_string(largest->outbox_bytes() >> 20) + " MiB)");
    });
  }

  door_load load() const {
    door_load l;
    l.counters = context.counters;
    for (const auto& [key, c] : connections) {
      const std::size_t bytes = c->outbox_bytes();
      ++l.callers;
      l.outbox_bytes += bytes;
      l.largest_outbox = std::max(l.largest_outbox, bytes);
      l.open_requests += c->open_requests();
      c->count_into(l.counters);
    }
    return l;
  }

  void close() {
    if (std::exchange(closed, true)) return;
    tools_subscription.reset();
    for (const auto& c : all()) c->close("");
  }

  door_context context;
  admission admit;
  std::unordered_map<const connection*, std::shared_ptr<connection>> connections;
  std::shared_ptr<void> tools_subscription;
  std::function<void(std::size_t)> callers_changed;
  bool closed = false, relieving = false;
};

rpc_door::rpc_door(asio::any_io_executor executor, time_source& time, backend& daemon, options o, admission admit)
    : state_(std::make_shared<state>(std::move(executor), time, daemon, std::move(o), std::move(admit))) {
  state_->open();
}

rpc_door::~rpc_door() {
  state_->close();
}

void rpc_door::accept(int fd, mcp::peer_credentials peer) {
  auto refused = state_->refusal(peer.pid);
  if (!refused)
    return state_->add(mcp::make_stream_transport(state_->context.executor, fd, fd, state_->context.settings.framing),
                       peer);
  ++state_->context.counters.refused;
  log::warn("refused a caller (pid " + std::to_string(peer.pid) + "): " + refused->message);
  const std::string line = mcp::make_error({}, mcp::to_rpc_error(*refused)).str() + "\n";
  // The socket is new and its buffer empty: a line fits, or nobody is there to read it.
  (void)!::send(fd, line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  ::close(fd);
}

void rpc_door::accept(std::unique_ptr<mcp::transport> transport, mcp::peer_credentials peer) {
  auto refused = state_->refusal(peer.pid);
  if (!refused) return state_->add(std::move(transport), peer);
  ++state_->context.counters.refused;
  transport->send(mcp::make_error({}, mcp::to_rpc_error(*refused)));
  transport->finish_sending();
  asio::post(state_->context.executor, [kept = std::shared_ptr<mcp::transport>(std::move(transport))] {});
}

std::size_t rpc_door::callers() const noexcept {
  return state_->connections.size();
}

void rpc_door::on_callers(std::function<void(std::size_t)> changed) {
  state_->callers_changed = std::move(changed);
}

raw_json rpc_door::status() {
  return status_of(state_->context);
}

void rpc_door::refuse_calls() noexcept {
  state_->context.refuses_calls = true;
}

void rpc_door::close() {
  state_->close();
}

}  // namespace mcpbx::daemon
