// A one-word search for a part of a text, for checks in tests.
#pragma once
#include <string_view>

namespace mcpbx::test {

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace mcpbx::test
