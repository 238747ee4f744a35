// Notes for the reference of keys: what people should know of a key beyond the sentence of the key table.
#pragma once
#include <span>
#include <string_view>

namespace mcpbx::conf::model {

/// Goes with the key of this name in the section of this title (section_spec::title).
struct key_note {
  std::string_view section, key;
  std::string_view usual = {};    ///< in place of the default, as Markdown: what holds where the key is not given
  std::string_view more = {};     ///< further sentences, as Markdown; links start at docs/
  std::string_view example = {};  ///< a member of a configuration, as JSON
};
std::span<const key_note> key_notes();

/// Returns the note of a key, or null.
const key_note* find_key_note(std::string_view section, std::string_view key);

}  // namespace mcpbx::conf::model
