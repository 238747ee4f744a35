// The buffer that everything on a thread reads into: what was read is scanned or copied before anything else runs, so
// one is enough for all connections.
#pragma once
#include <cstddef>
#include <memory>
#include <span>

namespace mcpbx::mcp {

/// At most this much is read from one descriptor in a turn.
inline constexpr std::size_t read_turn_bytes = 64 * 1024;

inline std::span<char> shared_read_buffer() {
  thread_local const std::unique_ptr<char[]> buffer(new char[read_turn_bytes]);
  return {buffer.get(), read_turn_bytes};
}

}  // namespace mcpbx::mcp
