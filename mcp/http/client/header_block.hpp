// Headers that many requests have in common, checked and written once.
#pragma once
#include "mcp/http/header.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace mcpbx::http::clients {

/// Returns true if a request may have this header. Line ends would add another one, and headers that frame the message
/// could hide another request.
bool is_sendable(const header& h);
/// Appends the lines of headers as HTTP/1.1 writes them.
void append_headers(std::string& to, const std::vector<header>& headers);

class header_block {
 public:
  explicit header_block(std::vector<header> headers);

  const std::vector<header>& headers() const noexcept { return headers_; }
  /// Returns the lines, with an end of line behind each.
  const std::string& text() const noexcept { return text_; }
  /// Returns the first header that is not sendable, or null.
  const header* unsendable() const noexcept { return bad_ == headers_.size() ? nullptr : &headers_[bad_]; }

 private:
  std::vector<header> headers_;
  std::string text_;
  std::size_t bad_;  // index of the first that is not sendable, or the number of all
};

}  // namespace mcpbx::http::clients
