// What the stdio shim takes out of the daemon's bytes: the answers to its own two requests. Everything else is the
// host's and passes as it is.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace mcpbx::cli {

/// Keeps the answers to our own requests from the host: they are whole lines that begin with our id.
class answer_filter {
 public:
  /// The ids of the shim's requests, as tokens; no host uses them.
  static constexpr std::string_view hello_id = "\"mcpbx-shim-hello\"";
  static constexpr std::string_view drain_id = "\"mcpbx-shim-drain\"";

  /// What of `bytes` is for the host. A line is held back only while it could be one of ours.
  std::string pass(std::string_view bytes) {
    std::string out;
    while (!bytes.empty()) {
      const auto end = bytes.find('\n');
      const auto part = bytes.substr(0, end == std::string_view::npos ? bytes.size() : end + 1);
      bytes.remove_prefix(part.size());
      line_ += part;
      if (!line_.ends_with('\n')) {
        // Our answers are short: a line that has grown beyond them is the host's.
        if (line_.size() > longest || !could_be_ours(line_)) {
          out += line_;
          line_.clear();
          through_ = true;
        }
        continue;
      }
      if (!through_ && is_answer(line_, hello_id)) {
        hello_ = true;
      } else if (!through_ && is_answer(line_, drain_id)) {
        drained_ = true;
      } else {
        out += line_;
      }
      line_.clear();
      through_ = false;
    }
    return out;
  }
  /// Whether no answer of ours is expected, so that bytes need not come through here.
  bool settled() const noexcept { return hello_ && !draining_; }
  /// From now on the answer to the drain request is expected.
  void drain() noexcept { draining_ = true; }
  bool drained() const noexcept { return drained_; }
  /// Whether the bytes so far end in the middle of a line.
  bool mid_line() const noexcept { return through_ || !line_.empty(); }

 private:
  static constexpr std::size_t longest = 4096;
  static constexpr std::string_view front = "{\"jsonrpc\":\"2.0\",\"id\":";
  static bool is_answer(std::string_view line, std::string_view id) {
    return line.starts_with(front) && line.substr(front.size()).starts_with(id);
  }
  static bool could_be_ours(std::string_view line) {
    const std::string mine = std::string(front) + "\"mcpbx-shim-";
    return std::string_view(mine).starts_with(line.substr(0, mine.size()));
  }
  std::string line_;
  bool through_ = false;  // the present line began to pass
  bool hello_ = false, draining_ = false, drained_ = false;
};

}  // namespace mcpbx::cli
