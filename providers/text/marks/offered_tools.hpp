// View of the offered tools for text formats: finds tools by misspelt names, and gives arguments their types, which a
// text does not have.
#pragma once
#include "providers/model/message.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace mcpbx::providers::text::marks {

class offered_tools {
 public:
  /// A null `set` offers nothing.
  explicit offered_tools(std::shared_ptr<const tool_set> set = nullptr) : set_(std::move(set)) {}

  bool none() const { return !set_ || set_->tools.empty(); }
  const tool_set* set() const { return set_.get(); }
  /// Finds the tool that a model means, or null. Ignores quotes, backticks, bold marks and a namespace (`functions.`).
  /// An exact name wins, else the only one that differs in case.
  const tool_definition* find(std::string_view written) const;
  /// Returns the name of that tool; without one the cleaned name, for the error about the call.
  std::string resolve(std::string_view written) const;

 private:
  // Tools by their names in lower case.
  using by_letters = std::unordered_multimap<std::string, const tool_definition*>;
  std::shared_ptr<const tool_set> set_;
  mutable std::shared_ptr<const by_letters> index_;  // made at the first find(), since most replies need none
};

/// Sets the arguments of `call` from JSON (object, string, number, null, "" for absent); sets `repaired` if it was
/// malformed. Strings become numbers, booleans, lists or objects where the tool's schema accepts no string. Text for a
/// tool with one required string becomes that argument. `tool` may be null.
void set_arguments(tool_call_block& call, const tool_definition* tool, std::string_view json);
/// Does the same for words: a JSON object, a JSON string, or bare text.
void set_arguments_text(tool_call_block& call, const tool_definition* tool, std::string_view words);

/// An argument in a form without types; `text` is its decoded value.
struct untyped_argument {
  /// Kind of the value as the form names it: not at all, as a string, or as JSON.
  enum class written : unsigned char { untyped, text, json };
  std::string name, text;
  written as = written::untyped;
};
/// Sets the arguments of `call`, or its `problem` if one that is JSON cannot be read.
void set_untyped(tool_call_block& call, const tool_definition* tool, const std::vector<untyped_argument>& arguments);

/// Arguments in a form of elements within elements; those of a list are named `item`.
struct argument_tree {
  std::string name, text;               ///< `text`: of an element without others in it
  std::vector<argument_tree> children;  ///< in order
};
/// Sets the arguments of `call` to the children of `tree`, or its `problem` if a name stands twice among them. Values
/// get the types that the schema names on their level.
void set_tree(tool_call_block& call, const tool_definition* tool, const argument_tree& tree);

/// Returns true if the tool has no arguments; false for null.
bool takes_nothing(const tool_definition* tool);
/// Returns true if `arguments` contain every property that the tool's schema names; false for null.
bool takes_no_more(const tool_definition* tool, const std::vector<untyped_argument>& arguments);
/// Returns true if the tool's schema names this property.
bool has_property(const tool_definition* tool, std::string_view name);
/// Returns true if the tool's schema names other properties but not this one, and does not allow further ones.
bool knows_all_but(const tool_definition* tool, std::string_view name);

}  // namespace mcpbx::providers::text::marks
