// Seals under a key of this object, with its mark in front.
#include "mcp/seal/state_seal.hpp"

#include "mcp/crypto/sealed_bytes.hpp"
#include "mcp/support/encodings.hpp"

#include <openssl/crypto.h>
#include <openssl/rand.h>

#include <algorithm>

namespace mcpbx::mcp::seal {
namespace {

constexpr std::string_view family = "mcpbx.";
constexpr std::size_t id_digits = 16;

}  // namespace

state_seal::~state_seal() {
  OPENSSL_cleanse(key_.data(), key_.size());
}

result<void> state_seal::make_key() {
  if (!mark_.empty()) return {};
  std::array<unsigned char, id_digits / 2> id{};
  if (RAND_priv_bytes(key_.data(), static_cast<int>(key_.size())) != 1 ||
      RAND_bytes(id.data(), static_cast<int>(id.size())) != 1)
    return fail(errc::internal, "the system gives no random bytes for a key");
  mark_.append(family).append(hex_text({reinterpret_cast<const char*>(id.data()), id.size()})).append(".");
  return {};
}

result<std::string> state_seal::close(std::string_view plain) {
  if (plain.size() > most_bytes) return fail(errc::limit, "too many bytes to seal");
  if (auto made = make_key(); !made) return std::unexpected(made.error());
  // The mark is authenticated as well, so that a text cannot be moved under another one.
  const auto bytes = crypto::sealed(key(), mark_, plain);
  if (!bytes) return std::unexpected(bytes.error());
  return mark_ + base64url(*bytes);
}

result<std::string> state_seal::open(std::string_view text) const {
  const auto bytes =
      claims(text) && text.size() <= longest_text ? base64url_bytes(text.substr(mark_.size())) : std::nullopt;
  auto plain = bytes ? crypto::unsealed(key(), mark_, *bytes) : fail(errc::parse, "it is malformed");
  if (!plain) return fail(errc::invalid_argument, "it was not made by this process, or was changed");
  return plain;
}

bool state_seal::claims(std::string_view text) const {
  return !mark_.empty() && text.starts_with(mark_);
}

bool state_seal::has_form(std::string_view text) {
  if (!text.starts_with(family)) return false;
  text.remove_prefix(family.size());
  return text.size() > id_digits && text[id_digits] == '.' &&
         std::ranges::all_of(text.substr(0, id_digits),
                             [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

std::string_view state_seal::key() const {
  return {reinterpret_cast<const char*>(key_.data()), key_.size()};
}

}  // namespace mcpbx::mcp::seal
