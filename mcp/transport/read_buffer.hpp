// One read buffer per thread. All connections share it, because bytes are scanned or copied before anything else runs.
#pragma once
#include <cstddef>
#include <memory>
#include <span>

namespace mcpbx::mcp::transports {

/// Bound on the bytes read from one descriptor in a turn.
inline constexpr std::size_t read_turn_bytes = 64 * 1024;

/// Returns the read buffer of this thread. Its bytes are valid until the next read of any connection.
inline std::span<char> shared_read_buffer() {
  thread_local const std::unique_ptr<char[]> buffer(new char[read_turn_bytes]);
  return {buffer.get(), read_turn_bytes};
}

}  // namespace mcpbx::mcp::transports
