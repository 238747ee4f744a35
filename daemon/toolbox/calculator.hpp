// Arithmetic for models, which are poor at it: one expression in, one number out.
#pragma once
#include "daemon/toolbox/number.hpp"
#include "mcp/support/error.hpp"

#include <string_view>

namespace mcpbx::toolbox {

inline constexpr std::size_t max_expression_bytes = 2000;
inline constexpr int max_expression_depth = 100;

/// Returns the value of an expression; README.md has its grammar. errc::parse and errc::invalid_argument name the
/// position (from 1); errc::limit: too long, too deeply nested, or too large a number.
result<number> calculate(std::string_view expression);

}  // namespace mcpbx::toolbox
