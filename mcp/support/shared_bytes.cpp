// The block behind shared_bytes and byte_buffer. It comes from malloc, not new, because realloc grows a large block by
// moving its pages instead of copying its bytes.
#include "mcp/support/shared_bytes.hpp"

#include "mcp/support/recycled.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

namespace mcpbx {
namespace {

std::atomic<std::ptrdiff_t> owned{0};
std::atomic<std::size_t> bound{std::size_t{512} << 20};

/// Changes of one thread that are not yet in the shared total. Nearly all happen on the speaking thread, a dozen for
/// each call, and a locked addition costs as much as dozens of plain ones.
struct tally {
  static constexpr std::ptrdiff_t most = std::ptrdiff_t{64} << 10;
  std::ptrdiff_t untold = 0;
  byte_account::watch* watches = nullptr;

  ~tally() { tell(); }
  void add(std::ptrdiff_t n) noexcept {
    untold += n;
    if (untold > most || untold < -most) tell();
  }
  void tell() noexcept { owned.fetch_add(std::exchange(untold, 0), std::memory_order_relaxed); }
};
constinit thread_local tally mine;

}  // namespace

void byte_account::add(std::size_t n) noexcept {
  mine.add(static_cast<std::ptrdiff_t>(n));
}
void byte_account::sub(std::size_t n) noexcept {
  mine.add(-static_cast<std::ptrdiff_t>(n));
  if (mine.watches != nullptr && !runs_short()) tell_watches();
}
// Notifies the watches. A watch that begins again from inside is notified another time.
void byte_account::tell_watches() noexcept {
  auto* w = std::exchange(mine.watches, nullptr);
  while (w != nullptr) {
    auto* const next = std::exchange(w->next_, nullptr);
    w->on_ = false;
    w->on_room();
    w = next;
  }
}
void byte_account::watch::begin() noexcept {
  if (std::exchange(on_, true)) return;
  next_ = std::exchange(mine.watches, this);
}
void byte_account::watch::end() noexcept {
  if (!std::exchange(on_, false)) return;
  auto** at = &mine.watches;
  while (*at != this) at = &(*at)->next_;
  *at = std::exchange(next_, nullptr);
}
std::size_t byte_account::total() noexcept {
  // The sum may be below zero while another thread has not reported bytes yet that this one has freed.
  const std::ptrdiff_t known = owned.load(std::memory_order_relaxed) + mine.untold;
  return known > 0 ? static_cast<std::size_t>(known) : 0;
}
std::size_t byte_account::limit() noexcept {
  return bound.load(std::memory_order_relaxed);
}
void byte_account::set_limit(std::size_t bytes) noexcept {
  bound.store(bytes, std::memory_order_relaxed);
}
bool byte_account::admits(std::size_t n) noexcept {
  return n <= small_message || has_room(n);
}
bool byte_account::has_room(std::size_t n) noexcept {
  const std::size_t now = total(), most = limit();
  return now <= most && n <= most - now;
}

namespace {

/// Size to which a buffer must grow to get the spare block. A smaller message is moved out of it at its end.
constexpr std::size_t spare_for = std::size_t{128} << 10;

}  // namespace

/// The header; the bytes follow it. Trivially copyable, so that realloc may move it.
struct shared_bytes::block {
  std::uint32_t references;
  std::size_t size;
  std::size_t capacity;

  char* bytes() noexcept { return reinterpret_cast<char*>(this + 1); }

  static block* allocate(std::size_t capacity) {
    auto* b = static_cast<block*>(std::malloc(sizeof(block) + capacity));
    if (b == nullptr) throw std::bad_alloc();
    ::new (b) block{1, 0, capacity};
    byte_account::add(sizeof(block) + capacity);
    return b;
  }
  /// Only for a block with one owner. The result may have more room than that.
  static block* resize(block* b, std::size_t capacity) {
    const std::size_t before = b->capacity;
    if (capacity > before && capacity >= spare_for) {
      auto* const kept = spare.exchange(nullptr);
      if (kept != nullptr && kept->capacity >= capacity) {
        kept->references = 1;
        byte_account::add(sizeof(block) + kept->capacity);
        return moved(b, kept);
      }
      std::free(kept);
    }
    auto* large = static_cast<block*>(std::realloc(b, sizeof(block) + capacity));
    if (large == nullptr) throw std::bad_alloc();
    large->capacity = capacity;
    byte_account::add(capacity);
    byte_account::sub(before);
    return large;
  }
  /// Cuts the room behind the bytes off. A message that needs little of a block that may be kept leaves it whole.
  static block* shrunk(block* b) {
    const bool whole = b->size < byte_buffer::spare_from && b->capacity >= byte_buffer::spare_from;
    return whole ? moved(b, allocate(b->size)) : resize(b, b->size);
  }
  static void free(block* b) noexcept {
    const std::size_t capacity = b->capacity;
    byte_account::sub(sizeof(block) + capacity);
    if (capacity > byte_buffer::spare_most) byte_buffer::drop_spare();
    const bool keep = capacity >= byte_buffer::spare_from && capacity <= byte_buffer::spare_most;
    std::free(keep && !addresses_are_checked ? spare.exchange(b) : b);
  }

