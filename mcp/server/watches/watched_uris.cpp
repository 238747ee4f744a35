// Counts URIs and plans searches.
#include "mcp/server/watches/watched_uris.hpp"

#include "mcp/protocol/resources.hpp"

#include <string>

namespace mcpbx::mcp::watches {

result<void> uri_count::admit(std::size_t bytes) const {
  if (bytes > most_bytes - bytes_)
    return fail(errc::limit, "the URIs of all resources that this connection watches may have " +
                                 std::to_string(most_bytes) + " bytes together; end a subscription first");
  if (!byte_account::has_room(2 * bytes))
    return fail(errc::limit, "mcpbx holds too many bytes to watch more resources now; try again later");
  return {};
}

std::string told_uri(const catalogs::catalog& all, const catalogs::resource_route& route, std::string_view asked,
                     std::string_view changed) {
  if (changed.empty() || changed == route.uri || changed.size() > protocol::longest_uri || !asked.ends_with(route.uri))
    return std::string(asked);
  std::string told(asked.substr(0, asked.size() - route.uri.size()));
  told.append(changed);
  const bool allowed = all.allows_resource({route.server, std::string(changed), route.owner}, told);
  return allowed ? told : std::string(asked);
}

void paced_searches::begin() {
  if (host_ != nullptr && !waits_ && !running_) run();
}

void paced_searches::stop() {
  host_ = nullptr;
  if (timer_) timer_->cancel();
}

void paced_searches::run() {
  running_ = true;
  waits_ = false;
  std::size_t bytes = 0;
  for (std::size_t n = 0; n < most && bytes < most_bytes; ++n) {
    const std::size_t one = next_();
    if (one == 0 || host_ == nullptr) {
      running_ = false;
      return;
    }
    bytes += one;
  }
  running_ = false;
  waits_ = true;
  if (!timer_) timer_ = host_->time().make_timer();
  timer_->arm_next([this] { run(); });
}

}  // namespace mcpbx::mcp::watches
