// Secrets: a type that prints as ***, and the redactor that removes known values from text.
#pragma once
#include <string>
#include <string_view>
#include <utility>

namespace mcpbx {

class secret {
 public:
  secret() = default;
  explicit secret(std::string value) : value_(std::move(value)) {}
  /// Returns the value, for the one place that sends it. Never log it, store it or put it into an error.
  const std::string& reveal() const noexcept { return value_; }
  bool empty() const noexcept { return value_.empty(); }

 private:
  std::string value_;
};

/// Returns ***, whatever the value is.
inline std::string_view to_string(const secret&) {
  return "***";
}

/// Table of values that must never appear in printed text, above all in log lines and errors. Each configured secret is
/// registered when it is resolved. Values below 6 bytes are ignored, since they would garble ordinary text.
class redactor {
 public:
  static void add(const secret& value);
  /// Replaces every registered value by ***. Thread-safe.
  static std::string redact(std::string_view text);
  static void clear();
};

}  // namespace mcpbx
