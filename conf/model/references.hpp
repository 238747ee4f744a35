// References in strings: ${env:NAME}, ${file:PATH}, ${cmd:WORDS}, ${cred:NAME} (a credential of the service), and in
// server entries ${NAME} and ${NAME:-default} as desktop hosts write them. Checked when the configuration is loaded,
// resolved only when the value is used.
#pragma once
#include "mcp/redact/secret.hpp"
#include "mcp/support/error.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::conf::model {

/// A string of the configuration that may hold references. Its value exists only after resolve().
struct reference_string {
  std::string text;           ///< as written; `$${` stands for a literal `${`
  std::string where;          ///< its place in the document, for errors: `models.gpt.apiKey`
  bool server_entry = false;  ///< ${NAME} and ${NAME:-default} are references here too

  bool empty() const noexcept { return text.empty(); }
  bool operator==(const reference_string&) const = default;
};

/// Source of the values of references. The daemon implements it with blocking calls, on a lane or before it listens.
class reference_source {
 public:
  virtual ~reference_source() = default;
  /// Returns an environment variable of the daemon; nullopt: unset.
  virtual std::optional<std::string> env(std::string_view name) = 0;
  /// Reads a file; `path` is already expanded. Blocks.
  virtual result<std::string> file(const std::string& path) = 0;
  /// Runs a program without a shell for at most 5 s and returns its standard output. `words` is not empty. Blocks.
  virtual result<std::string> command(const std::vector<std::string>& words) = 0;
};

/// The fault of a malformed reference and the way to write it.
struct reference_fault {
  std::string what, mend;
};
/// Finds the first `${` of `text` that is no well-formed reference; nullopt: all are.
std::optional<reference_fault> find_reference_fault(std::string_view text, bool in_server_entry);
/// Does the same and returns the fault with its fix as one error.
result<void> check_references(std::string_view text, bool in_server_entry);

/// Returns true if `text` holds at least one reference.
bool has_references(std::string_view text);
/// Returns true if resolving reads a file or runs a command: resolve on a lane then, or before the daemon listens.
bool needs_lane(std::string_view text);
inline bool needs_lane(const reference_string& s) {
  return needs_lane(s.text);
}

/// Nature of a file's or command's output: secret by default; plain for texts that many may read, as a system prompt.
enum class source_content : std::uint8_t { secret, plain };

/// Returns the value of `s`, without line breaks at the end of files and command output. Registers secret content, and
/// variables with a secret's name, with the redactor. An error names place, reference and fix: errc::config, or the
/// source's own code.
result<std::string> resolve(const reference_string& s, reference_source& source,
                            source_content given = source_content::secret);
/// Does the same for a value that is secret as a whole, and registers all of it with the redactor.
result<redact::secret> resolve_secret(const reference_string& s, reference_source& source);

/// Returns true if resolving `s` inserts a presumed secret: the content of a file, the output of a command, or a
/// variable with a secret's name.
bool refers_to_secret(const reference_string& s);

/// Splits a command into words by the quoting rules of a shell ('…', "…" with \" and \\, backslash outside quotes);
/// expands nothing. errc::config: an unclosed quote, a backslash at the end, or no word at all.
result<std::vector<std::string>> split_words(std::string_view text);

/// Replaces a leading `~` or `~/` by `home`. `~user` is left alone.
std::string expand_home(std::string_view path, std::string_view home);

/// Does the same and puts relative paths below `home`, because the daemon's working directory is arbitrary.
std::string under_home(std::string_view path, std::string_view home);

/// Returns true if a variable or header of this name usually holds a secret (`GITHUB_TOKEN`, `X-Api-Key`).
bool secret_name(std::string_view name);

}  // namespace mcpbx::conf::model
