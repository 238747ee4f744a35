// Arithmetic for models, which are poor at it: one expression in, one number out.
#pragma once
#include "daemon/toolbox/number.hpp"
#include "mcp/support/error.hpp"

#include <string_view>

namespace mcpbx::toolbox {

inline constexpr std::size_t max_expression_bytes = 2000;
inline constexpr int max_expression_depth = 100;

/// Returns the value of an expression: + - * / % ^ (or **), parentheses, the functions sqrt abs round floor ceil min
/// max ln log10 sin cos tan (radians), the constants pi and e. ^ binds to the right and before a sign: -2^2 is -4.
/// errc::parse and errc::invalid_argument name the position (from 1); errc::limit: too long, too deeply nested, or too
/// large a number.
result<number> calculate(std::string_view expression);

}  // namespace mcpbx::toolbox
