// Checks and writes header lines.
#include "mcp/http/client/header_block.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace mcpbx::http::clients {
namespace {

/// Marks for each character: 1, none of a header's value; 2, none of its name.
constexpr auto header_marks = [] {
  std::array<unsigned char, 256> marks{};
  for (const char c : {'\r', '\n', '\0'}) marks[static_cast<unsigned char>(c)] = 3;
  for (const char c : {':', '\t', ' '}) marks[static_cast<unsigned char>(c)] = 2;
  return marks;
}();

unsigned char marks_in(std::string_view text) {
  unsigned char found = 0;
  for (const char c : text) found |= header_marks[static_cast<unsigned char>(c)];
  return found;
}

}  // namespace

bool is_sendable(const header& h) {
  static constexpr std::array<std::string_view, 9> ours{
      "content-length", "transfer-encoding",  "connection", "proxy-connection", "keep-alive", "upgrade", "te",
      "trailer",        "proxy-authorization"};
  return !h.name.empty() && (marks_in(h.name) & 2) == 0 && (marks_in(h.value) & 1) == 0 &&
         std::none_of(ours.begin(), ours.end(), [&](auto o) { return is_word(h.name, o); });
}

void append_headers(std::string& to, const std::vector<header>& headers) {
  using namespace std::string_view_literals;
  for (const auto& h : headers) to.append(h.name).append(": "sv).append(h.value).append("\r\n"sv);
}

header_block::header_block(std::vector<header> headers) : headers_(std::move(headers)) {
  const auto bad = std::ranges::find_if_not(headers_, is_sendable);
  bad_ = static_cast<std::size_t>(bad - headers_.begin());
  append_headers(text_, headers_);
}

}  // namespace mcpbx::http::clients
