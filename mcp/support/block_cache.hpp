// Freed small blocks of the main thread, kept for its next ones. A call, a run and their messages need dozens of small
// blocks each; the C library keeps seven freed ones of a size, and with more calls open at once every further block
// takes the long way through its heap. The program's operators new and delete use this (daemon/main_heap.cpp). Only one
// thread does: it needs no lock and no look at thread-local memory but one. Faults that the C library finds in its own
// lists end the process here, too: a block that is freed twice, and a list that somebody has written over.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

namespace mcpbx {

class block_cache {
 public:
  /// Sizes in bytes of the smallest and the largest blocks that are kept, and the step between: those of the C
  /// library's chunks, less what it needs for itself.
  static constexpr std::size_t smallest = 24, step = 16, largest = smallest + 31 * step;
  /// Most kept blocks of a size, and bytes of them.
  static constexpr std::size_t most_blocks = 256, most_bytes = std::size_t{16} << 10;

  /// Lets the calling thread keep blocks. Call it on the main thread, once.
  static void enable() noexcept { mine_ = true; }
  /// Returns the bytes to ask malloc() for where `bytes` are needed: blocks that are kept have these sizes only, so
  /// that each one serves all of its size, whatever the allocator behind malloc() makes of smaller requests.
  static constexpr std::size_t rounded(std::size_t bytes) noexcept {
    return bytes > largest ? bytes : smallest + class_of(bytes) * step;
  }
  /// Returns a kept block for `bytes` bytes, or null.
  static void* take(std::size_t bytes) noexcept {
    if (!mine_ || bytes > largest) return nullptr;
    auto& of = kept_[class_of(bytes)];
    return of.first == nullptr ? nullptr : of.pop();
  }
  /// Keeps a block that malloc() made of rounded(bytes). Returns false if it must be freed.
  static bool give(void* memory, std::size_t bytes) noexcept {
    if (!mine_ || bytes > largest || memory == nullptr) return false;
    return keep(memory, class_of(bytes));
  }
  /// The same for a block in which `usable` bytes may be written.
  static bool give_usable(void* memory, std::size_t usable) noexcept {
    if (!mine_ || usable < smallest || usable >= largest + step) return false;
    return keep(memory, (usable - smallest) / step);
  }
  /// Frees all kept blocks, if the calling thread keeps any.
  static void drop() noexcept {
    if (!mine_) return;
    for (auto& of : kept_)
      while (of.first != nullptr) std::free(of.pop());
  }
  /// Returns the most blocks that are kept of the size for `bytes` bytes.
  static constexpr std::size_t most(std::size_t bytes) noexcept { return most_of(class_of(bytes)); }

 private:
  struct block {
    std::uintptr_t next;  // hidden() of the next block
    const void* mark;     // &kept_ while the block is kept
  };
  static_assert(sizeof(block) <= smallest);
  struct list {
    block* first;
    std::size_t count;

    void* pop() noexcept {
      block* const b = first;
      const std::uintptr_t next = hidden(b->next, b);
      if ((next & (alignof(std::max_align_t) - 1)) != 0 || b->mark != &kept_) std::abort();
      b->mark = nullptr;
      --count;
      first = reinterpret_cast<block*>(next);
      return b;
    }
  };
  // Hides an address behind that of its place, which who cannot read memory does not know, or shows it again.
  static std::uintptr_t hidden(std::uintptr_t address, const block* place) noexcept {
    constexpr int bits_within_a_page = 12;
    return address ^ (reinterpret_cast<std::uintptr_t>(place) >> bits_within_a_page);
  }
  // Ends the process if a block that seems to be kept is. Other bytes may look like the mark.
  [[gnu::noinline, gnu::cold]] static void look_for(const block* wanted, const list& among) noexcept {
    for (const block* b = among.first; b != nullptr; b = reinterpret_cast<const block*>(hidden(b->next, b)))
      if (b == wanted) std::abort();
  }
  static constexpr std::size_t class_of(std::size_t bytes) noexcept {
    return bytes <= smallest ? 0 : (bytes - smallest + step - 1) / step;
  }
  static constexpr std::size_t most_of(std::size_t size) noexcept {
    const std::size_t fit = most_bytes / (smallest + size * step);
    return fit < most_blocks ? fit : most_blocks;
  }
  static bool keep(void* memory, std::size_t size) noexcept {
    auto& of = kept_[size];
    const void* mark = nullptr;
    std::memcpy(&mark, static_cast<const char*>(memory) + offsetof(block, mark), sizeof mark);
    if (mark == &kept_) look_for(static_cast<const block*>(memory), of);
    if (of.count >= most_of(size)) return false;
    ++of.count;
    const auto next = hidden(reinterpret_cast<std::uintptr_t>(of.first), static_cast<const block*>(memory));
    of.first = ::new (memory) block{next, &kept_};
    return true;
  }
  static constinit inline thread_local bool mine_ = false;
  static constinit inline std::array<list, (largest - smallest) / step + 1> kept_{};
};

}  // namespace mcpbx
