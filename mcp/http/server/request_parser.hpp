// HTTP/1.1 requests, pushed: Beast's parser without Beast's streams, with what a server must refuse so that nobody
// between the caller and us can read another request than we do (RFC 9112, sections 3.2 and 6.3; docs/guarantees.md,
// G43).
#pragma once
#include "mcp/http/header.hpp"
#include "mcp/support/shared_bytes.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::http {

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

  /// What the bytes so far are. Behind the last four nothing more is to be put in.
  enum class verdict : std::uint8_t {
    need_more,
    head,  ///< the head has just become complete; put() goes on with the body
    done,
    wrong,           ///< why() is a clause
    head_too_large,  ///< more than limits::head
    body_too_large   ///< more than limits::body, announced or sent
  };
  /// Parses a prefix of `bytes` and sets `used` to its length; what is left must come again, with more behind it.
  verdict put(std::string_view bytes, std::size_t& used);
  /// Whether a byte of this request has come.
  bool begun() const;

  /// From verdict::head on.
  const request_head& head() const noexcept;
  request_head take_head();
  /// Of the body, so far.
  std::size_t body_bytes() const noexcept;
  /// At the end: the body.
  shared_bytes take_body();
  /// Whether the caller waits to be told that it may send the body (RFC 9110, section 10.1.1).
  bool waits_to_continue() const;
  /// Whether the caller understands a body in chunks (HTTP/1.1).
  bool takes_chunks() const;
  bool keep_alive() const;
  const std::string& why() const noexcept { return why_; }

 private:
  class impl;
  std::unique_ptr<impl> impl_;
  std::string why_;
};

}  // namespace mcpbx::http
