// The lane finds who holds the socket; whose process that is only the speaking thread can tell.
#include "daemon/app/port_callers.hpp"

#include "mcp/transport/process_tree.hpp"

#include <boost/asio/post.hpp>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>
#include <vector>

namespace mcpbx::daemon {
namespace {

constexpr std::size_t most_known = 8;

std::unexpected<error> unknown_caller() {
  return fail(errc::unavailable,
              "it cannot be told which program this connection is from, because its process has ended or the system "
              "does not say; keep the program that connects running until it has its answer");
}

}  // namespace

result<std::string> admitted(const mcp::process_owner& owner) {
  using enum mcp::process_owner::kind;
  if (owner.type == stranger) return "";
  if (owner.type == unknown) return unknown_caller();
  if (owner.may_call) return owner.server;
  return fail(errc::unavailable,
              "a tool server started by this daemon may not call it; \"mayCall\": true in its entry allows that");
}

namespace {

bool has_hidden_below() {
  return std::ranges::any_of(mcp::processes_below(::getpid()), [](const auto& one) {
    return ::access(("/proc/" + std::to_string(one.pid) + "/fd").c_str(), R_OK | X_OK) != 0 && errno == EACCES;
  });
}

}  // namespace

port_callers::port_callers(boost::asio::any_io_executor executor, lane& work, owner_question owner_of)
    : executor_(std::move(executor)), work_(work) {
  state_->owner_of = std::move(owner_of);
}

void port_callers::ask(const mcp::tcp_ends& ends, answer then) {
  if (state_->asked >= most)
    return boost::asio::post(
        executor_, [then = std::move(then)] { then(fail(errc::limit, "too many callers came at once; try again")); });
  ++state_->asked;
  auto posted = work_.post([executor = executor_, weak = std::weak_ptr(state_), ends, then,
                            likely = std::vector<pid_t>(state_->known.begin(), state_->known.end())]() mutable {
    std::optional<found> f;
    if (const auto socket = mcp::peer_of(ends)) {
      f = found{*socket, mcp::holder_of(socket->inode, likely)};
      f->hidden_below = !f->holder && has_hidden_below();
    }
    boost::asio::post(executor, [weak = std::move(weak), f, then = std::move(then)] {
      const auto s = weak.lock();
      if (!s) return;
      --s->asked;
      then(judge(*s, f));
    });
  });
  if (posted) return;
  --state_->asked;
  boost::asio::post(executor_,
                    [then = std::move(then), why = std::move(posted.error())] { then(std::unexpected(why)); });
}

result<std::string> port_callers::judge(state& s, const std::optional<found>& f) {
  if (!f) return unknown_caller();
  // Programs of other users cannot be looked into; one that our keeper started may have become another user's (sudo).
  if (!f->holder) return f->socket.uid == ::geteuid() || f->hidden_below ? result<std::string>(unknown_caller()) : "";
  const pid_t holder = *f->holder;
  const auto owner = s.owner_of(holder);
  // The number was that process's all the while.
  if (!mcp::holds_socket(holder, f->socket.inode)) return unknown_caller();
  if (owner.type == mcp::process_owner::kind::stranger && std::ranges::find(s.known, holder) == s.known.end()) {
    s.known.push_front(holder);
    if (s.known.size() > most_known) s.known.pop_back();
  }
  return admitted(owner);
}

}  // namespace mcpbx::daemon
