// Writes the messages of a request to APIs like chat completions in an order that every template accepts: joins
// neighbouring user messages, and puts an assistant message between tools and user if the server needs it.
#pragma once
#include "mcp/json/json_writer.hpp"
#include "providers/model/message.hpp"

#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::providers::wire {

/// Fragments of the results of a turn. Tool messages come first, so that nothing stands between a call and its result.
struct result_fragments {
  json::raw_json tools;   ///< their tool messages, parted by commas
  json::raw_json images;  ///< the user message with their images; absent if there are none
};

/// Returns the fragments of the results `m`, cached under two keys; calls `make()` at the first time.
template <class Make>
result_fragments results_once(const message& m, std::string_view key, std::string_view images_key, Make&& make) {
  if (auto tools = m.remembered(key); !tools.empty()) return {std::move(tools), m.remembered(images_key)};
  result_fragments made = make();
  if (!made.tools.empty()) m.remember(key, made.tools);
  if (!made.images.empty()) m.remember(images_key, made.images);
  return made;
}

/// Writes messages into the array begun in a request's body. The bytes of a message depend on the messages before it
/// only, so that the prefix of a conversation stays the same in later requests.
class message_list {
 public:
  /// `bridges`: the server refuses a user message right behind a tool message.
  explicit message_list(json::segment_writer& body, bool bridges = false) : body_(body), bridges_(bridges) {}
  message_list(const message_list&) = delete;
  message_list& operator=(const message_list&) = delete;

  /// Adds a message; ignores an absent fragment. A user message has `content` (a text or a list of parts), and perhaps
  /// `images`.
  void add(role from, json::raw_json fragment);
  void add(result_fragments results);
  /// Ends the list. Call it once, behind the last message.
  void finish() { end_users(); }

 private:
  void write(role from, const json::raw_json& fragment);
  // Writes the collected user messages, before any other message and at the end.
  void end_users();
  void write_joined();
  void write_joined_images();

  json::segment_writer& body_;
  bool bridges_;
  role last_ = role::system;
  std::vector<json::raw_json> users_;  // consecutive user messages that are not written yet
};

}  // namespace mcpbx::providers::wire
