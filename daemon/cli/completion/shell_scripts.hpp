// The texts that teach a shell to complete the words of `mcpbx`.
#pragma once
#include <span>
#include <string_view>

namespace mcpbx::cli::completion {

/// The shells that have a text: bash, zsh, fish.
std::span<const std::string_view> completed_shells();

/// Returns the text for a shell, to be loaded by it; "" for an unknown one.
std::string_view completion_script(std::string_view shell);

}  // namespace mcpbx::cli::completion
