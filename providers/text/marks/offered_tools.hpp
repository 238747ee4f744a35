// What a text format needs to know of the offered tools: their names as models misspell them, and the types of their
// arguments, because a text has none.
#pragma once
#include "providers/model/message.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace mcpbx::providers::text {

class offered_tools {
 public:
  /// `set` may be null: nothing is offered then.
  explicit offered_tools(std::shared_ptr<const tool_set> set = nullptr) : set_(std::move(set)) {}

  bool none() const { return !set_ || set_->tools.empty(); }
  const tool_set* set() const { return set_.get(); }
  /// The tool that is meant: without quotes, backticks, bold marks, namespace (`functions.`); exactly, else the only
  /// one that differs in case. Null when there is none.
  const tool_definition* find(std::string_view written) const;
  /// The name of that tool; without one the cleaned name, for the error that its call is answered with.
  std::string resolve(std::string_view written) const;

 private:
  // Tools whose names differ in case only, by these names in small letters.
  using by_letters = std::unordered_multimap<std::string, const tool_definition*>;
  std::shared_ptr<const tool_set> set_;
  mutable std::shared_ptr<const by_letters> index_;  // made at the first find(): most replies ask for no name
};

/// Sets the arguments of `call` from what stands for them in a JSON form (object, string, number, null, "" for absent),
/// `repaired` when it was no JSON before. Strings become numbers, booleans, lists or objects where the tool's schema
/// takes no string. Text for a tool with one required string becomes that. `tool` may be null.
void set_arguments(tool_call_block& call, const tool_definition* tool, std::string_view json);
/// The same for words: of a JSON object, of a JSON string, or bare text.
void set_arguments_text(tool_call_block& call, const tool_definition* tool, std::string_view words);

/// An argument in a form that has no types; `text` is its value as it is meant.
struct untyped_argument {
  std::string name, text;
};
void set_untyped(tool_call_block& call, const tool_definition* tool, const std::vector<untyped_argument>& arguments);

/// Whether the tool has no arguments; false for null.
bool takes_nothing(const tool_definition* tool);
/// Whether `arguments` hold each property that the tool's schema names; false for null.
bool takes_no_more(const tool_definition* tool, const std::vector<untyped_argument>& arguments);
/// Whether the tool's schema names this property.
bool has_property(const tool_definition* tool, std::string_view name);
/// Whether the tool's schema names properties, not this one, and does not say that there may be others.
bool knows_all_but(const tool_definition* tool, std::string_view name);

}  // namespace mcpbx::providers::text
