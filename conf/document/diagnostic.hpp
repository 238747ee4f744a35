// What is wrong or noteworthy in a configuration: the place in the file, the place in the document, and the mend (E1).
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::conf {

/// A position in one of the files that were read. Lines and columns count from 1, columns in characters.
/// `line` 0: the file as a whole. `file` is an index into the span given to load().
struct place {
  std::uint32_t file = 0, line = 0, column = 0;
};

/// One finding. Errors make a configuration unusable, notices do not; which it is says the list it stands in.
struct diagnostic {
  std::string file;        ///< the file's name as it was given; empty: no file is meant
  std::uint32_t line = 0;  ///< 0: the file as a whole
  std::uint32_t column = 0;
  std::string what;  ///< "must be a whole number from 1 to 10000, not a string"; never holds a value that may be secret
  std::string path;  ///< where in the document: `mcpServers.git.startTimeoutMs`; empty: the document itself
  std::string mend;  ///< what to do about it; empty where nothing is wrong

  /// `file:line:column: what, in "path": mend`, without a newline, safe for a terminal. With a mark ("error") it stands
  /// before `what`, as compilers write it.
  std::string text(std::string_view mark = {}) const;
};

/// One line per finding, each with a newline.
std::string listing(const std::vector<diagnostic>& findings, std::string_view mark = {});

/// The path of a member: `parent.key`, or `parent["key"]` where the key is no plain word.
std::string member_path(std::string_view parent, std::string_view key);
/// The path of a list element: `parent[index]`.
std::string element_path(std::string_view parent, std::size_t index);

}  // namespace mcpbx::conf
