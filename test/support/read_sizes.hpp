// Reads cut short in every connection of this process: to one size, or to sizes that change from read to read.
#pragma once
#include "mcp/support/read_size.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace mcpbx::test {

/// Sizes at which buffers fill, grow and overflow: the smallest ones, and the powers of two with their neighbours.
inline constexpr std::array<std::size_t, 24> awkward_sizes{1,    2,    7,     255,   256,   257,   1023,  1024,
                                                           1025, 2047, 2048,  2049,  4095,  4096,  4097,  8191,
                                                           8192, 8193, 16383, 16384, 16385, 32767, 32768, 65535};

class read_sizes {
 public:
  /// 0: one of the awkward sizes for each read, in an order that is always the same.
  explicit read_sizes(std::size_t size) : before_(shorten_read), size_before_(std::exchange(size_, size)) {
    shorten_read = [](std::size_t) {
      if (size_ != 0) return size_;
      // xorshift64
      state_ ^= state_ << 13;
      state_ ^= state_ >> 7;
      state_ ^= state_ << 17;
      return awkward_sizes[state_ % awkward_sizes.size()];
    };
  }
  ~read_sizes() {
    shorten_read = before_;
    size_ = size_before_;
  }
  read_sizes(const read_sizes&) = delete;
  read_sizes& operator=(const read_sizes&) = delete;

 private:
  static inline std::size_t size_ = 0;
  static inline std::uint64_t state_ = 0x9E3779B97F4A7C15u;
  std::size_t (*before_)(std::size_t);
  std::size_t size_before_;
};

}  // namespace mcpbx::test
