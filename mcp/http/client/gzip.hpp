// gzip bodies (RFC 1952), unpacked as they arrive. No I/O.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

namespace mcpbx::http {

class gunzip {
 public:
  /// `max_bytes` bounds what comes out of all put() together.
  explicit gunzip(std::size_t max_bytes);
  ~gunzip();
  gunzip(const gunzip&) = delete;
  gunzip& operator=(const gunzip&) = delete;

  enum class verdict : std::uint8_t { more, stopped, wrong, too_large };
  /// Unpacks `bytes`, telling `out` in pieces of at most 32 KiB, valid during the call; it stops when `out` says false.
  /// After `wrong` and `too_large` nothing may be put.
  verdict put(std::string_view bytes, const std::function<bool(std::string_view)>& out);
  /// Whether the body may end here: at the end of a member (its checksum was right), or before the first byte.
  bool complete() const noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace mcpbx::http
