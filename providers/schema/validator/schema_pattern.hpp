// Regular expressions of ECMA-262 as JSON Schema uses them: over code points, searching anywhere in the text. The
// matcher follows all alternatives at once, so that no pattern takes exponential time; a budget of steps bounds the
// rest.
#pragma once
#include "mcp/support/error.hpp"
#include "providers/schema/validator/schema_unicode.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::providers::schema {

/// A set of code points.
struct code_point_class {
  std::vector<std::pair<char32_t, char32_t>> ranges;  ///< sorted and apart once the pattern is compiled
  category_set categories = 0;
  std::vector<code_point_class> negated_parts;  ///< \W, \D, \S inside a class
  bool negated = false;
  bool has(char32_t c) const;
};

class pattern {
 public:
  static constexpr std::size_t max_instructions = 20'000;
  static constexpr std::size_t max_work = 5 * max_instructions;  ///< instructions written, moved or copied in all
  enum class outcome { match, no_match, unknown };

  /// Compiles a pattern. errc::invalid_argument names the unsupported part: look-behind, back references, flags,
  /// scripts. Adds to `work` the instructions that were written, including those dropped again.
  static result<pattern> compile(std::string_view text, std::size_t* work = nullptr);
  /// Searches `text`, which must be valid UTF-8. Subtracts its work from `steps`; unknown: they did not suffice.
  outcome search(std::string_view text, std::size_t& steps) const;
  /// Returns the number of instructions.
  std::size_t size() const { return code_.size(); }

 private:
  friend class pattern_compiler;
  friend class pattern_search;
  enum class code : std::uint8_t {
    one,
    any,
    set,
    split,
    jump,
    begin,
    end,
    boundary,
    no_boundary,
    look,
    look_not,
    match
  };
  struct instruction {
    code what;
    std::uint32_t a = 0, b = 0;  ///< code point or class; targets; for look the target behind it (its body follows)
  };
  std::vector<instruction> code_;
  std::vector<code_point_class> classes_;
};

}  // namespace mcpbx::providers::schema
