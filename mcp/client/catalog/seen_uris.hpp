// Remembers which server quoted which URI in a result, so that an unlisted resource can be read from that server.
// Bounded in number and bytes; a server with many URIs pushes out its own.
#pragma once
#include "mcp/support/keyed_hash.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace mcpbx::mcp::catalogs {

class seen_uris {
 public:
  static constexpr std::size_t most_uris = 4096, most_bytes = std::size_t{1} << 20;

  /// Notes that a result of `server` has this URI. Longer ones than longest_uri, empty ones and those with control
  /// characters are not kept. Without room for it, the oldest URI of the server that takes most room goes.
  void add(const std::string& server, std::string_view uri);
  /// Returns true if `server` said this URI.
  bool said(std::string_view server, std::string_view uri) const;
  /// Returns the first server that said this URI and that `allowed` accepts; null: none did. The name is valid until
  /// the table changes.
  const std::string* first_to_say(std::string_view uri,
                                  const std::function<bool(const std::string& server)>& allowed) const;
  /// Forgets the servers that are not among these.
  void keep_only(std::span<const std::string> servers);

  std::size_t size() const noexcept { return uris_; }
  std::size_t bytes() const noexcept { return bytes_; }

 private:
  struct said_uri {
    std::string uri;
    std::uint64_t first = 0;  // number of the time when it was first said
  };
  struct share {
    std::list<said_uri> uris{};  // the latest said first
    text_view_map<std::list<said_uri>::iterator> by_uri{};
    std::size_t bytes = 0;
  };
  static std::size_t cost(std::string_view uri) noexcept;
  void drop_oldest(share& s);

  std::map<std::string, share, std::less<>> shares_;
  std::size_t uris_ = 0, bytes_ = 0;
  std::uint64_t times_ = 0;
};

}  // namespace mcpbx::mcp::catalogs
