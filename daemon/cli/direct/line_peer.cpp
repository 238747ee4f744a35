// Reads and writes side by side, so that neither end waits for the other with a full pipe.
#include "daemon/cli/direct/line_peer.hpp"

#include "daemon/cli/link/daemon_connection.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/redact/cut_text.hpp"
#include "mcp/rpc/message_sink.hpp"
#include "mcp/support/text.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <unordered_map>
#include <utility>

namespace mcpbx::cli::direct {
namespace {

constexpr std::size_t kept_words = 2'048;
constexpr std::size_t most_received = 10'000;  // messages that wait to be looked at
constexpr std::size_t longest_reason = 400;    // bytes of an error's message

class collected final : public mcp::rpc::message_sink {
 public:
  collected(std::deque<mcp::rpc::message>& into, std::size_t& noise, std::string& first)
      : into_(into), noise_(noise), first_(first) {}
  void on_message(mcp::rpc::message&& m) override {
    // Drops notifications: nobody reads them, and a server may send any number.
    if (m.type != mcp::rpc::message::kind::notification && into_.size() < most_received) into_.push_back(std::move(m));
  }
  void on_fault(mcp::rpc::message_fault f) override {
    if (noise_++ == 0) first_ = f.shown();
  }

 private:
  std::deque<mcp::rpc::message>& into_;
  std::size_t& noise_;
  std::string& first_;
};

std::string line_of(std::int64_t id, std::string_view method, std::string_view params) {
  std::string text;
  json::json_writer w(text);
  w.begin_object().members("jsonrpc", "2.0", "id", id, "method", method).key("params").token(params).end_object();
  return text + '\n';
}

std::string error_text(const json::raw_json& error) {
  const auto message = json::member_text(error, "message");
  return message.empty() ? "an error without a message"
                         : redact::cut_for_people(message, longest_reason, {.mark = " …"});
}

}  // namespace

line_peer::line_peer(int input, int output, int errors)
    : input_(input),
      output_(output),
      errors_(errors),
      framer_({.max_message_bytes = 32u << 20, .max_depth = 10'000, .repair_utf8 = true}) {}

void line_peer::drain_errors() {
  std::array<char, 4096> block;
  for (int i = 0; errors_ >= 0 && i < 64; ++i) {
    const ssize_t n = ::read(errors_, block.data(), block.size());
    if (n < 0 && errno == EINTR) continue;
    if (n == 0) errors_ = -1;
    if (n <= 0) return;
    words_.append(block.data(), static_cast<std::size_t>(n));
    if (words_.size() > kept_words) {
      words_ = std::string(tail_utf8(words_, kept_words));
      words_cut_ = true;
    }
  }
}

result<void> line_peer::pump(std::string_view& out, time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
  if (link::interrupted()) return fail(errc::cancelled, "interrupted");
  if (left <= 0) return fail(errc::timed_out, "the time is up");
  std::array<pollfd, 3> any{pollfd{output_, POLLIN, 0}, pollfd{errors_, POLLIN, 0},
                            pollfd{out.empty() ? -1 : input_, POLLOUT, 0}};
  const int ready = ::poll(any.data(), any.size(), static_cast<int>(std::min<std::int64_t>(left, 1'000)));
  if (ready <= 0) return {};
  if (any[1].revents != 0) drain_errors();
  if (any[2].revents != 0) {
    const ssize_t n = ::write(input_, out.data(), out.size());
    if (n > 0) out.remove_prefix(static_cast<std::size_t>(n));
    // The last words of a server that has ended may still be there to be read.
    if (n < 0 && errno != EAGAIN && errno != EINTR && any[0].revents == 0)
      return fail(errc::unavailable, std::string("it takes no input: ") + std::strerror(errno));
  }
  if (any[0].revents == 0) return {};
  static std::array<char, 65536> block;
  const ssize_t n = ::read(output_, block.data(), block.size());
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return {};
  if (n <= 0) return fail(errc::unavailable, "it closed its output");
  collected sink(received_, noise_, first_noise_);
  framer_.feed({block.data(), static_cast<std::size_t>(n)}, sink);
  return {};
}

result<void> line_peer::send(std::string text, time_point deadline) {
  std::string_view left = text;
  while (!left.empty()) {
    const ssize_t n = ::write(input_, left.data(), left.size());
    if (n > 0) {
      left.remove_prefix(static_cast<std::size_t>(n));
      continue;
    }
    if (n < 0 && errno != EAGAIN && errno != EINTR)
      return fail(errc::unavailable, std::string("it takes no input: ") + std::strerror(errno));
    if (auto done = pump(left, deadline); !done) return done;
  }
  return {};
}

// Answers requests of the peer, such as ping and roots/list, which this client does not offer.
void line_peer::refuse_requests(time_point deadline) {
  for (std::size_t i = 0; i < received_.size();) {
    if (received_[i].type != mcp::rpc::message::kind::request) {
      ++i;
      continue;
    }
    std::string text;
    json::json_writer w(text);
    w.begin_object().member("jsonrpc", "2.0").key("id").token(received_[i].id.token());
    if (received_[i].method() == "ping")
      w.key("result").begin_object().end_object();
    else
      w.key("error").begin_object().members("code", -32601, "message", "not offered").end_object();
    w.end_object();
    received_.erase(received_.begin() + static_cast<std::ptrdiff_t>(i));
    (void)send(text + '\n', deadline);
  }
}

result<line_peer::reply> line_peer::call(std::string_view method, std::string_view params, time_point deadline) {
  const std::int64_t id = next_++;
  if (auto sent = send(line_of(id, method, params), deadline); !sent) return std::unexpected(sent.error());
  const auto mine = mcp::rpc::rpc_id::number(id);
  std::string_view nothing;
  for (;;) {
    refuse_requests(deadline);
    const auto found = std::ranges::find_if(received_, [&](const mcp::rpc::message& m) {
      return m.type == mcp::rpc::message::kind::response && m.id == mine;
    });
    if (found != received_.end()) {
      reply r{found->result, found->error};
      received_.clear();
      return r;
    }
    received_.clear();  // answers to nothing: a peer may send any number of them
    if (auto done = pump(nothing, deadline); !done) return std::unexpected(done.error());
  }
}

result<void> line_peer::notify(std::string_view method, std::string_view params, time_point deadline) {
  std::string text;
  json::json_writer w(text);
  w.begin_object().members("jsonrpc", "2.0", "method", method).key("params").token(params).end_object();
  return send(text + '\n', deadline);
}

result<line_peer::times> line_peer::repeat(std::string_view method, std::string_view params, std::size_t count,
                                           std::size_t at_once, time_point deadline) {
  using clock = std::chrono::steady_clock;
  times t;
  t.each.reserve(count);
  std::unordered_map<std::int64_t, clock::time_point> open;
  std::size_t begun = 0;
  std::string_view nothing;
  const auto start = clock::now();
  while (t.each.size() < count) {
    while (begun < count && open.size() < at_once) {
      const std::int64_t id = next_++;
      open.emplace(id, clock::now());
      if (auto sent = send(line_of(id, method, params), deadline); !sent) return std::unexpected(sent.error());
      ++begun;
    }
    refuse_requests(deadline);
    if (received_.empty()) {
      if (auto done = pump(nothing, deadline); !done) {
        if (done.error().code != errc::timed_out || t.each.empty()) return std::unexpected(done.error());
        break;
      }
      continue;
    }
    const auto m = std::move(received_.front());
    received_.pop_front();
    const auto found =
        std::ranges::find_if(open, [&](const auto& one) { return m.id == mcp::rpc::rpc_id::number(one.first); });
    if (found == open.end()) continue;
    t.each.push_back(clock::now() - found->second);
    open.erase(found);
    if (m.error) return fail(errc::peer, error_text(m.error));
    if (json::find_member(m.result, "isError").is_true()) return fail(errc::peer, "the tool returned an error");
  }
  t.whole = clock::now() - start;
  return t;
}

}  // namespace mcpbx::cli::direct
