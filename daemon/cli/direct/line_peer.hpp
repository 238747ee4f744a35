// JSON-RPC over two descriptors, blocking, with a deadline for every wait. Several requests may be under way.
#pragma once
#include "mcp/json/raw_json.hpp"
#include "mcp/rpc/line_framer.hpp"
#include "mcp/support/error.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::cli::direct {

class line_peer {
 public:
  using time_point = std::chrono::steady_clock::time_point;
  /// The descriptors must outlive it, and SIGPIPE must be ignored. `errors` is drained while it waits, and its end is
  /// kept; -1: none.
  line_peer(int input, int output, int errors = -1);

  /// An answer: exactly one of the two.
  struct reply {
    json::raw_json result, error;
  };
  /// Sends a request and waits for its answer. errc::timed_out at the deadline, errc::unavailable at the end of the
  /// stream, errc::cancelled after an interrupt. Requests of the peer are refused, notifications dropped.
  result<reply> call(std::string_view method, std::string_view params, time_point deadline);
  result<void> notify(std::string_view method, std::string_view params, time_point deadline);

  /// Times of calls that were made one after another, and what they took together.
  struct times {
    std::vector<std::chrono::nanoseconds> each;
    std::chrono::nanoseconds whole{0};
  };
  /// Makes the same request `count` times with at most `at_once` under way. Ends early at the deadline with the times
  /// so far. An error answer, or a result that says isError, is an error.
  result<times> repeat(std::string_view method, std::string_view params, std::size_t count, std::size_t at_once,
                       time_point deadline);

  /// Returns the last 2 KiB of `errors`.
  const std::string& last_words() const noexcept { return words_; }
  /// Returns true if last_words() was cut in front, so that it may begin in the middle of a secret.
  bool words_are_cut() const noexcept { return words_cut_; }
  /// Returns the number of lines that were no messages, and the first one.
  std::size_t noise() const noexcept { return noise_; }
  const std::string& first_noise() const noexcept { return first_noise_; }
  /// Reads what is left of `errors`.
  void drain_errors();

 private:
  result<void> send(std::string text, time_point deadline);
  /// Waits until something can be read or, if `out` is not empty, written.
  result<void> pump(std::string_view& out, time_point deadline);
  void refuse_requests(time_point deadline);
  int input_, output_, errors_;
  std::int64_t next_ = 1;
  mcp::rpc::line_framer framer_;
  std::deque<mcp::rpc::message> received_;
  std::string words_, first_noise_;
  std::size_t noise_ = 0;
  bool words_cut_ = false;
};

}  // namespace mcpbx::cli::direct
