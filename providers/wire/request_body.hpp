// The members of a request's body beside the conversation: what the codec says, with what the configuration adds laid
// over it.
#pragma once
#include "mcp/json/raw_json.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::providers {

/// Members that the codecs write themselves and that no configuration replaces: the conversation, its tools, and that
/// the answer streams.
bool is_reserved_member(std::string_view key);

class body_members {
 public:
  /// `json` is one well-formed value.
  void add(std::string_view key, std::string json) { members_.emplace_back(key, std::move(json)); }
  void add_text(std::string_view key, std::string_view text) { add(key, json_quoted(text)); }
  /// `"key":value` for each member, with commas between them, without braces. `extra` (an object, or absent) wins: of
  /// two objects the members are merged, null takes ours out, reserved members are left alone.
  std::string write(const raw_json& extra) const;

 private:
  std::vector<std::pair<std::string, std::string>> members_;
};

}  // namespace mcpbx::providers
