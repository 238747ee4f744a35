// Immutable bytes with shared ownership, counted in one account. All messages that pass through mcpbx live in these, so
// the total is known and bounded at any moment.
#pragma once
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

namespace mcpbx {

/// Account of the bytes in all shared_bytes and counted queues. Thread-safe; each thread reports changes in steps of up
/// to 64 KiB, so the total seen by others may be off by as much.
class byte_account {
 public:
  static void add(std::size_t n) noexcept;
  static void sub(std::size_t n) noexcept;
  /// Returns the bytes in use.
  static std::size_t total() noexcept;
  /// Returns the bound on total() above which large messages are refused (default 512 MiB).
  static std::size_t limit() noexcept;
  static void set_limit(std::size_t bytes) noexcept;
  /// Size up to which a message is always accepted: without small messages nothing could drain.
  static constexpr std::size_t small_message = std::size_t{64} << 10;
  /// Returns true if a message of `n` bytes may be accepted. Small messages always may.
  static bool admits(std::size_t n) noexcept;
  /// Returns true above three quarters of the bound: running work may finish, new work waits.
  static bool runs_short() noexcept { return total() > limit() / 4 * 3; }
  /// Returns true if `n` more bytes fit under the bound, for the next part of a large message; no exception for small
  /// ones.
  static bool has_room(std::size_t n) noexcept;

  /// Waits until bytes no longer run short.
  class watch {
   public:
    watch() noexcept = default;
    watch(const watch&) = delete;
    watch& operator=(const watch&) = delete;
    /// Begins to wait, for one notification. It comes on this thread, with the next bytes that this thread adds or
    /// frees once there is room. The watch must be destroyed on this thread.
    void begin() noexcept;
    void end() noexcept;

   protected:
    ~watch() { end(); }
    /// Called in the middle of any code that frees bytes, so it may only note the event.
    virtual void on_room() noexcept = 0;

   private:
    friend class byte_account;
    watch* next_ = nullptr;
    bool on_ = false;
  };

 private:
  static void tell_watches() noexcept;
};

/// Counts bytes that something else owns, such as a string that grows.
class byte_share {
 public:
  byte_share() noexcept = default;
  byte_share(byte_share&& other) noexcept : bytes_(std::exchange(other.bytes_, 0)) {}
  byte_share(const byte_share& other) noexcept { set(other.bytes_); }
  byte_share& operator=(byte_share other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~byte_share() { byte_account::sub(bytes_); }

  /// Sets the present number of bytes.
  void set(std::size_t bytes) noexcept {
    byte_account::add(bytes);
    byte_account::sub(std::exchange(bytes_, bytes));
  }
  void add(std::size_t bytes) noexcept { set(bytes_ + bytes); }

 private:
  std::size_t bytes_ = 0;
};

/// A reference-counted block of bytes that nobody changes once it is shared. Copying is cheap and thread-safe.
class shared_bytes {
 public:
  shared_bytes() noexcept = default;
  shared_bytes(const shared_bytes& other) noexcept : block_(other.block_) { retain(); }
  shared_bytes(shared_bytes&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  shared_bytes& operator=(shared_bytes other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~shared_bytes() { release(); }

  /// Copies `text` into a block of exactly its size.
  static shared_bytes copy(std::string_view text);

  const char* data() const noexcept;
  std::size_t size() const noexcept;
  std::string_view view() const noexcept { return {data(), size()}; }
  bool empty() const noexcept { return size() == 0; }

 private:
  friend class byte_buffer;
  struct block;
  explicit shared_bytes(block* b) noexcept : block_(b) {}
  // The empty case is inline, because most destroyed values were moved from.
  void retain() const noexcept {
    if (block_ != nullptr) retain_block();
  }
  void release() noexcept {
    if (block_ != nullptr) release_block();
  }
  void retain_block() const noexcept;
  void release_block() noexcept;
  block* block_ = nullptr;
};

/// A growing buffer that becomes shared_bytes without a copy. Growth of large buffers uses mremap through realloc, so
/// a 32 MiB message is never copied to grow. Counted while it is owned.
class byte_buffer {
 public:
  byte_buffer() noexcept = default;
  byte_buffer(byte_buffer&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  byte_buffer& operator=(byte_buffer&& other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  byte_buffer(const byte_buffer&) = delete;
  byte_buffer& operator=(const byte_buffer&) = delete;
  ~byte_buffer();

  /// `text` may be the first part of room(): it stays where it is.
  void append(std::string_view text);
  /// Returns the space behind the bytes that is allocated already.
  std::span<char> room() noexcept;
  /// Adds `bytes` bytes at the end, which the caller must fill at once. For many small pieces of a known size.
  char* extend(std::size_t bytes);
  void append(char c) { append(std::string_view(&c, 1)); }
  byte_buffer& operator+=(std::string_view text) {
    append(text);
    return *this;
  }
  byte_buffer& operator+=(char c) { return *this += std::string_view(&c, 1); }
  void reserve(std::size_t bytes);
  void truncate(std::size_t bytes);
  /// Frees the memory at once.
  void clear() noexcept;
  std::size_t size() const noexcept;
  bool empty() const noexcept { return size() == 0; }
  char* data() noexcept;
  std::string_view view() const noexcept;
  /// Hands the bytes over and leaves the buffer empty. Shrinks the block unless that would save less than an eighth.
  shared_bytes take();

  /// Sizes of a freed block that is kept for the next buffer that grows so large; the process keeps one.
  static constexpr std::size_t spare_from = std::size_t{256} << 10, spare_most = std::size_t{2} << 20;
  /// Returns the size of the kept block, which byte_account does not count; 0: there is none.
  static std::size_t spare() noexcept;
  /// Gives the kept block back to the system.
  static void drop_spare() noexcept;

 private:
  shared_bytes::block* block_ = nullptr;
};

}  // namespace mcpbx
