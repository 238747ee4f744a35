// The tools as the server sees them: what they are called, what they take, and the function that runs them.
#pragma once
#include "daemon/toolbox/folders.hpp"
#include "daemon/toolbox/tool_arguments.hpp"
#include "mcp/support/error.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::toolbox {

/// What tools may look at.
struct context {
  const folders& files;
  std::function<std::int64_t()> wall_ms;  ///< milliseconds since 1970
};

/// A successful answer: blocks of text, and the same as a JSON object where the tool has an output schema.
struct answer {
  std::vector<std::string> texts;
  std::string structured;
};

struct tool {
  std::string_view name, title, description;
  /// The properties of the input schema (a JSON object) and the names that must be given (a JSON array, or "").
  std::string_view properties, required;
  /// The properties of the output schema, all of them required; "" when the tool has none.
  std::string_view output_properties;
  result<answer> (*run)(const context&, const arguments&);
};

std::span<const tool> time_tools();
std::span<const tool> arithmetic_tools();
/// Offered only when folders were given.
std::span<const tool> file_tools();
std::span<const tool> search_tools();

/// The definition as tools/list shows it.
std::string definition(const tool& t, const folders& files);

}  // namespace mcpbx::toolbox
