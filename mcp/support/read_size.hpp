// How much a connection reads at a time. Tests cut reads short, so that what works with whole reads is known to work
// with any others.
#pragma once
#include <algorithm>
#include <cstddef>

namespace mcpbx {

/// Null outside of tests: how much of `room` the next read takes.
inline std::size_t (*shorten_read)(std::size_t room) = nullptr;

/// What a read into a buffer with `room` bytes may take.
inline std::size_t read_size(std::size_t room) {
  return shorten_read == nullptr ? room
                                 : std::clamp<std::size_t>(shorten_read(room), 1, std::max<std::size_t>(room, 1));
}

}  // namespace mcpbx
