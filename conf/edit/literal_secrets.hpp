// Secrets that stand in clear in the text of a configuration: found, and replaced by references or by ***.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::conf::edit {

/// One of them: a whole string, or the part of it that is secret ("Bearer " stays outside).
struct literal_secret {
  std::string path;   ///< of the string: `mcpServers.git.env.GITHUB_TOKEN`
  std::string label;  ///< the word that names it: `GITHUB_TOKEN`, the option's name, or the last key of the path
  std::string value;  ///< the secret itself, unescaped
  std::size_t begin = 0, end = 0;  ///< bytes of the quoted string in the text
  std::size_t from = 0;            ///< offset of the value in the unescaped string
};

/// The document that a text is.
enum class text_of : unsigned char {
  configuration,  ///< a file of mcpbx, or another program's with the same keys
  server_entry    ///< one entry of mcpServers
};

/// Returns the secrets in clear (README.md says what counts as one), in the order of the text. A text that
/// parse_jsonc() does not take without an error has none.
std::vector<literal_secret> literal_secrets(std::string_view text, text_of kind);

/// Returns `text` with the i-th secret replaced by the i-th text of `by`. `found` comes from literal_secrets(text).
std::string with_replaced(std::string_view text, const std::vector<literal_secret>& found,
                          const std::vector<std::string>& by);

/// Returns a text for people: secrets in clear are `***`. A text that cannot be read is replaced as a whole.
std::string masked(std::string_view text, text_of kind);

}  // namespace mcpbx::conf::edit
