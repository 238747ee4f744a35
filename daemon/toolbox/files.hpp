// Helpers of the file tools: safe opening of regular files, reading of folders, detection of binary content.
#pragma once
#include "daemon/toolbox/folders.hpp"

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::toolbox {

struct entry {
  std::string name;
  mode_t mode = 0;
  std::int64_t size = 0;
};

/// Returns "file", "folder", "link", "pipe", "socket" or "device".
std::string_view kind_name(mode_t mode);

/// Returns the entries of an open folder but "." and "..", sorted by name; links are not followed. errc::io: the folder
/// cannot be read.
result<std::vector<entry>> entries_of(descriptor folder);

/// Opens a regular file for reading, without waiting for the other end of a pipe. Other kinds are an error.
result<folders::place> open_regular(const folders& files, std::string_view path);

/// Returns true if the beginning of a file is not text: it holds a NUL, or is far from UTF-8.
bool is_binary(std::string_view beginning);

}  // namespace mcpbx::toolbox
