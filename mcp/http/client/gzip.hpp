// Decompresses gzip bodies (RFC 1952) as they arrive. No I/O.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

namespace mcpbx::http::clients {

class gunzip {
 public:
  /// `max_bytes` bounds the output of all put() calls together.
  explicit gunzip(std::size_t max_bytes);
  ~gunzip();
  gunzip(const gunzip&) = delete;
  gunzip& operator=(const gunzip&) = delete;

  enum class verdict : std::uint8_t { more, stopped, wrong, too_large };
  /// Decompresses `bytes` and calls `out` with pieces of at most 32 KiB, valid during the call; stops when `out`
  /// returns false. Do not call it again after `wrong` or `too_large`.
  verdict put(std::string_view bytes, const std::function<bool(std::string_view)>& out);
  /// Returns true if the body may end here: behind a member with a right checksum, or before the first byte.
  bool complete() const noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace mcpbx::http::clients
