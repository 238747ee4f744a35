// Text of XML as it was meant.
#pragma once
#include <string>
#include <string_view>

namespace mcpbx::providers::text {

/// `text` with the five entities of XML and numeric ones decoded, and sections of CDATA as they are; everything else
/// stays too.
std::string decoded_xml(std::string_view text);

}  // namespace mcpbx::providers::text
