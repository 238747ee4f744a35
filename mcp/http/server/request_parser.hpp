// Push parser for HTTP/1.1 requests. Wraps Beast's parser and refuses everything that a proxy on the way could read as
// another request than we do (RFC 9112, sections 3.2 and 6.3; docs/guarantees.md, G43).
#pragma once
#include "mcp/http/header.hpp"
#include "mcp/support/shared_bytes.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::http::servers {

/// A request without its body.
struct request_head {
  std::string method;  ///< as sent: "POST"
  std::string target;  ///< path and query as sent; begins with '/'
  std::vector<header> headers;
};

class request_parser {
 public:
  struct limits {
    std::size_t head = 16u << 10;  ///< bytes of the request line and all headers
    std::size_t body = 32u << 20;
  };
  explicit request_parser(limits l);
  ~request_parser();
  request_parser(const request_parser&) = delete;
  request_parser& operator=(const request_parser&) = delete;

  /// State of the request. After one of the last four, do not call put() again.
  enum class verdict : std::uint8_t {
    need_more,
    head,  ///< the head is complete now; put() continues with the body
    done,
    wrong,           ///< see why()
    head_too_large,  ///< more than limits::head
    body_too_large   ///< more than limits::body, announced or sent
  };
  /// Parses a prefix of `bytes` and sets `used` to its length. Pass the rest again, followed by more bytes.
  verdict put(std::string_view bytes, std::size_t& used);
  /// Returns true if a byte of this request has come.
  bool begun() const;

  /// Returns the head, from verdict::head on.
  const request_head& head() const noexcept;
  request_head take_head();
  /// Returns the number of body bytes so far.
  std::size_t body_bytes() const noexcept;
  /// Hands over the complete body.
  shared_bytes take_body();
  /// Returns true if the caller waits for permission to send the body (RFC 9110, section 10.1.1).
  bool waits_to_continue() const;
  /// Returns true if the caller understands chunked bodies (HTTP/1.1).
  bool takes_chunks() const;
  bool keep_alive() const;
  /// Returns the fault after verdict::wrong, as a clause.
  const std::string& why() const noexcept { return why_; }

 private:
  class impl;
  std::unique_ptr<impl> impl_;
  std::string why_;
};

}  // namespace mcpbx::http::servers
