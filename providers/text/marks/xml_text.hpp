// Decodes text of XML.
#pragma once
#include <string>
#include <string_view>

namespace mcpbx::providers::text::marks {

/// Decodes the five entities of XML and numeric ones, and unwraps CDATA sections. Leaves everything else as it is.
std::string decoded_xml(std::string_view text);

}  // namespace mcpbx::providers::text::marks
