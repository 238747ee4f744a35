// Names that every model API takes (letters, digits, _ and -, at most 64, a letter first), each for one tool.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::providers {

inline constexpr std::size_t max_tool_name = 64;

/// What a call that has no readable name is called. Such a call has a `problem`, so that it is never run.
inline constexpr std::string_view nameless_call = "unreadable";

/// Whether a model API takes `name` as it is.
bool is_model_name(std::string_view name);
/// `name` with other characters replaced by `_`, cut with a stable hash where it is too long. Different names may give
/// the same one: shown_names() settles that.
std::string model_name(std::string_view name);

/// The name in a conversation's history of a call of `name`: itself where APIs take it, else (no tool is shown under
/// such a name: the model made it up) always the same with a hash, which is no tool's. Only for what is sent: what a
/// call means goes by what the model wrote.
std::string fitting_name(std::string_view name);

/// `name` without the namespace that models put tools into by habit ("functions.", "default_api.", "tools.").
std::string_view without_namespace(std::string_view name);

/// What the model sees of each of a conversation's tools, in their order; no two are alike where `names` are not. What
/// a name becomes does not depend on the order of the others: one that is fine keeps itself, and of those that would
/// clash each gets a hash of itself.
std::vector<std::string> shown_names(std::span<const std::string_view> names);

}  // namespace mcpbx::providers
