// A recording in memory: its conversations as a tree of messages, with the recorded exchanges where one was answered.
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

/// Immutable once it was read; any thread.
class recording {
 public:
  /// The exchanges that were recorded for a conversation, in the order of the file.
  struct match {
    std::size_t place = 0;  ///< stands for the conversation as long as the recording lives
    std::vector<const exchange*> answers;
  };

  /// Reads a whole file. A last line without its line break was cut off and does not count. The sentence of an error
  /// goes on from the name of the file; errc::config: a newer mcpbx wrote it.
  static result<recording> read(std::string_view text);

  const replay::header& header() const { return header_; }
  /// What was recorded for the conversation of `request`: when the same tools were offered, else when there were tools
  /// or none as now, else all. errc::not_found says what differs from the recording that agrees with it longest.
  result<match> find(const model_request& request) const;

 private:
  struct node {
    raw_json message;
    std::uint64_t key = 0;
    std::size_t parent = 0;
    std::vector<std::size_t> next;
    std::vector<exchange> answers;
  };

  std::size_t step(std::size_t from, std::string_view message) const;
  std::size_t grow(std::size_t from, const raw_json& message);
  result<void> add(exchange e);
  /// The recorded message behind `from` that is most like `came` (which may be absent), or an absent one.
  raw_json nearest(std::size_t from, const raw_json& came) const;

  replay::header header_;
  std::vector<node> nodes_{1};  // the first is the conversation before its first message
  std::unordered_map<std::uint64_t, std::size_t> by_key_{{0, 0}};
};

}  // namespace mcpbx::providers::replay
