// One finding about a configuration, with its line and column, its path in the document, and the fix (E1).
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::conf::documents {

/// A position in one of the files that were read. Lines and columns count from 1, columns in characters.
/// `line` 0: the file as a whole. `file` is an index into the span given to load().
struct place {
  std::uint32_t file = 0, line = 0, column = 0;
};

/// One finding. It does not know its own severity: errors and notices are kept in separate lists.
struct diagnostic {
  std::string file;        ///< name of the file as it was given; empty: no file in particular
  std::uint32_t line = 0;  ///< 0: the file as a whole
  std::uint32_t column = 0;
  std::string what;  ///< "must be a whole number from 1 to 10000, not a string"; never holds a value that may be secret
  std::string path;  ///< path in the document: `mcpServers.git.startTimeoutMs`; empty: the document itself
  std::string mend;  ///< the fix, as an instruction; empty if nothing is wrong

  /// Returns `file:line:column: what, in "path": mend`, without a newline and safe for a terminal. A mark such as
  /// "error" stands before `what`, as compilers write it.
  std::string text(std::string_view mark = {}) const;
};

/// Returns one line per finding, each with a newline.
std::string listing(const std::vector<diagnostic>& findings, std::string_view mark = {});

/// Returns the path of a member: `parent.key`, or `parent["key"]` if the key is no plain word.
std::string member_path(std::string_view parent, std::string_view key);
/// Returns the path of a list element: `parent[index]`.
std::string element_path(std::string_view parent, std::size_t index);

}  // namespace mcpbx::conf::documents
