// Secrets: a type that prints as ***, and the redactor that removes known values from text.
#pragma once
#include <string>
#include <string_view>
#include <utility>

namespace mcpbx::redact {

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

/// Returns *** for every value.
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

/// A secret that the redactor knows as long as this object lives, for values that are replaced from time to time.
class passing_secret {
 public:
  passing_secret() = default;
  explicit passing_secret(secret value);
  ~passing_secret();
  passing_secret(passing_secret&& other) noexcept : value_(std::exchange(other.value_, {})) {}
  passing_secret& operator=(passing_secret&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }

 private:
  secret value_;
};

}  // namespace mcpbx::redact
