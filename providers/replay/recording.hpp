// A recording in memory: a tree of messages, whose nodes hold the recorded answers to the conversation that ends there.
#pragma once
#include "mcp/support/error.hpp"
#include "providers/model/message.hpp"
#include "providers/replay/exchange_format.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace mcpbx::providers::replay {

/// An immutable recording, usable from any thread.
class recording {
 public:
  /// The recorded exchanges of one conversation, in the order of the file.
  struct match {
    std::size_t place = 0;  ///< identifies the conversation within this recording
    std::vector<const exchange*> answers;
  };

  /// Reads a whole file and ignores a last line without a line break, which a crash cut off. An error's sentence
  /// continues the name of the file; errc::config: written by a newer mcpbx.
  static result<recording> read(std::string_view text);

  const replay::header& header() const { return header_; }
  /// Finds the answers recorded for the conversation of `request`. Prefers those with the same tools, then those with
  /// or without tools as now. errc::not_found names the difference from the nearest conversation.
  result<match> find(const model_request& request) const;

 private:
  struct node {
    json::raw_json message;
    std::uint64_t key = 0;
    std::size_t parent = 0;
    std::vector<std::size_t> next;
    std::vector<exchange> answers;
  };

  std::size_t step(std::size_t from, std::string_view message) const;
  std::size_t grow(std::size_t from, const json::raw_json& message);
  result<void> add(exchange e);
  /// Returns the recorded message behind `from` that resembles `came` most, or an absent one.
  json::raw_json nearest(std::size_t from, const json::raw_json& came) const;

  replay::header header_;
  std::vector<node> nodes_{1};  // the first is the conversation before its first message
  std::unordered_map<std::uint64_t, std::size_t> by_key_{{0, 0}};
};

}  // namespace mcpbx::providers::replay
