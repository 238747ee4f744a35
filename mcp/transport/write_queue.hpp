// The outbox of a connection. Small pieces are copied together into chunks, so that the messages of a turn need few
// iovecs; large pieces are kept by reference and never copied. Knows no I/O.
#pragma once
#include "mcp/json/raw_json.hpp"
#include "mcp/support/small_queue.hpp"

#include <sys/uio.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace mcpbx::mcp::transports {

class write_queue {
 public:
  /// Size in bytes from which a piece is kept by reference.
  static constexpr std::size_t reference_from = 4096;

  write_queue() = default;
  write_queue(const write_queue&) = delete;
  write_queue& operator=(const write_queue&) = delete;
  ~write_queue() { clear(); }

  /// Appends one message and its line break.
  void push(const json::segments& message);
  /// Fills at most `capacity` iovecs with the bytes to write next. Returns their number.
  std::size_t gather(iovec* into, std::size_t capacity) const;
  /// Drops the first `bytes`, which have been written.
  void consume(std::size_t bytes);
  void clear();

  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }

 private:
  // A chunk of copied bytes or a reference.
  struct piece {
    std::string text;
    json::raw_json reference;
    std::string_view view() const { return reference ? reference.text() : std::string_view(text); }
  };
  /// Returns the chunk that the next `bytes` belong in, and counts them as added.
  std::string& chunk_for(std::size_t bytes);
  void release(piece& p);
  small_queue<piece> pieces_;
  std::size_t front_sent_ = 0;  // bytes of the first piece that are written already
  std::size_t size_ = 0;
  std::size_t owned_ = 0;  // bytes in chunks, as reported to byte_account
};

}  // namespace mcpbx::mcp::transports
