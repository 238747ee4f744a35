// Refusals of the daemon in the words of the command line. It names parameters of a method, such as "params.model",
// where the user has written an option. Pure.
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace mcpbx::cli {

/// An option or operand that the command line has.
struct given_option {
  std::string name;   ///< "--model" or "NAME"
  std::string shown;  ///< as the user wrote it: "-m"; an operand as its name
};

/// Returns a sentence of the daemon with the option in place of the parameter at its beginning: "-m: there is no
/// model". A parameter that no option has given keeps its name without "params.", or none where the rest is a whole
/// sentence.
std::string in_option_words(std::string sentence, std::span<const given_option> given);

}  // namespace mcpbx::cli
