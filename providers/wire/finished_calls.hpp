// What every API's tool calls need once they have come: their arguments read (providers/model/arguments.hpp), and one
// id each that no other call of the conversation has.
#pragma once
#include "providers/model/arguments.hpp"
#include "providers/model/message.hpp"

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace mcpbx::providers {

/// What is sent back as a call's arguments, for APIs that parse their own history: the object, or one that holds what
/// could not be read as text.
std::string sent_arguments(const tool_call_block& call);

/// read_arguments() for a call that its API never told the end of: it is whole only if an object has come that is. Any
/// other sets `problem`; nothing does not mean `{}` here.
void read_unended_arguments(tool_call_block& call);

/// For a call that came without a name, whatever its arguments are: it gets the name that the history has it under, and
/// its `problem`. So it has a result like all others, and the model reads there what it has to do.
void name_nameless(tool_call_block& call);

/// Whether `id` is at most 64 letters, digits, `_` and `-`.
bool is_fitting_id(std::string_view id);
/// `id` where an API takes only fitting ids: another API's is replaced, always by the same.
std::string fitting_id(std::string_view id);

/// The call ids of one reply. Made ones are nine letters and digits, which every API and template takes.
class call_ids {
 public:
  /// The ids of `request` (null: none) are not given again. It must outlive this object.
  explicit call_ids(const model_request* request) : request_(request) {}
  /// One id for each that was sent ("": none): itself, unless it is taken; then a made one. Ids that came are settled
  /// first, so that a made one cannot take the place of one that came later.
  std::vector<std::string> settle(std::vector<std::string> sent);

 private:
  bool take(const std::string& id);  // false: somebody has it
  const model_request* request_;
  std::unordered_set<std::string> used_;
  bool read_ = false;
  std::size_t counter_ = 0;
};

}  // namespace mcpbx::providers
