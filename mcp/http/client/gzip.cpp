// Decompresses gzip with zlib's inflate. Several members may follow each other (RFC 1952, section 2.2).
#include "mcp/http/client/gzip.hpp"

#include <zlib.h>

#include <array>
#include <new>

namespace mcpbx::http::clients {
namespace {

constexpr int gzip_only = 16 + MAX_WBITS;

}  // namespace

struct gunzip::state {
  z_stream z{};
  std::size_t left;
  bool at_member_end = true;
  std::array<char, 32 * 1024> piece;

  explicit state(std::size_t max_bytes) : left(max_bytes) {
    if (inflateInit2(&z, gzip_only) != Z_OK) throw std::bad_alloc();
  }
  ~state() { inflateEnd(&z); }
  state(const state&) = delete;
  state& operator=(const state&) = delete;
};

gunzip::gunzip(std::size_t max_bytes) : state_(std::make_unique<state>(max_bytes)) {}
gunzip::~gunzip() = default;

gunzip::verdict gunzip::put(std::string_view bytes, const std::function<bool(std::string_view)>& out) {
  auto& s = *state_;
  // zlib does not write through this pointer.
  s.z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  s.z.avail_in = static_cast<uInt>(bytes.size());
  bool filled = false;  // a full piece may have more output behind it, even if all input was taken
  while (s.z.avail_in > 0 || filled) {
    if (s.at_member_end && s.z.total_in > 0 && inflateReset(&s.z) != Z_OK) return verdict::wrong;
    s.at_member_end = false;
    s.z.next_out = reinterpret_cast<Bytef*>(s.piece.data());
    s.z.avail_out = static_cast<uInt>(s.piece.size());
    const int rc = inflate(&s.z, Z_NO_FLUSH);
    if (rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR) return verdict::wrong;
    const std::size_t made = s.piece.size() - s.z.avail_out;
    if (made > s.left) return verdict::too_large;
    s.left -= made;
    s.at_member_end = rc == Z_STREAM_END;
    filled = s.z.avail_out == 0 && rc != Z_STREAM_END;
    if (made > 0 && !out({s.piece.data(), made})) return verdict::stopped;
  }
  return verdict::more;
}

bool gunzip::complete() const noexcept {
  return state_->at_member_end;
}

}  // namespace mcpbx::http::clients
