// Recycles the memory of small objects that every call needs until it is answered. With many open calls the C library's
// short lists of free blocks overflow, and each block takes the long way through the heap, which under load was a tenth
// of a call's cost. Here a freed block serves the next object of its size.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <new>
#include <unordered_map>
#include <utility>

namespace mcpbx {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool addresses_are_checked = true;
#elif defined(__has_feature)
inline constexpr bool addresses_are_checked = __has_feature(address_sanitizer);
#else
inline constexpr bool addresses_are_checked = false;
#endif

/// Free blocks of `Size` bytes; each thread keeps some that it has freed.
template <std::size_t Size>
class spare_blocks {
 public:
  /// Largest number of kept blocks; others go back to the heap. None with AddressSanitizer, which could not detect a
  /// use after free.
  static constexpr std::size_t most = addresses_are_checked ? 0 : 256;

  static void* take() {
    if (spare_.first == nullptr) return ::operator new(Size);
    --spare_.count;
    return std::exchange(spare_.first, spare_.first->next);
  }
  static void give(void* memory) noexcept {
    if (spare_.count >= most) return ::operator delete(memory);
    ++spare_.count;
    spare_.first = ::new (memory) block{spare_.first};
  }

 private:
  struct block {
    block* next;
  };
  static_assert(Size >= sizeof(block));
  struct list {
    block* first = nullptr;
    std::size_t count = 0;
    ~list() {
      while (first != nullptr) ::operator delete(std::exchange(first, first->next));
      count = most;  // blocks freed after the thread's end are not kept
    }
  };
  static constinit thread_local list spare_;
};

template <std::size_t Size>
constinit thread_local typename spare_blocks<Size>::list spare_blocks<Size>::spare_;

/// Allocates single objects from those blocks; arrays, such as the buckets of a map, come from the heap.
template <class T>
struct recycling_allocator {
  using value_type = T;
  static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);

  recycling_allocator() noexcept = default;
  template <class U>
  recycling_allocator(const recycling_allocator<U>&) noexcept {}

  T* allocate(std::size_t n) {
    return static_cast<T*>(n == 1 ? spare_blocks<sizeof(T)>::take() : ::operator new(n * sizeof(T)));
  }
  void deallocate(T* memory, std::size_t n) noexcept {
    if (n == 1)
      spare_blocks<sizeof(T)>::give(memory);
    else
      ::operator delete(memory);
  }
  friend bool operator==(const recycling_allocator&, const recycling_allocator&) noexcept { return true; }
};

/// Makes an object whose memory, with the count of its owners, comes from those blocks.
template <class T, class... Args>
std::shared_ptr<T> make_recycled(Args&&... args) {
  return std::allocate_shared<T>(recycling_allocator<T>(), std::forward<Args>(args)...);
}

/// Base of a final class whose objects have one owner each and live in those blocks.
template <class T>
class recycled {
 public:
  static void* operator new(std::size_t size) {
    return size == sizeof(T) ? spare_blocks<sizeof(T)>::take() : ::operator new(size);
  }
  static void operator delete(void* memory, std::size_t size) noexcept {
    if (size == sizeof(T))
      spare_blocks<sizeof(T)>::give(memory);
    else
      ::operator delete(memory);
  }
};

/// A map whose entries come and go with calls.
template <class Key, class Value, class Hash = std::hash<Key>>
using recycling_map =
    std::unordered_map<Key, Value, Hash, std::equal_to<Key>, recycling_allocator<std::pair<const Key, Value>>>;

}  // namespace mcpbx
