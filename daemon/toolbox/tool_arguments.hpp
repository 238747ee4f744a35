// Checked arguments of a tool call. Errors are sentences that a model can act on.
#pragma once
#include "mcp/json/raw_json.hpp"
#include "mcp/support/error.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace mcpbx::toolbox {

class arguments {
 public:
  /// Reads `json`, an object or absent. A member that is not in `known` (names in the order of the schema) is an error
  /// with the nearest known name; so is a member that occurs twice.
  static result<arguments> open(const json::raw_json& json, std::span<const std::string_view> known);

  /// Returns true if the argument was given and is not null.
  bool has(std::string_view name) const;
  /// Returns a text, or `fallback` if it was not given.
  result<std::string> text(std::string_view name, std::string_view fallback) const;
  /// Returns a text that must be given and must not be empty.
  result<std::string> required_text(std::string_view name) const;
  /// Returns a whole number from `least` to `most`, or `fallback` if it was not given.
  result<std::int64_t> integer(std::string_view name, std::int64_t fallback, std::int64_t least,
                               std::int64_t most) const;
  result<bool> flag(std::string_view name, bool fallback) const;

 private:
  json::raw_json json_;
};

}  // namespace mcpbx::toolbox