  /// The last freed block of a large message. In memory fresh from the system each 4 KiB cost a page fault, which took
  /// longer than all else that is done for a result of 1 MiB.
  static constinit std::atomic<block*> spare;

 private:
  static block* moved(block* from, block* to) noexcept {
    to->size = std::min(from->size, to->capacity);
    std::memcpy(to->bytes(), from->bytes(), to->size);
    free(from);
    return to;
  }
};
constinit std::atomic<shared_bytes::block*> shared_bytes::block::spare{nullptr};

shared_bytes shared_bytes::copy(std::string_view text) {
  if (text.empty()) return {};
  block* b = block::allocate(text.size());
  std::memcpy(b->bytes(), text.data(), text.size());
  b->size = text.size();
  return shared_bytes(b);
}

const char* shared_bytes::data() const noexcept {
  return block_ != nullptr ? block_->bytes() : "";
}
std::size_t shared_bytes::size() const noexcept {
  return block_ != nullptr ? block_->size : 0;
}

void shared_bytes::retain_block() const noexcept {
  std::atomic_ref(block_->references).fetch_add(1, std::memory_order_relaxed);
}

void shared_bytes::release_block() noexcept {
  // The last owner must see all writes of the others before it frees the block. A sole owner is the last one, since
  // nobody else could add an owner: most blocks have only one, and a load is cheaper than a locked subtraction.
  std::atomic_ref references(block_->references);
  if (references.load(std::memory_order_acquire) == 1 || references.fetch_sub(1, std::memory_order_acq_rel) == 1)
    block::free(block_);
  block_ = nullptr;
}

byte_buffer::~byte_buffer() {
  clear();
}

void byte_buffer::reserve(std::size_t bytes) {
  if (block_ == nullptr)
    block_ = shared_bytes::block::allocate(bytes);
  else if (bytes > block_->capacity)
    block_ = shared_bytes::block::resize(block_, bytes);
}

void byte_buffer::append(std::string_view text) {
  if (text.empty()) return;
  char* const to = extend(text.size());
  if (to != text.data()) std::memcpy(to, text.data(), text.size());
}

std::span<char> byte_buffer::room() noexcept {
  if (block_ == nullptr) return {};
  return {block_->bytes() + block_->size, block_->capacity - block_->size};
}

char* byte_buffer::extend(std::size_t bytes) {
  const std::size_t before = size(), needed = before + bytes;
  if (block_ == nullptr || needed > block_->capacity) {
    const std::size_t capacity = block_ == nullptr ? 0 : block_->capacity;
    reserve(std::max(needed, capacity + capacity / 2));
  }
  block_->size = needed;
  return block_->bytes() + before;
}

void byte_buffer::truncate(std::size_t bytes) {
  if (block_ != nullptr && bytes < block_->size) block_->size = bytes;
}

void byte_buffer::clear() noexcept {
  if (block_ != nullptr) shared_bytes::block::free(block_);
  block_ = nullptr;
}

std::size_t byte_buffer::size() const noexcept {
  return block_ != nullptr ? block_->size : 0;
}
char* byte_buffer::data() noexcept {
  return block_ != nullptr ? block_->bytes() : nullptr;
}
std::string_view byte_buffer::view() const noexcept {
  return block_ != nullptr ? std::string_view(block_->bytes(), block_->size) : std::string_view();
}

std::size_t byte_buffer::spare() noexcept {
  auto* const kept = shared_bytes::block::spare.exchange(nullptr);
  const std::size_t bytes = kept != nullptr ? kept->capacity : 0;
  std::free(shared_bytes::block::spare.exchange(kept));
  return bytes;
}

void byte_buffer::drop_spare() noexcept {
  std::free(shared_bytes::block::spare.exchange(nullptr));
}

shared_bytes byte_buffer::take() {
  if (block_ == nullptr) return {};
  if (block_->size == 0) {
    clear();
    return {};
  }
  const std::size_t waste = block_->capacity - block_->size;
  if (waste > block_->size / 8) block_ = shared_bytes::block::shrunk(block_);
  return shared_bytes(std::exchange(block_, nullptr));
}

}  // namespace mcpbx
