// Seals a few bytes into one line of text that strangers carry and can neither read nor change: authenticated
// encryption with a key of this process (2026-07-28, multi round-trip requests, "Server Requirements").
#pragma once
#include "mcp/crypto/sealed_bytes.hpp"
#include "mcp/support/error.hpp"

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace mcpbx::mcp::seal {

class state_seal {
 public:
  /// Longest text that is opened, and most bytes that are sealed.
  static constexpr std::size_t longest_text = 1024, most_bytes = 512;

  /// Starts without a key, which comes with the first text.
  state_seal() = default;
  ~state_seal();
  state_seal(const state_seal&) = delete;
  state_seal& operator=(const state_seal&) = delete;

  /// Returns `plain` sealed. errc::limit: more than most_bytes; errc::internal: the system gives no randomness.
  result<std::string> close(std::string_view plain);
  /// Returns the sealed bytes. errc::invalid_argument: not sealed here, or changed on the way. Safe on any text.
  result<std::string> open(std::string_view text) const;
  /// Returns true if the text says that this object made it.
  bool claims(std::string_view text) const;
  /// Returns true if the text has the form of this or of another process of mcpbx.
  static bool has_form(std::string_view text);

 private:
  result<void> make_key();
  std::string_view key() const;
  std::array<unsigned char, crypto::seal_key_bytes> key_{};
  std::string mark_;  // "mcpbx.ID."; "" before the first text
};

}  // namespace mcpbx::mcp::seal
