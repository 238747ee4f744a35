// Reading, writing and the search for the id.
#include "test/bench/line_stream.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace mcpbx::bench {

line_stream::line_stream(int in, int out, bool blocking) : in_(in), out_(out) {
  if (blocking) return;
  ::fcntl(in_, F_SETFL, ::fcntl(in_, F_GETFL) | O_NONBLOCK);
  ::fcntl(out_, F_SETFL, ::fcntl(out_, F_GETFL) | O_NONBLOCK);
}

line_stream::line_stream(line_stream&& other) noexcept
    : in_(std::exchange(other.in_, -1)),
      out_(std::exchange(other.out_, -1)),
      to_write_(std::move(other.to_write_)),
      written_(other.written_),
      buffer_(std::move(other.buffer_)),
      begin_(other.begin_),
      end_(other.end_),
      searched_(other.searched_) {}

line_stream::~line_stream() {
  if (in_ >= 0) ::close(in_);
  if (out_ >= 0 && out_ != in_) ::close(out_);
}

bool line_stream::flush() {
  while (written_ < to_write_.size()) {
    const ssize_t n = ::write(out_, to_write_.data() + written_, to_write_.size() - written_);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno == EAGAIN;
    written_ += static_cast<std::size_t>(n);
  }
  to_write_.clear();
  written_ = 0;
  if (to_write_.capacity() > (4u << 20)) to_write_.shrink_to_fit();
  return true;
}

bool line_stream::read_some() {
  if (end_ == buffer_.size()) {
    if (begin_ > 0) {
      std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
      end_ -= begin_;
      searched_ -= begin_;
      begin_ = 0;
    } else {
      buffer_.resize(buffer_.size() * 2);
    }
  }
  const ssize_t n = ::read(in_, buffer_.data() + end_, buffer_.size() - end_);
  if (n < 0) return errno == EAGAIN || errno == EINTR;
  end_ += static_cast<std::size_t>(n);
  return n > 0;
}

std::string_view id_of(std::string_view line) {
  constexpr std::size_t front = 96;  // far enough for {"jsonrpc":"2.0","method":"…","id":
  const auto key = line.substr(0, front).find("\"id\":");
  if (key == std::string_view::npos) return {};
  const auto begin = key + 5;
  const auto end = std::min(line.find_first_of(",}", begin), line.size());
  return line.substr(begin, end - begin);
}

}  // namespace mcpbx::bench
