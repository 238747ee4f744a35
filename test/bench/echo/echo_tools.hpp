// The tools that bench_echo lists, also offered to the model by the bare loop.
#pragma once
#include <string>
#include <string_view>

namespace mcpbx::bench {

inline constexpr std::string_view tool_description = "Gives its message back, or as many characters as size says.";
inline constexpr std::string_view tool_schema =
    R"({"type":"object","properties":{"message":{"type":"string","description":"what to give back"},)"
    R"("size":{"type":"integer","description":"characters of the answer"}},"required":["message"]})";

inline std::string tool_name(long index) {
  return index == 0 ? "echo" : "tool_" + std::to_string(index);
}

}  // namespace mcpbx::bench
