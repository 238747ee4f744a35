// The last lines that a tool server wrote to stderr, of all its processes, for people who follow them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace mcpbx::mcp::clients {

/// A bounded book of lines, each with a number. Readers ask for lines from a number on, so that a slow one costs
/// nothing: it learns how many lines it has missed. Used on the speaking thread only.
class stderr_lines {
 public:
  struct line {
    std::uint64_t number = 0;  ///< counts from 1
    std::int64_t at_ms = 0;    ///< in milliseconds since 1970
    std::string text;          ///< as the server wrote it, without the line break; secrets are in it
  };
  static constexpr std::size_t longest_line = 1024;  ///< bytes; more of a line is left out
  static constexpr std::size_t most_waiting = 64;

  /// Keeps lines of at most `bytes` bytes together, each with 64 more.
  explicit stderr_lines(std::size_t bytes = 64u << 10) : most_bytes_(bytes) {}
  stderr_lines(const stderr_lines&) = delete;
  stderr_lines& operator=(const stderr_lines&) = delete;

  void add(std::string_view text, std::int64_t at_ms);
  /// Returns the kept lines, oldest first.
  const std::deque<line>& kept() const noexcept { return lines_; }
  /// Returns the number that the next line gets.
  std::uint64_t next() const noexcept { return next_; }

  /// Calls `more` once, when the next line has been added; dropping the result ends the wait. Null: most_waiting
  /// readers wait already.
  using wait = std::shared_ptr<void>;
  [[nodiscard]] wait when_more(std::function<void()> more);

 private:
  std::size_t most_bytes_, bytes_ = 0;
  std::deque<line> lines_;
  std::uint64_t next_ = 1;
  std::map<std::uint64_t, std::function<void()>> waiting_;
  std::uint64_t last_wait_ = 0;
  std::shared_ptr<stderr_lines*> self_ = std::make_shared<stderr_lines*>(this);  // expires with this object
};

/// The books of all servers, by name. A book stays when a server's entry changes.
using stderr_books = std::map<std::string, std::shared_ptr<stderr_lines>, std::less<>>;

}  // namespace mcpbx::mcp::clients
