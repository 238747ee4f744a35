// The hash of tables whose keys strangers choose: ids of callers, names and URIs of tool servers, words of a question.
// The library's own hash has no secret, so that anybody can make keys that all fall into one bucket, and a table of
// ten thousand of them takes seconds of the one thread.
#pragma once
#include <sys/random.h>

#include <array>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace mcpbx {

/// Key of a SipHash: two little-endian words.
struct sip_key {
  std::uint64_t low = 0, high = 0;
};

/// State of the hash: four words that a round mixes.
struct sip_state {
  std::array<std::uint64_t, 4> v;

  static std::uint64_t word_at(const char* at) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
    return word;
  }

  void round() {
    v[0] += v[1];
    v[2] += v[3];
    v[1] = std::rotl(v[1], 13) ^ v[0];
    v[3] = std::rotl(v[3], 16) ^ v[2];
    v[0] = std::rotl(v[0], 32);
    v[2] += v[1];
    v[0] += v[3];
    v[1] = std::rotl(v[1], 17) ^ v[2];
    v[3] = std::rotl(v[3], 21) ^ v[0];
    v[2] = std::rotl(v[2], 32);
  }
  template <int Rounds>
  void take(std::uint64_t word) {
    v[3] ^= word;
    for (int i = 0; i < Rounds; ++i) round();
    v[0] ^= word;
  }
};

/// Computes SipHash-c-d (Aumasson and Bernstein, "SipHash: a fast short-input PRF") of `text`.
template <int C, int D>
std::uint64_t sip_hash(const sip_key& key, std::string_view text) {
  sip_state s{{key.low ^ 0x736f6d6570736575U, key.high ^ 0x646f72616e646f6dU, key.low ^ 0x6c7967656e657261U,
               key.high ^ 0x7465646279746573U}};
  const char* at = text.data();
  std::size_t left = text.size();
  for (; left >= 8; at += 8, left -= 8) s.template take<C>(sip_state::word_at(at));
  std::array<char, 8> rest{};
  if (left > 0) std::memcpy(rest.data(), at, left);
  s.template take<C>(sip_state::word_at(rest.data()) | static_cast<std::uint64_t>(text.size()) << 56);
  s.v[2] ^= 0xff;
  for (int i = 0; i < D; ++i) s.round();
  return s.v[0] ^ s.v[1] ^ s.v[2] ^ s.v[3];
}

/// Draws a key. Before its generator is ready, which only a program of the early boot can meet, and in a sandbox
/// that forbids the question, addresses and the clock are what a stranger does not know.
inline sip_key drawn_sip_key() {
  sip_key key;
  ssize_t n;
  do n = ::getrandom(&key, sizeof key, GRND_NONBLOCK);
  while (n < 0 && errno == EINTR);
  if (n == static_cast<ssize_t>(sizeof key)) return key;
  key.low = static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  key.high = reinterpret_cast<std::uintptr_t>(&key) ^
             std::rotl(static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(&drawn_sip_key)), 32);
  return key;
}

/// Hashes with SipHash-1-3 under a key that this process has drawn by chance, so that its values mean nothing
/// elsewhere. It may throw as far as the library knows, which therefore keeps the hash of each entry and computes it
/// once.
struct keyed_hash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    static const sip_key key = drawn_sip_key();
    return sip_hash<1, 3>(key, text);
  }
};

/// Tables of texts that strangers choose. They find a view without a copy of it.
using text_set = std::unordered_set<std::string, keyed_hash, std::equal_to<>>;
using text_view_set = std::unordered_set<std::string_view, keyed_hash, std::equal_to<>>;
template <class T>
using text_map = std::unordered_map<std::string, T, keyed_hash, std::equal_to<>>;
template <class T>
using text_view_map = std::unordered_map<std::string_view, T, keyed_hash, std::equal_to<>>;

}  // namespace mcpbx
