// References in strings: ${env:NAME}, ${file:PATH}, ${cmd:WORDS}, and in server entries ${NAME} and ${NAME:-default} as
// desktop hosts write them. Checked when the configuration is loaded, resolved only when the value is used.
#pragma once
#include "mcp/redact/secret.hpp"
#include "mcp/support/error.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::conf {

/// A string of the configuration that may hold references. What it stands for exists only after resolve().
struct reference_string {
  std::string text;           ///< as written; `$${` stands for a literal `${`
  std::string where;          ///< its place in the document, for errors: `models.gpt.apiKey`
  bool server_entry = false;  ///< whether ${NAME} and ${NAME:-default} are references here

  bool empty() const noexcept { return text.empty(); }
  bool operator==(const reference_string&) const = default;
};

/// Where references get their values. The daemon implements it with blocking calls, on a lane or before it listens.
class reference_source {
 public:
  virtual ~reference_source() = default;
  /// The value of an environment variable of the daemon; nullopt: unset.
  virtual std::optional<std::string> env(std::string_view name) = 0;
  /// The content of a file; `path` is already expanded. Blocks.
  virtual result<std::string> file(const std::string& path) = 0;
  /// The standard output of a program, started without a shell (5 s at most). `words` is not empty. Blocks.
  virtual result<std::string> command(const std::vector<std::string>& words) = 0;
};

/// What is wrong with a reference, and how to write it.
struct reference_fault {
  std::string what, mend;
};
/// The first `${` of `text` that is no well-formed reference; nullopt: all are.
std::optional<reference_fault> find_reference_fault(std::string_view text, bool in_server_entry);
/// Whether every `${` of `text` is a well-formed reference. The error says both.
result<void> check_references(std::string_view text, bool in_server_entry);

/// Whether `text` holds at least one reference.
bool has_references(std::string_view text);
/// Whether resolving reads a file or runs a command, so that it must happen on a lane or before the daemon listens.
bool needs_lane(std::string_view text);
inline bool needs_lane(const reference_string& s) {
  return needs_lane(s.text);
}

/// What a file or a command gives: a secret, as long as nobody says that it is read by everybody (a system prompt).
enum class source_content : std::uint8_t { secret, plain };

/// The value of `s`. Line breaks at the end of files and of commands' output are cut. Secret content of a file or a
/// command, and a variable with a secret's name, is registered with the redactor. An error names the place, the
/// reference and the mend (errc::config; what a source reports keeps its kind).
result<std::string> resolve(const reference_string& s, reference_source& source,
                            source_content given = source_content::secret);
/// The same for a value that is a secret as a whole; it is registered with the redactor.
result<secret> resolve_secret(const reference_string& s, reference_source& source);

/// Whether resolving puts into `s` what is taken for a secret: the content of a file, the output of a command, or a
/// variable with a secret's name.
bool refers_to_secret(const reference_string& s);

/// Splits a command into words as a shell would ('…', "…" with \" and \\, backslash outside quotes) and does nothing
/// else a shell does. errc::config for an unclosed quote, a lone backslash at the end, or no word at all.
result<std::vector<std::string>> split_words(std::string_view text);

/// `path` with a leading `~` or `~/` replaced by `home`. `~user` is left alone.
std::string expand_home(std::string_view path, std::string_view home);

/// The same, and a relative path starts at `home`: where the daemon was started from means nothing.
std::string under_home(std::string_view path, std::string_view home);

/// Whether a variable or header called so usually holds a secret (`GITHUB_TOKEN`, `X-Api-Key`, `Authorization`).
bool secret_name(std::string_view name);

}  // namespace mcpbx::conf
