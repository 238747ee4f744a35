// Moves bytes to the front, grows by copies of which the old one is overwritten, and wipes with the system's function,
// which no compiler takes away and which is as fast as memset.
#include "mcp/http/client/answer_buffer.hpp"

#include <string.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace mcpbx::http::clients {

void wipe(std::string& text) noexcept {
  ::explicit_bzero(text.data(), text.size());
  text.clear();
}

answer_buffer::~answer_buffer() {
  wipe_used();
}

std::span<char> answer_buffer::room(bool begun) {
  if (begin_ == end_) begin_ = end_ = 0;
  if (begin_ > 0) {
    std::memmove(bytes_.data(), bytes_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (bytes_.empty())
    grow(begun ? first : idle);
  else if (end_ == bytes_.size())
    grow(bytes_.size() * 2);
  const auto free = std::span(bytes_).subspan(end_);
  return begun ? free : free.first(std::min(free.size(), first_read));
}

void answer_buffer::came(std::size_t n) noexcept {
  end_ += n;
  used_ = std::max(used_, end_);
}

void answer_buffer::widen() {
  if (!empty() || bytes_.size() >= largest) return;
  begin_ = end_ = 0;
  grow(bytes_.size() * 2);
}

void answer_buffer::join(std::string_view part) noexcept {
  const auto from = static_cast<std::size_t>(part.data() - bytes_.data());
  if (body_begin_ == body_end_)
    body_begin_ = body_end_ = from;
  else if (body_end_ != from)
    std::memmove(bytes_.data() + body_end_, part.data(), part.size());
  body_end_ += part.size();
}

std::string_view answer_buffer::take_body() noexcept {
  const auto from = std::exchange(body_begin_, body_end_);
  return {bytes_.data() + from, body_end_ - from};
}

void answer_buffer::rest() {
  wipe_used();
  if (bytes_.size() <= first) return;
  bytes_ = {};
  held_.set(0);
}

void answer_buffer::grow(std::size_t bytes) {
  std::vector<char> larger(bytes);
  if (end_ > 0) std::memcpy(larger.data(), bytes_.data(), end_);
  wipe_used();
  used_ = end_;
  bytes_ = std::move(larger);
  held_.set(bytes_.capacity());
}

void answer_buffer::wipe_used() noexcept {
  if (used_ > 0) ::explicit_bzero(bytes_.data(), std::exchange(used_, 0));
}

}  // namespace mcpbx::http::clients
