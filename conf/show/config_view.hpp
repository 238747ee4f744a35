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
/// `config` has the values of the files, the keys of other hosts as those of ours that they mean, and the defaults of
/// the top level, of its sections and of the entries of servers and models. `origins` has each value that is no object,
/// by its path as errors show it; beside places it says `default`, `environment` (a model that stands in because its
/// key is set) and `command line`. References are not resolved, and secrets in clear are `***`.
std::string config_view(std::span<const source_text> files, const environment& env,
                        std::span<const view_override> overrides = {});

}  // namespace mcpbx::conf::show
