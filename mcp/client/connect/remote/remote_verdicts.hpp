// The transports that addresses were found to speak, remembered for all entries as long as the daemon runs.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace mcpbx::mcp {

/// A transport over HTTP: Streamable HTTP of any revision, or the deprecated HTTP+SSE of 2024-11-05.
enum class http_transport : std::uint8_t { unknown, streamable, event_stream };

class remote_verdicts {
 public:
  static constexpr std::size_t most = 1024;

  /// Returns the verdict on an address without its query.
  http_transport find(std::string_view address) const {
    const auto known = known_.find(address);
    return known == known_.end() ? http_transport::unknown : known->second;
  }
  /// Remembers a verdict; `unknown` forgets it, for a server that has been replaced.
  void note(std::string_view address, http_transport t) {
    if (t == http_transport::unknown) {
      if (const auto known = known_.find(address); known != known_.end()) known_.erase(known);
    } else if (known_.size() < most || known_.contains(address)) {
      known_.insert_or_assign(std::string(address), t);
    }
  }

 private:
  std::map<std::string, http_transport, std::less<>> known_;
};

}  // namespace mcpbx::mcp
