// Makes tool names that every model API accepts: letters, digits, _ and -, a letter first, at most 64 characters. Each
// name stands for one tool only.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::providers {

inline constexpr std::size_t max_tool_name = 64;

/// Name of a call whose name cannot be read. Such a call has a `problem` and is never run.
inline constexpr std::string_view nameless_call = "unreadable";

/// Returns true if model APIs accept `name` as it is.
bool is_model_name(std::string_view name);
/// Replaces other characters by `_` and cuts a long name, with a stable hash at its end. Different names may give the
/// same result, which shown_names() resolves.
std::string model_name(std::string_view name);

/// Returns the name under which a past call of `name` is sent: `name` itself if APIs accept it, else a stable name with
/// a hash that no tool has. Only for requests: calls are looked up by the model's own word.
std::string fitting_name(std::string_view name);

/// Removes the namespace that models put before tools by habit ("functions.", "default_api.", "tools.").
std::string_view without_namespace(std::string_view name);

/// Returns the names that the model sees, in the order of `names`; distinct names stay distinct. The result does not
/// depend on the order: an acceptable name is kept, and each changed name that would clash gets a hash of itself.
std::vector<std::string> shown_names(std::span<const std::string_view> names);

}  // namespace mcpbx::providers
