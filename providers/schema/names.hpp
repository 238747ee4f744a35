// Names that every model API takes (letters, digits, _ and -, at most 64, a letter first), and the way back.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace mcpbx::providers {

inline constexpr std::size_t max_tool_name = 64;

/// Whether a model API takes `name` as it is.
bool is_model_name(std::string_view name);
/// `name` with other characters replaced by `_`, cut with a stable hash where it is too long. Different names may give
/// the same one: name_table settles that.
std::string model_name(std::string_view name);

/// The names of a conversation's tools, both ways. What a name becomes does not depend on the order of the others: one
/// that is fine keeps itself, and of those that would clash each gets a hash of itself.
class name_table {
 public:
  name_table() = default;
  explicit name_table(std::span<const std::string> names);
  /// What the model sees of the n-th name.
  const std::string& shown(std::size_t n) const { return shown_[n]; }
  /// The name behind what the model said, or "" when there is none.
  std::string_view original(std::string_view shown) const;
  std::size_t size() const { return shown_.size(); }

 private:
  std::vector<std::string> shown_;
  std::unordered_map<std::string, std::string> originals_;
};

}  // namespace mcpbx::providers
