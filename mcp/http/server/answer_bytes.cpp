// Writes heads and chunks of answers, and keeps the two buffers of a connection that sends them.
#include "mcp/http/server/answer_bytes.hpp"

#include "mcp/support/shared_bytes.hpp"

#include <boost/beast/http/status.hpp>

#include <charconv>
#include <ctime>

namespace mcpbx::http::servers {
namespace {

/// The value of the header Date, made once in a second.
class date_text {
 public:
  std::string_view at(std::int64_t wall_ms) {
    const auto seconds = static_cast<std::time_t>(wall_ms / 1000);
    if (size_ > 0 && seconds == seconds_) return {text_, size_};
    seconds_ = seconds;
    std::tm parts{};
    ::gmtime_r(&seconds, &parts);
    size_ = std::strftime(text_, sizeof text_, "%a, %d %b %Y %H:%M:%S GMT", &parts);
    return {text_, size_};
  }

 private:
  std::time_t seconds_ = 0;
  char text_[40];
  std::size_t size_ = 0;
};
thread_local date_text date;  // one for all connections of a thread

}  // namespace

void answer_bytes::append_head(int status, const std::vector<header>& headers, bool last, std::int64_t wall_ms) {
  waiting_ += "HTTP/1.1 " + std::to_string(status) + " ";
  const auto reason =
      boost::beast::http::obsolete_reason(boost::beast::http::int_to_status(static_cast<unsigned>(status)));
  waiting_.append(reason.data(), reason.size());
  waiting_.append("\r\nDate: ").append(date.at(wall_ms)).append("\r\n");
  if (last) waiting_ += "Connection: close\r\n";
  for (const auto& h : headers) waiting_.append(h.name).append(": ").append(h.value).append("\r\n");
}

void answer_bytes::append_chunk(std::string_view part) {
  char size[16];
  waiting_.append(size, std::to_chars(size, size + sizeof size, part.size(), 16).ptr).append("\r\n", 2);
  waiting_.append(part).append("\r\n", 2);
}

void answer_bytes::begin_write() {
  leaving_.swap(waiting_);
  waiting_.clear();
  taken_ = 0;
}

bool answer_bytes::written(std::size_t n, std::size_t kept) {
  taken_ += n;
  ever_taken_ += n;
  if (taken_ < leaving_.size()) return false;
  leaving_.clear();
  taken_ = 0;
  for (auto* s : {&leaving_, &waiting_})
    if (s->empty() && s->capacity() > kept) std::string().swap(*s);
  return true;
}

void answer_bytes::drop_waiting() {
  waiting_.clear();
  account(leaving_.size());
}

void answer_bytes::account(std::size_t bytes) {
  if (bytes > accounted_)
    byte_account::add(bytes - accounted_);
  else
    byte_account::sub(accounted_ - bytes);
  accounted_ = bytes;
}

}  // namespace mcpbx::http::servers
