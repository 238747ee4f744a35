// HTTP/1.1 answers, pushed: Beast's parser without Beast's streams, so that the body is handed on from the read buffer
// and only one source file pays for Beast.
#pragma once
#include "mcp/http/header.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::http {

/// Told while bytes are parsed; all inside put().
class parser_sink {
 public:
  virtual ~parser_sink() = default;
  /// False stops the parsing: put() returns at once.
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
  /// Parses a prefix of `bytes` and sets `used` to its length; what is left must come again, with more behind it.
  verdict put(std::string_view bytes, std::size_t& used);
  /// The connection ended: done if the answer may end so, else wrong.
  verdict put_eof();
  bool keep_alive() const;
  /// Whether the body ends with the connection only.
  bool needs_eof() const;
  /// What is wrong, after verdict::wrong.
  const std::string& why() const noexcept { return why_; }
  int status() const noexcept;

 private:
  class impl;
  std::unique_ptr<impl> impl_;
  std::string why_;
};

}  // namespace mcpbx::http
