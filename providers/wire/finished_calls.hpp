// Finishes the tool calls of every API: reads their arguments (providers/model/arguments.hpp) and gives each an id that
// is unique in the conversation.
#pragma once
#include "providers/model/arguments.hpp"
#include "providers/model/message.hpp"

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace mcpbx::providers::wire {

/// Returns the arguments to send back, for APIs that parse their own history: the object, or an object that contains
/// the unreadable text.
std::string sent_arguments(const tool_call_block& call);

/// Does read_arguments() for a call whose end was never signalled. Only a complete object counts; everything else, even
/// nothing at all, sets `problem`.
void read_unended_arguments(tool_call_block& call);

/// Gives a call without a name the name nameless_call and a `problem`. Its result then tells the model how to call a
/// tool.
void name_nameless(tool_call_block& call);

/// Returns true if `id` has at most 64 characters, all of them letters, digits, `_` or `-`.
bool is_fitting_id(std::string_view id);
/// Returns `id` if it fits, else a replacement that is always the same for this id.
std::string fitting_id(std::string_view id);

/// Ids for the calls of one reply. Generated ids are nine letters and digits, which every API and template accepts.
class call_ids {
 public:
  /// Avoids the ids of `request`, which may be null and must outlive this object.
  explicit call_ids(const model_request* request) : request_(request) {}
  /// Returns one id for each id sent by the provider ("": none): the same, or a generated one if it is taken. Settles
  /// the sent ids first, so that a generated one cannot take a sent one's place.
  std::vector<std::string> settle(std::vector<std::string> sent);

 private:
  bool take(const std::string& id);  // false: the id is taken already
  const model_request* request_;
  std::unordered_set<std::string> used_;
  bool read_ = false;
  std::size_t counter_ = 0;
};

}  // namespace mcpbx::providers::wire
