// The marks of parameters in calls that are markup, and what tells whether one of them was damaged.
#pragma once
#include <array>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::providers::text {

// One family of models writes its marks with a namespace.
inline constexpr std::array<std::string_view, 3> parameter_marks{"<parameter=", "<parameter ", "<antml:parameter "};
inline constexpr std::array<std::string_view, 2> value_ends{"</parameter>", "</antml:parameter>"};

/// The attributes of a tag, NAME="…", in order; the name of the tag itself is none.
std::vector<std::pair<std::string_view, std::string_view>> attributes_of(std::string_view tag);
/// Whether a tag holds nothing but such attributes behind its name.
bool has_attributes_only(std::string_view tag);

/// Whether a value that has no closing mark of its own ends in what may be left of one: its last line has the word or
/// an angle bracket, or its end is near to the mark. Not when it ends in a closing tag that it opens itself.
bool ends_in_damage(std::string_view value, bool cdata, bool any_case);

/// Whether a value is one value: its marks of parameters are pairs, but for a closing mark that the text speaks about
/// (blanks on both sides), and what is left of two damaged marks, one behind the other, does not stand in it. `cdata`:
/// the value may have such sections. `any_case`: the marks of its call are in any case; sections then do not count.
bool border_is_certain(std::string_view value, bool cdata, bool any_case);

}  // namespace mcpbx::providers::text
