// Changes the configuration on the disk: shows the change, asks, checks the whole, writes each file at once, and has a
// running daemon read it. `add`, `remove`, `enable`, `disable` and `import` end here.
#pragma once
#include "daemon/cli/base/context.hpp"
#include "daemon/cli/config/config_change.hpp"
#include "daemon/cli/config/config_place.hpp"

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace mcpbx::cli::config {

/// The consent of the person, as the options of a verb say it.
struct write_wish {
  bool yes = false;               ///< --yes: do not ask; secrets are moved
  bool keep_secrets = false;      ///< --keep-secrets: secrets in clear stay where they are
  bool dry_run = false;           ///< --dry-run: show what would be written, and write nothing
  bool quiet = false;             ///< the person has seen the change: it is not shown
  std::string* report = nullptr;  ///< with --json: gets the report, which else goes to stdout
};

/// Adds --yes, --keep-secrets and --dry-run to a verb's page.
void add_write_options(CLI::App& page, write_wish& wish, bool with_secrets = true);

/// Writes or replaces entries of mcpServers, each in its file of config.d, or all in the file that was named; offers to
/// move secrets. Returns the exit status: unless it is `done` or the disk failed, nothing is written.
int write_entries(context& c, const config_place& place, const std::vector<new_entry>& entries, const write_wish& wish);

/// Writes files of the configuration, in their order. `told` are lines that stand above the change. Returns the exit
/// status as write_entries().
int write_changes(context& c, const config_place& place, const std::vector<file_change>& changes,
                  const std::vector<std::string>& told, const write_wish& wish);

/// Tells why a file could not be used and returns the exit status: `usage` for what the person can mend in the
/// configuration, else `no_answer`.
int explain_file(context& c, const error& e);

}  // namespace mcpbx::cli::config
