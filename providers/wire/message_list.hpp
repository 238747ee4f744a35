// The messages of a request to the APIs that look like chat completions, in a row that every template takes: users'
// messages that meet are one, and where it has to be an assistant's message stands between tools and user.
#pragma once
#include "providers/model/message.hpp"

#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::providers {

/// What the results of a turn become. Tools come first, so that nothing stands between a call and its result.
struct result_fragments {
  raw_json tools;   ///< their tool messages, parted by commas
  raw_json images;  ///< the user's message with their images; absent when there are none
};

/// What `make()` encodes the results `m` to, kept with it under two keys and made only once.
template <class Make>
result_fragments results_once(const message& m, std::string_view key, std::string_view images_key, Make&& make) {
  if (auto tools = m.remembered(key); !tools.empty()) return {std::move(tools), m.remembered(images_key)};
  result_fragments made = make();
  if (!made.tools.empty()) m.remember(key, made.tools);
  if (!made.images.empty()) m.remember(images_key, made.images);
  return made;
}

/// Writes messages, parted by commas, into a request's body. What it does with one is the same in every request that
/// has the same messages before it, so that the prefix of a conversation keeps its bytes.
class message_list {
 public:
  /// `bridges`: the server takes no user's message right behind a tool's.
  explicit message_list(segments& body, bool bridges = false) : body_(body), bridges_(bridges) {}
  message_list(const message_list&) = delete;
  message_list& operator=(const message_list&) = delete;

  /// An absent fragment is no message. A user's has `content`, a text or a list of parts, and may have `images`.
  void add(role from, raw_json fragment);
  void add(result_fragments results);
  /// To be called once, behind the last message.
  void finish() { end_users(); }

 private:
  void write(role from, raw_json fragment);
  // Before somebody else's message and at the end: what the users before it said.
  void end_users();
  void write_joined();
  void write_joined_images();

  segments& body_;
  bool bridges_, first_ = true;
  role last_ = role::system;
  std::vector<raw_json> users_;  // that meet, and are not written yet
};

}  // namespace mcpbx::providers
