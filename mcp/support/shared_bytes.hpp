// Immutable bytes with shared ownership, counted by the one accountant: everything that passes through mcpbx lives in
// these, so the total that is owned at any moment is known and bounded.
#pragma once
#include <cstddef>
#include <string_view>
#include <utility>

namespace mcpbx {

/// The accountant: how many bytes all shared_bytes and counted queues hold now. Any thread; each keeps up to 64 KiB to
/// itself before it tells the others, so what they see may be off by as much.
class byte_account {
 public:
  static void add(std::size_t n) noexcept;
  static void sub(std::size_t n) noexcept;
  /// Bytes owned now.
  static std::size_t total() noexcept;
  /// The bound on `total()` above which large messages are refused (default 512 MiB).
  static std::size_t limit() noexcept;
  static void set_limit(std::size_t bytes) noexcept;
  /// Up to this size a message is always taken: without small messages nothing could drain.
  static constexpr std::size_t small_message = std::size_t{64} << 10;
  /// Whether `n` more bytes may be taken on. Small messages (up to 64 KiB) always may.
  static bool admits(std::size_t n) noexcept;
  /// True above three quarters of the bound: what is going on comes to its end first, and what is new waits.
  static bool runs_short() noexcept { return total() > limit() / 4 * 3; }
  /// Whether `n` more bytes fit under the bound, however small they are: for the next part of a large message.
  static bool has_room(std::size_t n) noexcept;

  /// Waits for bytes to run short no longer.
  class watch {
   public:
    watch() noexcept = default;
    watch(const watch&) = delete;
    watch& operator=(const watch&) = delete;
    /// From here on, until it was told. Told on this thread, which is the one that it ends on: with the next bytes
    /// that this thread takes on or lets go of once there is room.
    void begin() noexcept;
    void end() noexcept;

   protected:
    ~watch() { end(); }
    /// Called from where bytes are let go of, in the middle of anything: it may note that it was told, no more.
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

  /// It has so many now.
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

  /// A block of exactly `text.size()` bytes that holds a copy of `text`.
  static shared_bytes copy(std::string_view text);

  const char* data() const noexcept;
  std::size_t size() const noexcept;
  std::string_view view() const noexcept { return {data(), size()}; }
  bool empty() const noexcept { return size() == 0; }

 private:
  friend class byte_buffer;
  struct block;
  explicit shared_bytes(block* b) noexcept : block_(b) {}
  // Inline as far as "there is nothing to do": values are moved from far more often than they are shared.
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

  void append(std::string_view text);
  /// Room for `bytes` more at the end, which the caller fills at once: for many small pieces of a known size.
  char* extend(std::size_t bytes);
  void append(char c) { append(std::string_view(&c, 1)); }
  byte_buffer& operator+=(std::string_view text) {
    append(text);
    return *this;
  }
  byte_buffer& operator+=(char c) { return *this += std::string_view(&c, 1); }
  void reserve(std::size_t bytes);
  void truncate(std::size_t bytes);
  /// Gives the memory back at once.
  void clear() noexcept;
  std::size_t size() const noexcept;
  bool empty() const noexcept { return size() == 0; }
  char* data() noexcept;
  std::string_view view() const noexcept;
  /// Hands the bytes over, shrunk to fit (unless less than an eighth would be won); the buffer is empty afterwards.
  shared_bytes take();

 private:
  shared_bytes::block* block_ = nullptr;
};

}  // namespace mcpbx
