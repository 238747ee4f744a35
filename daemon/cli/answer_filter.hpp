// What the stdio shim takes out of the daemon's bytes: the answer to its own request. Everything else is the host's and
// passes as it is.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace mcpbx::cli {

/// Keeps the answer to our own request from the host: it is a whole line that begins with our id.
class answer_filter {
 public:
  /// The id of the shim's request, as a token; no host uses it.
  static constexpr std::string_view hello_id = "\"mcpbx-shim-hello\"";

  /// What of `bytes` is for the host. A line is held back only while it could be one of ours.
  std::string pass(std::string_view bytes) {
    std::string out;
    while (!bytes.empty()) {
      const auto end = bytes.find('\n');
      const auto part = bytes.substr(0, end == std::string_view::npos ? bytes.size() : end + 1);
      bytes.remove_prefix(part.size());
      line_ += part;
      if (!line_.ends_with('\n')) {
        // Our answer is short: a line that has grown beyond it is the host's.
        if (line_.size() > longest || !could_be_ours(line_)) {
          out += line_;
          line_.clear();
          through_ = true;
        }
        continue;
      }
      if (!through_ && line_.starts_with(ours()))
        hello_ = true;
      else
        out += line_;
      line_.clear();
      through_ = false;
    }
    return out;
  }
  /// Whether our answer has come, so that bytes need not come through here.
  bool settled() const noexcept { return hello_; }
  /// Whether the bytes so far end in the middle of a line.
  bool mid_line() const noexcept { return through_ || !line_.empty(); }

 private:
  static constexpr std::size_t longest = 4096;
  static std::string ours() { return "{\"jsonrpc\":\"2.0\",\"id\":" + std::string(hello_id); }
  static bool could_be_ours(std::string_view line) {
    const std::string mine = ours();
    return std::string_view(mine).starts_with(line.substr(0, mine.size()));
  }
  std::string line_;
  bool through_ = false;  // the present line began to pass
  bool hello_ = false;
};

}  // namespace mcpbx::cli
