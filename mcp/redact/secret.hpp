// A value that must not be printed: no stream operator, no formatter but one that prints ***.
#pragma once
#include <string>
#include <string_view>
#include <utility>

namespace mcpbx {

class secret {
 public:
  secret() = default;
  explicit secret(std::string value) : value_(std::move(value)) {}
  /// The value itself, for the one place that sends it. Never log, store or put it into an error.
  const std::string& reveal() const noexcept { return value_; }
  bool empty() const noexcept { return value_.empty(); }

 private:
  std::string value_;
};

/// What every printer shows.
inline std::string_view to_string(const secret&) {
  return "***";
}

/// The values that must never appear in anything printable, log lines and errors above all: each configured secret is
/// registered when it is resolved. Shorter than 6 bytes is not registered: it would garble ordinary text.
class redactor {
 public:
  static void add(const secret& value);
  /// `text` with every registered value replaced by ***. Any thread.
  static std::string redact(std::string_view text);
  static void clear();
};

}  // namespace mcpbx
