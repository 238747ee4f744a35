// Members of a request's body beside the conversation: those of the codec, overridden by those of the configuration.
#pragma once
#include "mcp/json/raw_json.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::providers {

/// Returns true for members that a configuration cannot replace: the conversation, its tools, and the wish to stream.
bool is_reserved_member(std::string_view key);

class body_members {
 public:
  /// Adds a member; `json` must be one well-formed value.
  void add(std::string_view key, std::string json) { members_.emplace_back(key, std::move(json)); }
  void add_text(std::string_view key, std::string_view text) { add(key, json_quoted(text)); }
  /// Returns `"key":value` for each member, with commas between them, without braces. `extra` (an object, or absent)
  /// wins: objects are merged, null removes our member. Its reserved members are ignored.
  std::string write(const raw_json& extra) const;

 private:
  std::vector<std::pair<std::string, std::string>> members_;
};

}  // namespace mcpbx::providers
