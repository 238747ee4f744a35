// Keeps bytes between a read and the parser.
#include "mcp/http/server/request_buffer.hpp"

#include <cstring>
#include <utility>

namespace mcpbx::http::servers {

void request_buffer::drop_line_ends() noexcept {
  while (begin_ < end_ && (bytes_[begin_] == '\r' || bytes_[begin_] == '\n')) ++begin_;
}

std::span<char> request_buffer::space(bool little) {
  if (begin_ > 0) {
    std::memmove(bytes_.data(), bytes_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (std::exchange(filled_, false) && bytes_.size() < largest) bytes_.resize(bytes_.size() * 2);
  if (little && end_ == 0 && bytes_.size() > first_size) std::vector<char>(first_size).swap(bytes_);
  return std::span(bytes_).subspan(end_);
}

void request_buffer::add(std::size_t n) noexcept {
  end_ += n;
  filled_ = end_ == bytes_.size();
}

}  // namespace mcpbx::http::servers
