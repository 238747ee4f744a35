// The marks of parameters in calls as markup, and checks for damage to them.
#pragma once
#include <array>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::providers::text::marks {

// One family of models writes its marks with a namespace.
inline constexpr std::array<std::string_view, 3> parameter_marks{"<parameter=", "<parameter ", "<antml:parameter "};
inline constexpr std::array<std::string_view, 2> value_ends{"</parameter>", "</antml:parameter>"};

/// Returns the attributes of a tag, NAME="…", in order, without the name of the tag.
std::vector<std::pair<std::string_view, std::string_view>> attributes_of(std::string_view tag);
/// Returns true if a tag contains nothing but such attributes behind its name.
bool has_attributes_only(std::string_view tag);

/// Returns true if a value without a closing mark ends in the possible rest of one: its last line contains the mark's
/// word or an angle bracket, or its end is near to the mark. A closing tag that the value opens itself is no damage.
bool ends_in_damage(std::string_view value, bool cdata, bool any_case);

/// Returns true if a value is certainly one value: its marks of parameters form pairs, except for a closing mark with
/// blanks on both sides, which the text mentions, and it contains no damaged border. `cdata`: CDATA sections are
/// allowed. `any_case`: the call's marks are in any case, and sections do not count.
bool border_is_certain(std::string_view value, bool cdata, bool any_case);

}  // namespace mcpbx::providers::text::marks
