// Bytes of answers on their way from a socket to the parser and its user. No I/O. Answers may hold secrets (tokens,
// cookies), so that no byte stays in memory that the buffer has let go of.
#pragma once
#include "mcp/support/shared_bytes.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::http::clients {

/// Overwrites a text that may hold a secret, and empties it.
void wipe(std::string& text) noexcept;

class answer_buffer {
 public:
  /// Sizes in bytes: in the pool and until the first byte of an answer; then; and at most while bodies fill it.
  static constexpr std::size_t idle = 4 * 1024, first = 16 * 1024, largest = 64 * 1024;
  /// Largest first read of an answer. Short, so that the first token need not wait for a full buffer.
  static constexpr std::size_t first_read = 4 * 1024;

  answer_buffer() = default;
  ~answer_buffer();
  answer_buffer(const answer_buffer&) = delete;
  answer_buffer& operator=(const answer_buffer&) = delete;

  /// Makes room for the next read and returns it. `begun`: bytes of the present answer have come. Grows beyond
  /// `largest` for a line that does not fit.
  std::span<char> room(bool begun);
  /// Takes note of `n` bytes that were read into that room.
  void came(std::size_t n) noexcept;
  /// Gives the next read more room, if nothing is left to parse. For reads that have filled their room.
  void widen();

  /// Returns the bytes that are to be parsed.
  std::string_view unparsed() const noexcept { return {bytes_.data() + begin_, end_ - begin_}; }
  bool empty() const noexcept { return begin_ == end_; }
  std::size_t size() const noexcept { return bytes_.size(); }
  /// Begins to parse: no part of a body is known yet.
  void begin_parse() noexcept { body_begin_ = body_end_ = begin_; }
  void parsed(std::size_t n) noexcept { begin_ += n; }
  /// Adds a part of the body, a view into unparsed(), to those before. Parts of one read, such as its chunks, are moved
  /// together over bytes that were parsed already.
  void join(std::string_view part) noexcept;
  /// Returns the joined parts, and begins anew. Valid until the next room().
  std::string_view take_body() noexcept;

  /// Overwrites what answers have left, and gives a large buffer back. To be called when nothing is to be parsed.
  void rest();

 private:
  void grow(std::size_t bytes);
  void wipe_used() noexcept;

  std::vector<char> bytes_;
  byte_share held_;                            // capacity of bytes_
  std::size_t begin_ = 0, end_ = 0;            // bytes read and not parsed yet
  std::size_t body_begin_ = 0, body_end_ = 0;  // body bytes of this read, moved together
  std::size_t used_ = 0;                       // bytes at the front that were written to since they were wiped
};

}  // namespace mcpbx::http::clients
