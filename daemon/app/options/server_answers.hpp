// From the configuration to mcpbx's own answers to tool servers: sampling rules and roots of their entries.
#pragma once
#include "conf/model/model.hpp"
#include "daemon/answers/answer_settings.hpp"
#include "daemon/app/references/start_values.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::daemon::options {

/// Returns the own answers for the servers of a configuration. A root whose references cannot be resolved is left out,
/// with a line in the log.
std::vector<answers::server_answers> server_answers_of(const conf::model::configuration& all,
                                                       const references::start_values& values);

/// Returns the address of a folder: "file:///home/me/a%20b" for a path, which begins at `home` if it is relative or has
/// a ~; an address as it is.
std::string root_uri(std::string_view place, std::string_view home);

}  // namespace mcpbx::daemon::options
