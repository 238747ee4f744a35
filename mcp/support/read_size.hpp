// The size of reads from connections. Tests make reads shorter, to prove that the results do not depend on their size.
#pragma once
#include <algorithm>
#include <cstddef>

namespace mcpbx {

/// Hook of tests, else null: returns the part of `room` that the next read may fill.
inline std::size_t (*shorten_read)(std::size_t room) = nullptr;

/// Returns the number of bytes to read into a buffer with `room` bytes.
inline std::size_t read_size(std::size_t room) {
  return shorten_read == nullptr ? room
                                 : std::clamp<std::size_t>(shorten_read(room), 1, std::max<std::size_t>(room, 1));
}

}  // namespace mcpbx
