// Reads blocks and cuts them at line breaks.
#include "daemon/cli/chat/piped_lines.hpp"

#include "daemon/cli/chat/typed_lines.hpp"
#include "daemon/cli/link/daemon_connection.hpp"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace mcpbx::cli::chat {

std::expected<std::string, terminals::unanswered> piped_lines::next() {
  for (;;) {
    if (const auto end = held_.find('\n', looked_at_); end != std::string::npos) {
      auto line = held_.substr(0, end);
      held_.erase(0, end + 1);
      looked_at_ = 0;
      return line;
    }
    looked_at_ = held_.size();
    if (held_.size() > typed_lines::most || (ended_ && !held_.empty())) {
      looked_at_ = 0;
      return std::exchange(held_, {});
    }
    if (ended_) return std::unexpected(terminals::unanswered::end_of_input);
    if (!link::wait_ready(STDIN_FILENO, POLLIN)) return std::unexpected(terminals::unanswered::interrupted);
    std::array<char, 65536> buffer{};
    const auto n = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n <= 0)
      ended_ = true;
    else
      held_.append(buffer.data(), static_cast<std::size_t>(n));
  }
}

}  // namespace mcpbx::cli::chat
