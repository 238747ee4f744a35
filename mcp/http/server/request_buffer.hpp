// Bytes of one connection that have been read and not parsed yet. Its size follows what arrives: it doubles when a read
// has filled it, and shrinks while an answer goes on. Does no I/O.
#pragma once
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace mcpbx::http::servers {

class request_buffer {
 public:
  /// Request lines, headers and chunk lines must fit into this.
  static constexpr std::size_t largest = 64 * 1024;

  /// Returns the bytes that wait to be parsed. Valid until the next call of a function that is not const.
  std::string_view waiting() const noexcept { return std::string_view(bytes_.data() + begin_, end_ - begin_); }
  bool empty() const noexcept { return begin_ == end_; }
  /// Drops the first `n` bytes, which were parsed.
  void drop(std::size_t n) noexcept { begin_ += n; }
  void drop_all() noexcept { begin_ = end_ = 0; }
  /// Drops line ends in front (RFC 9112, section 2.2).
  void drop_line_ends() noexcept;
  /// Returns the space for the next read, empty if the buffer is full. `little`: no more than the caller's end is
  /// expected, so that no memory is kept for it.
  std::span<char> space(bool little);
  /// Adds the `n` bytes that were read into the front of space().
  void add(std::size_t n) noexcept;

 private:
  static constexpr std::size_t first_size = 4 * 1024;

  std::vector<char> bytes_ = std::vector<char>(first_size);
  std::size_t begin_ = 0, end_ = 0;
  bool filled_ = false;  // the last read filled the buffer, so the next one gets more space
};

}  // namespace mcpbx::http::servers
