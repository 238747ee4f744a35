// Variables of other programs, written as references of ours.
#pragma once
#include "conf/document/jsonc.hpp"
#include "conf/model/references.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::conf::imports {

/// Circumstances of a text of another program.
struct variable_context {
  unsigned forms = 0;                       ///< bits of variable_form: those that the program replaces
  std::string folder;                       ///< the project's folder, or ""
  std::string file_folder;                  ///< the folder of the file that holds the text
  const documents::node* inputs = nullptr;  ///< list of VS Code's inputs, or null
  bool plugins = false;  ///< Claude Code's ${CLAUDE_PLUGIN_ROOT} and ${user_config.k} stand for values
};

/// A text with our references, or the fault that keeps it from being written so.
struct translated_text {
  std::string text;
  std::optional<model::reference_fault> fault;
  /// Variables whose values the person must give, with what the program says about them.
  std::vector<std::pair<std::string, std::string>> to_set;
};

/// Translates all variables of `text`. All else stays text: `${` becomes `$${`.
translated_text translate_variables(std::string_view text, const variable_context& context);

}  // namespace mcpbx::conf::imports
