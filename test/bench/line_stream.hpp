// Lines over descriptors, with next to nothing around them: what the direct pipe, the floor relay and the callers of
// the benchmark share. It shares no code with mcpbx, whose cost is measured against it.
#pragma once
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::bench {

class line_stream {
 public:
  /// Takes over both descriptors, which may be the same one. Non-blocking ones are for use with poll.
  line_stream(int in, int out, bool blocking = false);
  ~line_stream();
  line_stream(line_stream&& other) noexcept;
  line_stream& operator=(line_stream&&) = delete;

  int in() const noexcept { return in_; }
  int out() const noexcept { return out_; }
  /// Queues bytes; flush() writes them.
  std::string& queue() noexcept { return to_write_; }
  bool unwritten() const noexcept { return written_ < to_write_.size(); }
  /// Writes what the descriptor takes. False when the other end has gone.
  bool flush();
  /// Reads once and calls `f(line)` for every whole line. False when the other end has gone.
  template <class F>
  bool fill(F&& f) {
    if (!read_some()) return false;
    while (const void* found = std::memchr(buffer_.data() + searched_, '\n', end_ - searched_)) {
      const auto at = static_cast<std::size_t>(static_cast<const char*>(found) - buffer_.data());
      const std::string_view line(buffer_.data() + begin_, at - begin_);
      begin_ = searched_ = at + 1;
      if (!line.empty()) f(line);
    }
    searched_ = end_;
    if (begin_ == end_) begin_ = end_ = searched_ = 0;
    return true;
  }

 private:
  bool read_some();
  int in_, out_;
  std::string to_write_;
  std::size_t written_ = 0;
  std::vector<char> buffer_ = std::vector<char>(1 << 20);
  std::size_t begin_ = 0, end_ = 0, searched_ = 0;
};

/// The token of the envelope's id, which every program of the benchmark writes among the first members; "" without one.
std::string_view id_of(std::string_view line);

}  // namespace mcpbx::bench
