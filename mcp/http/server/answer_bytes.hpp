// Bytes of one connection's answers: writes heads and chunks, and holds the bytes that wait and those of the present
// write. Does no I/O. All its bytes count in byte_account.
#pragma once
#include "mcp/http/header.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::http::servers {

class answer_bytes {
 public:
  answer_bytes() = default;
  ~answer_bytes() { account(0); }
  answer_bytes(const answer_bytes&) = delete;
  answer_bytes& operator=(const answer_bytes&) = delete;

  void append(std::string_view bytes) { waiting_ += bytes; }
  /// Appends the status line, Date, Connection if this answer is the `last` one, and `headers`. The empty line that
  /// ends the head is left to the caller. `wall_ms`: ms since 1970.
  void append_head(int status, const std::vector<header>& headers, bool last, std::int64_t wall_ms);
  /// Appends one chunk of a body (RFC 9112, section 7.1). `part` must not be empty, which would end the body.
  void append_chunk(std::string_view part);

  /// Returns true if bytes wait for the next write.
  bool any_waiting() const noexcept { return !waiting_.empty(); }
  /// Makes the waiting bytes those of a new write. The write before must be complete.
  void begin_write();
  /// Returns the rest of the present write. Valid until written() or begin_write().
  std::string_view to_write() const noexcept { return std::string_view(leaving_).substr(taken_); }
  /// Notes that `n` bytes of the present write have left. Returns true if the write is complete; then its memory, where
  /// it is larger than `kept` bytes, is given back.
  bool written(std::size_t n, std::size_t kept);
  /// Drops the waiting bytes. Those of the present write stay, since the socket may still read them.
  void drop_waiting();

  /// Returns the number of bytes that have not left.
  std::size_t unsent() const noexcept { return waiting_.size() + leaving_.size() - taken_; }
  /// Returns the number of bytes that have left in all.
  std::uint64_t taken() const noexcept { return ever_taken_; }
  /// Makes byte_account know the present number of bytes.
  void account() { account(unsent()); }

 private:
  void account(std::size_t bytes);

  std::string waiting_, leaving_;
  std::size_t taken_ = 0;  // written part of leaving_
  std::uint64_t ever_taken_ = 0;
  std::size_t accounted_ = 0;
};

}  // namespace mcpbx::http::servers
