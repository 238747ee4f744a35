// Search for the process behind a connection on a worker thread, and admission by its owner on the main thread.
#include "daemon/app/callers/port_callers.hpp"

#include "daemon/app/callers/early_callers.hpp"
#include "daemon/policy/policy.hpp"
#include "mcp/process/process_tree.hpp"

#include <boost/asio/post.hpp>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace mcpbx::daemon::callers {
namespace {

constexpr std::size_t most_known = 8;

std::unexpected<error> unknown_caller() {
  return fail(errc::unavailable,
              "it cannot be told which program this connection is from, because its process has ended or the system "
              "does not say; keep the program that connects running until it has its answer");
}

}  // namespace

result<std::string> admitted(const mcp::keepers::process_owner& owner) {
  using enum mcp::keepers::process_owner::kind;
  const auto d = policy::decide(policy::calling_process{owner.type != unknown, owner.type != stranger, owner.may_call});
  if (d.allows()) return owner.type == stranger ? std::string() : owner.server;
  if (d.by == policy::rule::unknown_process) return unknown_caller();
  return fail(errc::unavailable,
              "a tool server started by this daemon may not call it; \"mayCall\": true in its entry allows that");
}

result<std::string> admitted_unseen(uid_t socket_of, bool hidden_below) {
  if (socket_of == ::geteuid() || hidden_below) return unknown_caller();
  return "";
}

bool has_hidden_below() {
  return std::ranges::any_of(mcp::process::processes_below(::getpid()), [](const auto& one) {
    return ::access(("/proc/" + std::to_string(one.pid) + "/fd").c_str(), R_OK | X_OK) != 0 && errno == EACCES;
  });
}

struct port_callers::state {
  boost::asio::any_io_executor executor;
  async::lane& work;
  time_source& time;
  owner_question owner_of;
  std::function<bool(pid_t)> not_known_yet;
  std::deque<pid_t> known = {};  // earlier callers that are no tool servers; they are likely to ask again
  std::size_t asked = 0;
  struct waiting {
    mcp::socket::tcp_ends ends;
    time_point until;
    answer then;
  };
  std::vector<waiting> early = {};  // callers of servers whose start is not reported yet
  std::unique_ptr<timer> again = {};
};

port_callers::port_callers(boost::asio::any_io_executor executor, async::lane& work, time_source& time,
                           owner_question owner_of, std::function<bool(pid_t)> not_known_yet)
    : state_(std::make_shared<state>(std::move(executor), work, time, std::move(owner_of), std::move(not_known_yet))) {}

void port_callers::ask(const mcp::socket::tcp_ends& ends, answer then) {
  if (state_->asked >= most)
    return boost::asio::post(state_->executor, [then = std::move(then)] {
      then(fail(errc::limit, "too many callers came at once; try again"));
    });
  ++state_->asked;
  look(state_, ends, state_->time.now() + early_callers::longest, std::move(then));
}

void port_callers::look(const std::shared_ptr<state>& s, const mcp::socket::tcp_ends& ends, time_point until,
                        answer then) {
  auto posted = s->work.post([executor = s->executor, weak = std::weak_ptr(s), ends, until, then,
                              likely = std::vector<pid_t>(s->known.begin(), s->known.end())]() mutable {
    std::optional<found> f;
    if (const auto socket = mcp::socket::peer_of(ends)) {
      f = found{*socket, {}};
      f->holder = mcp::socket::holder_of(socket->inode, likely);
      // Reads the start time of the process that holds the socket now, since the pid may have been reused.
      if (f->holder) f->holder_start = mcp::process::start_of(*f->holder);
      if (f->holder && !mcp::socket::holds_socket(*f->holder, socket->inode)) f->holder.reset();
      f->hidden_below = !f->holder && has_hidden_below();
    }
    boost::asio::post(executor, [weak = std::move(weak), ends, until, f, then = std::move(then)]() mutable {
      const auto one = weak.lock();
      if (!one) return;
      if (!f || !f->holder || one->time.now() >= until || !one->not_known_yet(*f->holder)) {
        --one->asked;
        return then(judge(*one, f));
      }
      one->early.push_back({ends, until, std::move(then)});
      if (one->early.size() > 1) return;
      if (!one->again) one->again = one->time.make_timer();
      one->again->arm(one->time.now() + early_callers::between_looks, [weak] {
        const auto later = weak.lock();
        if (!later) return;
        for (auto& e : std::exchange(later->early, {})) look(later, e.ends, e.until, std::move(e.then));
      });
    });
  });
  if (posted) return;
  --s->asked;
  boost::asio::post(s->executor,
                    [then = std::move(then), why = std::move(posted.error())] { then(std::unexpected(why)); });
}

result<std::string> port_callers::judge(state& s, const std::optional<found>& f) {
  if (!f) return unknown_caller();
  if (!f->holder) return admitted_unseen(f->socket.uid, f->hidden_below);
  const pid_t holder = *f->holder;
  const auto owner = s.owner_of(holder);
  // An equal start time proves that the pid was not reused. The descriptors of the process are not counted here: it may
  // have very many.
  if (f->holder_start == 0 || mcp::process::start_of(holder) != f->holder_start) return unknown_caller();
  if (owner.type == mcp::keepers::process_owner::kind::stranger &&
      std::ranges::find(s.known, holder) == s.known.end()) {
    s.known.push_front(holder);
    if (s.known.size() > most_known) s.known.pop_back();
  }
  return admitted(owner);
}

}  // namespace mcpbx::daemon::callers
