// What the file tools share: safe opening of regular files, reading of folders, telling text from binary.
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

/// "file", "folder", "link", "pipe", "socket" or "device".
std::string_view kind_name(mode_t mode);

/// The entries of an open folder but "." and "..", sorted by name; links are shown, not followed. errc::io when it
/// cannot be read.
result<std::vector<entry>> entries_of(descriptor folder);

/// Opens a regular file for reading, never waiting for the other end of a pipe. Everything else is an error in words.
result<folders::place> open_regular(const folders& files, std::string_view path);

/// Whether the beginning of a file looks like no text: it holds a NUL, or is far from UTF-8.
bool is_binary(std::string_view beginning);

}  // namespace mcpbx::toolbox
