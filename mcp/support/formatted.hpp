// Texts made from a pattern and values. The formatter of fmt, which is long, is compiled here once.
#pragma once
#include <spdlog/fmt/fmt.h>

#include <string>

namespace mcpbx {

/// Does the work of formatted().
std::string format_values(fmt::string_view pattern, fmt::format_args values);

/// Returns `pattern` with the values in place of its {}, in the syntax of std::format.
template <class... Values>
std::string formatted(fmt::format_string<const Values&...> pattern, const Values&... values) {
  return format_values(pattern, fmt::make_format_args(values...));
}

}  // namespace mcpbx
