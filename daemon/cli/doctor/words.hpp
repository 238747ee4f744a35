// Words that several parts of the findings share.
#pragma once
#include <string>
#include <string_view>

namespace mcpbx::cli::doctor {

/// Returns three octal digits, such as "600".
std::string octal(unsigned mode);
/// Returns the mend of a reference that does not resolve, given the sentence about it.
std::string export_for(std::string_view sentence);

}  // namespace mcpbx::cli::doctor
