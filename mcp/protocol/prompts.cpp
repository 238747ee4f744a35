// The checks of one prompt definition.
#include "mcp/protocol/prompts.hpp"

#include "mcp/protocol/definition_checks.hpp"
#include "mcp/redact/hidden_text.hpp"

#include <array>
#include <string>
#include <utility>

namespace mcpbx::mcp::protocol {
namespace {

using kind = json::raw_json::kind;

constexpr std::size_t longest_prompt_name = 128;

constexpr std::array prompt_members = {optional_member{"title", kind::string},
                                       optional_member{"description", kind::string},
                                       optional_member{"arguments", kind::array}, optional_member{"icons", kind::array},
                                       optional_member{"_meta", kind::object}};
constexpr std::array argument_members = {optional_member{"title", kind::string},
                                         optional_member{"description", kind::string},
                                         optional_member{"required", kind::boolean}};

/// Returns the fault of one PromptArgument, or "".
std::string wrong_argument(const json::raw_json& argument) {
  if (!argument.is_object()) return "an argument must be an object";
  const auto object = json::raw_object::open(argument, {"name", "title", "description", "required"});
  if (!object) return "an argument: " + object.error().message;
  if (!object->find("name").is_string()) return "an argument's name must be a string";
  return wrong_member(*object, argument_members, "an argument's ");
}

}  // namespace

result<feature_item> read_prompt(json::raw_json definition) {
  const auto object =
      json::raw_object::open(definition, {"name", "title", "description", "arguments", "icons", "_meta"});
  if (!object)
    return fail(errc::protocol,
                definition.is_object() ? object.error().message : "a prompt definition must be an object");
  auto name = read_key(*object, "name", longest_prompt_name);
  if (!name) return std::unexpected(name.error());
  const auto refuse = [&](const std::string& what) {
    return fail(errc::protocol, "prompt \"" + redact::printable(*name) + "\": " + what);
  };
  if (auto wrong = wrong_member(*object, prompt_members); !wrong.empty()) return refuse(wrong);
  std::string wrong;
  json::for_each_element(object->find("arguments"), [&](const json::raw_json& argument) {
    wrong = wrong_argument(argument);
    return wrong.empty();
  });
  if (!wrong.empty()) return refuse(wrong);
  feature_item prompt;
  prompt.key = std::move(*name);
  prompt.definition = std::move(definition);
  return prompt;
}

}  // namespace mcpbx::mcp::protocol
