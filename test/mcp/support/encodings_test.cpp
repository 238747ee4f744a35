// Hexadecimal digits and base64, with the examples of RFC 4648, section 10.
#include "mcp/support/encodings.hpp"

#include <doctest/doctest.h>

#include <array>
#include <utility>

namespace {

using namespace mcpbx;
using namespace std::string_view_literals;

TEST_CASE("hex: bytes become two digits each and come back") {
  CHECK(hex_text("\x00\x7f\xff"sv) == "007fff");
  CHECK(hex_bytes("007fff") == "\x00\x7f\xff"sv);
  CHECK(hex_bytes("") == "");
  for (const auto wrong : {"0", "0g", "FF", "0x", " 0"}) CHECK(hex_bytes(wrong) == std::nullopt);
}

TEST_CASE("base64: the examples of the standard are written and read") {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 8> examples{{{""sv, ""sv},
                                                                                   {"f"sv, "Zg=="sv},
                                                                                   {"fo"sv, "Zm8="sv},
                                                                                   {"foo"sv, "Zm9v"sv},
                                                                                   {"foob"sv, "Zm9vYg=="sv},
                                                                                   {"fooba"sv, "Zm9vYmE="sv},
                                                                                   {"foobar"sv, "Zm9vYmFy"sv},
                                                                                   {"\x00\xff\xfe"sv, "AP/+"sv}}};
  for (const auto& [bytes, text] : examples) {
    CHECK(base64(bytes) == text);
    CHECK(base64_bytes(text) == bytes);
    CHECK(lenient_base64_bytes(text) == bytes);
  }
  CHECK(base64url("\xff\xfe\xfb\x00"sv) == "__77AA");
  CHECK(base64url_bytes("__77AA") == "\xff\xfe\xfb\x00"sv);
}

TEST_CASE("base64: each value has one text only") {
  for (const auto wrong : {"Zg", "Zg=", "Zg===", "Zh==", "Zm9=", "Z===", "====", "Zm 9v", "Zm9v\n", "_-8="})
    CHECK(base64_bytes(wrong) == std::nullopt);
  for (const auto wrong : {"Z", "Zg==", "Zh", "Zm9", "Zm9v=", "+/8", "Zm\n9v"})
    CHECK(base64url_bytes(wrong) == std::nullopt);
}

TEST_CASE("base64: a stranger's is decoded in either alphabet, with or without padding, in lines") {
  CHECK(lenient_base64_bytes("aGVsbG8") == "hello");
  CHECK(lenient_base64_bytes("aGVs\r\nbG8=") == "hello");
  CHECK(lenient_base64_bytes("_-8=") == lenient_base64_bytes("/+8="));
  CHECK(lenient_base64_bytes("a b") == std::nullopt);
  CHECK(lenient_base64_bytes("a") == std::nullopt);
}

}  // namespace
