// The configuration in force as one JSON document, with the origin of each value. Pure.
#pragma once
#include "conf/config_files.hpp"
#include "conf/environment.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::conf::show {

/// A value that the command line gives in place of the files'.
struct view_override {
  std::vector<std::string> path;  ///< keys from the top: {"log", "level"}
  std::string json;
};

/// Returns `{"config": {…}, "origins": {"PATH": "FILE:LINE:COLUMN", …}}` for files that load() takes without an error.
/// README.md says what is in both.
std::string config_view(std::span<const source_text> files, const environment& env,
                        std::span<const view_override> overrides = {});

}  // namespace mcpbx::conf::show
