// Turns the texts of configuration files into one checked configuration, or into a list of all errors. Reads no file
// and no environment variable by itself.
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
  model::configuration config;                ///< complete if there are no errors, else the readable part
  std::vector<documents::diagnostic> errors;  ///< in the order of files and lines

  bool ok() const noexcept { return errors.empty(); }
  /// Returns all errors, one line each.
  std::string error_text() const { return documents::listing(errors); }
};

/// Checks `files` and merges them: objects member by member, any other value from the last file that has it. Without
/// files the result is defaults(env). Throws std::bad_alloc only.
loaded load(std::span<const source_text> files, const environment& env);

/// Returns the configuration without any file: the bundled toolbox, the model `demo`, and one model for each of
/// OPENAI_API_KEY and ANTHROPIC_API_KEY that is set. The first of those is the default model.
model::configuration defaults(const environment& env);

/// Appends one model for each of OPENAI_API_KEY and ANTHROPIC_API_KEY that is set; the first becomes the default model
/// unless there is one. load() calls it when no file has the key `models`.
void add_environment_models(model::configuration& config, const environment& env);

/// Appends the model `demo` (rehearsal) unless an entry has that name, so that `-m demo` always works. load() and
/// defaults() call it; demo never becomes the default model.
void add_demo_model(model::configuration& config);

}  // namespace mcpbx::conf
