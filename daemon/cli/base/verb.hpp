// The description of one verb: its name, its help, its options and its action.
#pragma once
#include "daemon/cli/base/context.hpp"

#include <functional>
#include <span>
#include <string_view>

namespace CLI {
class App;
}

namespace mcpbx::cli {

/// Runs a verb after its options were parsed. Returns the exit status.
using verb_action = std::function<int(context&)>;

struct verb {
  const char* name;
  int place = 100;        ///< in `mcpbx --help`: lower ones come first, verbs of one place by name
  const char* summary;    ///< the verb's line in `mcpbx --help`
  std::string_view more;  ///< the text below the options in `mcpbx NAME --help`, or ""
  /// Adds the verb's options to its page and returns its action. The action owns the values of the options: parsing
  /// writes to them after this function has returned.
  verb_action (*declare)(CLI::App& page);
  std::span<const std::string_view> actions = {};  ///< the words that its first argument may be, for completion
  std::string_view beside_wrong_words = "";        ///< the end of errors about unknown options
};

}  // namespace mcpbx::cli
