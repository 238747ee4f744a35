// Sends frames and descriptors (SCM_RIGHTS) over one stream socket. The kernel ends a read behind the bytes that
// descriptors came with, so one read brings at most one set, and sets come in the order of their frames.
#include "mcp/process/keeper/control_channel.hpp"

#include "mcp/support/read_size.hpp"

#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace mcpbx::mcp::keepers {
namespace {

constexpr std::size_t max_descriptors = 4;

void close_all(const std::vector<int>& descriptors) {
  for (int fd : descriptors) ::close(fd);
}

}  // namespace

void control_channel::send(std::string frame, std::vector<int> descriptors) {
  outbox_.push_back({std::move(frame), 0, std::move(descriptors)});
}

bool control_channel::flush() {
  while (!outbox_.empty()) {
    auto& front = outbox_.front();
    iovec bytes{front.bytes.data() + front.sent, front.bytes.size() - front.sent};
    msghdr m{};
    m.msg_iov = &bytes;
    m.msg_iovlen = 1;
    alignas(cmsghdr) std::array<char, CMSG_SPACE(max_descriptors * sizeof(int))> control{};
    if (!front.descriptors.empty()) {
      const std::size_t size = std::min(front.descriptors.size(), max_descriptors) * sizeof(int);
      m.msg_control = control.data();
      m.msg_controllen = CMSG_SPACE(size);
      cmsghdr* c = CMSG_FIRSTHDR(&m);
      c->cmsg_level = SOL_SOCKET;
      c->cmsg_type = SCM_RIGHTS;
      c->cmsg_len = CMSG_LEN(size);
      std::memcpy(CMSG_DATA(c), front.descriptors.data(), size);
    }
    const ssize_t n = ::sendmsg(fd_, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0) {
      if (errno == EINTR) continue;
      return errno == EAGAIN || errno == EWOULDBLOCK;
    }
    close_all(std::exchange(front.descriptors, {}));
    front.sent += static_cast<std::size_t>(n);
    if (front.sent == front.bytes.size()) outbox_.pop_front();
  }
  return true;
}

bool control_channel::receive() {
  for (;;) {
    std::array<char, 16 * 1024> buffer;
    alignas(cmsghdr) std::array<char, CMSG_SPACE(max_descriptors * sizeof(int))> control;
    iovec bytes{buffer.data(), read_size(buffer.size())};
    msghdr m{};
    m.msg_iov = &bytes;
    m.msg_iovlen = 1;
    m.msg_control = control.data();
    m.msg_controllen = control.size();
    const ssize_t n = ::recvmsg(fd_, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (n < 0) {
      if (errno == EINTR) continue;
      return errno == EAGAIN || errno == EWOULDBLOCK;
    }
    std::vector<int> descriptors;
    for (cmsghdr* c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
      if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
      descriptors.resize((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
      std::memcpy(descriptors.data(), CMSG_DATA(c), descriptors.size() * sizeof(int));
    }
    // A truncated set (no room in our descriptor table) still counts as the set of its frame.
    if (!descriptors.empty() || (m.msg_flags & MSG_CTRUNC) != 0) arrived_.push_back(std::move(descriptors));
    if (n == 0) return false;
    reader_.feed({buffer.data(), static_cast<std::size_t>(n)});
  }
}

std::vector<int> control_channel::take_descriptors() {
  if (arrived_.empty()) return {};
  auto first = std::move(arrived_.front());
  arrived_.pop_front();
  return first;
}

void control_channel::close_descriptors() {
  for (auto& o : outbox_) close_all(o.descriptors);
  for (auto& a : arrived_) close_all(a);
}

}  // namespace mcpbx::mcp::keepers
