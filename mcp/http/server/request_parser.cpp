// Parses requests with a class derived from Beast's parser, and makes the checks that Beast leaves to its user.
#include "mcp/http/server/request_parser.hpp"

#include "mcp/http/beast_parser.hpp"

#include <boost/beast/http/error.hpp>

#include <algorithm>
#include <utility>

namespace mcpbx::http::servers {

namespace beast_http = boost::beast::http;

namespace {

/// Number of headers for which there is room at once.
constexpr std::size_t usual_headers = 8;

}  // namespace

class request_parser::impl final : public beast_parser<true> {
 public:
  explicit impl(limits l) : beast_parser(l.head) { body_limit(l.body); }

  request_head head;
  byte_buffer body;
  int version = 0;
  bool head_told = false;

  /// Returns the reason to refuse the head; "" if there is none.
  std::string fault() const {
    const auto count = [this](std::string_view name) {
      return std::ranges::count_if(head.headers, [&](const header& h) { return is_word(h.name, name); });
    };
    if (!head.target.starts_with('/')) return "its target is not a path";
    if (count("host") > 1 || (version == 11 && count("host") == 0)) return "it needs exactly one Host header";
    if (count("content-length") > 1) return "it has more than one Content-Length header";
    const auto coding = find_header(head.headers, "transfer-encoding");
    if (count("transfer-encoding") > 0 && (version != 11 || !is_word(coding, "chunked")))
      return "its Transfer-Encoding is not \"chunked\"";
    return {};
  }

 private:
  void on_request_impl(beast_http::verb, beast_view method, beast_view target, int version_sent, beast_code&) override {
    version = version_sent;
    head.method = to_std(method);
    head.target = to_std(target);
  }
  void on_field_impl(beast_http::field, beast_view name, beast_view value, beast_code&) override {
    // Drop trailer fields behind a chunked body, which are not used.
    if (complete_) return;
    if (head.headers.empty()) head.headers.reserve(usual_headers);
    head.headers.push_back({{name.data(), name.size()}, {value.data(), value.size()}});
  }
  void on_header_impl(beast_code&) override { complete_ = true; }
  void on_bytes(std::string_view bytes) override { body.append(bytes); }

  bool complete_ = false;
};

request_parser::request_parser(limits l) : impl_(std::make_unique<impl>(l)) {}
request_parser::~request_parser() = default;

request_parser::verdict request_parser::put(std::string_view bytes, std::size_t& used) {
  used = 0;
  while (used < bytes.size() && !impl_->is_done()) {
    beast_code ec;
    used += impl_->put_bytes(bytes.substr(used), ec);
    if (ec == beast_http::error::header_limit) return verdict::head_too_large;
    if (ec == beast_http::error::body_limit) return verdict::body_too_large;
    if (ec && ec != beast_http::error::need_more) {
      why_ = ec.message();
      return verdict::wrong;
    }
    // Report the head before the body is read, so that a refused caller's body need not be read.
    if (impl_->is_header_done() && !impl_->head_told) {
      impl_->head_told = true;
      why_ = impl_->fault();
      return why_.empty() ? verdict::head : verdict::wrong;
    }
    if (ec) break;
  }
  return impl_->is_done() ? verdict::done : verdict::need_more;
}

bool request_parser::begun() const {
  return impl_->got_some();
}
const request_head& request_parser::head() const noexcept {
  return impl_->head;
}
request_head request_parser::take_head() {
  return std::move(impl_->head);
}
std::size_t request_parser::body_bytes() const noexcept {
  return impl_->body.size();
}
shared_bytes request_parser::take_body() {
  return impl_->body.take();
}
bool request_parser::waits_to_continue() const {
  return impl_->version == 11 && !impl_->is_done() &&
         is_word(find_header(impl_->head.headers, "expect"), "100-continue");
}
bool request_parser::takes_chunks() const {
  return impl_->version == 11;
}
bool request_parser::keep_alive() const {
  return impl_->keep_alive();
}

}  // namespace mcpbx::http::servers
