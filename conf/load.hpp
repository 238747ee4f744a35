// From the texts of the configuration files to a checked configuration, or to everything that is wrong with them at
// once. Pure: reads no file and no variable.
#pragma once
#include "conf/document/diagnostic.hpp"
#include "conf/environment.hpp"
#include "conf/model/model.hpp"

#include <span>
#include <string>
#include <vector>

namespace mcpbx::conf {

/// One file: the name that errors show, and its bytes.
struct source_text {
  std::string name;
  std::string text;
};

struct loaded {
  configuration config;            ///< complete when there are no errors; else what could be read
  std::vector<diagnostic> errors;  ///< in the order of files and lines

  bool ok() const noexcept { return errors.empty(); }
  /// All errors, one line each.
  std::string error_text() const { return listing(errors); }
};

/// Checks `files` and merges them: members of objects are merged, of the same value the later file's counts. Without
/// any file the result is defaults(env). Never throws but for memory.
loaded load(std::span<const source_text> files, const environment& env);

/// What holds without any file: the bundled toolbox, the model `demo`, and a model for OPENAI_API_KEY or
/// ANTHROPIC_API_KEY when set; the default model is the first of them, if any.
configuration defaults(const environment& env);

/// Appends the model `demo` (rehearsal) unless an entry has that name: `-m demo` works everywhere, and only when asked
/// for. load() and defaults() have done it.
void add_demo_model(configuration& config);

}  // namespace mcpbx::conf
