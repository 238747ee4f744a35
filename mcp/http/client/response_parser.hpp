// Push parser for HTTP/1.1 answers. Wraps Beast's parser without its streams, so that the body is passed on from the
// read buffer, and only one source file includes Beast.
#pragma once
#include "mcp/http/header.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::http::clients {

/// Receiver of parsed parts; all calls come from inside put().
class parser_sink {
 public:
  virtual ~parser_sink() = default;
  /// Takes the head. Returning false makes put() return at once.
  virtual bool on_parsed_head(int status, std::vector<header> headers) = 0;
  virtual void on_parsed_body(std::string_view bytes) = 0;
};

class response_parser {
 public:
  response_parser(parser_sink& sink, std::size_t max_body);
  ~response_parser();
  response_parser(const response_parser&) = delete;
  response_parser& operator=(const response_parser&) = delete;

  enum class verdict : std::uint8_t { need_more, done, stopped, wrong, too_large };
  /// Parses a prefix of `bytes` and sets `used` to its length. Pass the rest again, followed by more bytes.
  verdict put(std::string_view bytes, std::size_t& used);
  /// Ends the connection. Returns done if the answer may end there, else wrong.
  verdict put_eof();
  bool keep_alive() const;
  /// Returns true if only the end of the connection ends the body.
  bool needs_eof() const;
  /// Returns the fault after verdict::wrong.
  const std::string& why() const noexcept { return why_; }
  int status() const noexcept;

 private:
  class impl;
  std::unique_ptr<impl> impl_;
  std::string why_;
};

}  // namespace mcpbx::http::clients
