// Descriptions of the tools for the server: names, arguments, and the functions that run them.
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

/// Resources that tools may use.
struct context {
  const folders& files;
  std::function<std::int64_t()> wall_ms;  ///< milliseconds since 1970
};

/// A successful answer: blocks of text, and the same as a JSON object if the tool has an output schema.
struct answer {
  std::vector<std::string> texts;
  std::string structured;
};

struct tool {
  std::string_view name, title, description;
  /// Properties of the input schema (a JSON object) and the required names (a JSON array, or "").
  std::string_view properties, required;
  /// Properties of the output schema, all of them required; "" if the tool has none.
  std::string_view output_properties;
  result<answer> (*run)(const context&, const arguments&);
};

std::span<const tool> time_tools();
std::span<const tool> arithmetic_tools();
/// Returns the tools that are offered only if folders were given.
std::span<const tool> file_tools();
std::span<const tool> search_tools();

/// Returns the names of a JSON object's members; `object` must live forever.
std::vector<std::string> member_names(std::string_view object);
/// Returns the definition for tools/list.
std::string definition(const tool& t, const folders& files);

}  // namespace mcpbx::toolbox
