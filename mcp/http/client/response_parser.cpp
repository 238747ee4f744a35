// Parses answers with a class derived from Beast's parser. Drops interim answers (100, 103).
#include "mcp/http/client/response_parser.hpp"

#include "mcp/http/beast_parser.hpp"
#include "mcp/support/recycled.hpp"

#include <boost/beast/http/error.hpp>

namespace mcpbx::http::clients {

namespace beast_http = boost::beast::http;

class response_parser::impl final : public beast_parser<false>, public recycled<impl> {
 public:
  impl(parser_sink& sink, std::size_t max_body) : beast_parser(64 * 1024), sink_(sink) { body_limit(max_body); }
  int status() const { return status_; }

 private:
  void on_response_impl(int code, beast_view, int, beast_code&) override { status_ = code; }
  void on_field_impl(beast_http::field, beast_view name, beast_view value, beast_code&) override {
    if (headers_.empty()) headers_.reserve(8);  // as many as most answers have
    headers_.push_back({std::string(name.data(), name.size()), std::string(value.data(), value.size())});
  }
  void on_header_impl(beast_code& ec) override {
    if (status_ / 100 != 1 && !sink_.on_parsed_head(status_, std::move(headers_)))
      ec = beast_http::error::end_of_stream;
  }
  void on_bytes(std::string_view bytes) override { sink_.on_parsed_body(bytes); }

  parser_sink& sink_;
  int status_ = 0;
  std::vector<header> headers_;
};

response_parser::response_parser(parser_sink& sink, std::size_t max_body)
    : impl_(std::make_unique<impl>(sink, max_body)) {}
response_parser::~response_parser() = default;

response_parser::verdict response_parser::put(std::string_view bytes, std::size_t& used) {
  used = 0;
  // Check the first bytes here: Beast judges whole lines only, and a peer that is no HTTP server may never send one.
  if (impl_->at_start() && bytes.substr(0, 5) != std::string_view("HTTP/").substr(0, bytes.size())) {
    why_ = "bad version";
    return verdict::wrong;
  }
  while (used < bytes.size() && !impl_->is_done()) {
    beast_code ec;
    used += impl_->put_bytes(bytes.substr(used), ec);
    if (ec == beast_http::error::need_more) break;
    if (ec == beast_http::error::end_of_stream) return verdict::stopped;
    if (ec == beast_http::error::body_limit) return verdict::too_large;
    if (ec) {
      why_ = ec.message();
      return verdict::wrong;
    }
  }
  return impl_->is_done() ? verdict::done : verdict::need_more;
}

response_parser::verdict response_parser::put_eof() {
  beast_code ec;
  if (impl_->got_some()) impl_->put_eof(ec);
  if (!ec && impl_->is_done()) return verdict::done;
  why_ = "it closed the connection in the middle of its answer";
  return verdict::wrong;
}

bool response_parser::keep_alive() const {
  return impl_->keep_alive();
}
bool response_parser::needs_eof() const {
  return impl_->is_header_done() && impl_->need_eof();
}
int response_parser::status() const noexcept {
  return impl_->status();
}

}  // namespace mcpbx::http::clients
