// The manual pages of mcpbx, as roff.
#pragma once
#include <string>

namespace mcpbx::manual {

std::string mcpbx_page();    ///< mcpbx(1)
std::string mcpbxd_page();   ///< mcpbxd(8)
std::string toolbox_page();  ///< mcpbx-toolbox(1)
std::string config_page();   ///< mcpbx-config(5)

}  // namespace mcpbx::manual
