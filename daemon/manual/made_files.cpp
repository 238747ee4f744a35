// The list of made files. CMake (daemon/manual) and the rules of the packages know the folders of the list.
#include "daemon/manual/made_files.hpp"

#include "daemon/cli/completion/shell_scripts.hpp"
#include "daemon/cli/service/unit_files.hpp"
#include "daemon/manual/pages.hpp"

#include <utility>

namespace mcpbx::manual {

std::vector<made_file> made_files() {
  std::vector<made_file> all{
      {"man/man1/mcpbx.1", mcpbx_page()},
      {"man/man1/mcpbx-toolbox.1", toolbox_page()},
      {"man/man5/mcpbx-config.5", config_page()},
      {"man/man8/mcpbxd.8", mcpbxd_page()},
      {"completion/bash/mcpbx", std::string(cli::completion::completion_script("bash"))},
      {"completion/zsh/_mcpbx", std::string(cli::completion::completion_script("zsh"))},
      {"completion/fish/mcpbx.fish", std::string(cli::completion::completion_script("fish"))},
  };
  for (auto& unit : cli::service::user_units("/usr/bin/mcpbxd"))
    all.push_back({"systemd/user/" + unit.name, std::move(unit.text)});
  for (auto& unit : cli::service::system_units("/usr/bin/mcpbxd"))
    all.push_back({"systemd/system/" + unit.name, std::move(unit.text)});
  return all;
}

}  // namespace mcpbx::manual
