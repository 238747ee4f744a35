// `mcpbx enable` and `mcpbx disable`, which differ in one word.
#pragma once
#include "daemon/cli/config/config_write.hpp"

#include <string>

namespace mcpbx::cli::config {

struct switch_options {
  std::string name;
  write_wish wish;
};

/// Switches the entry and returns the exit status.
int switch_entry(context& c, const switch_options& o, bool disabled);

}  // namespace mcpbx::cli::config
