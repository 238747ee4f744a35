// Beast's parser with the behaviour that requests and answers share: a body, chunked or not, is one stream of bytes.
// Only the two parsers include this file, since instantiating Beast takes long.
#pragma once
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/optional/optional.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mcpbx::http {

using beast_code = boost::beast::error_code;
using beast_view = boost::beast::string_view;

inline std::string_view to_std(beast_view text) {
  return {text.data(), text.size()};
}

template <bool IsRequest>
class beast_parser : public boost::beast::http::basic_parser<IsRequest> {
 public:
  /// Calls Beast's put() for the head or for the body. Bounds the head over all calls; Beast itself measures only the
  /// bytes that one call leaves over.
  std::size_t put_bytes(std::string_view bytes, beast_code& ec) {
    const bool in_head = !this->is_header_done();
    // Once Beast 1.81 has waited for the end of the last chunk, it assumes at least five bytes in the next call. These
    // three and one more are too few, so wait here.
    if (!in_head && this->chunked() && bytes == "0\r\n") {
      ec = boost::beast::http::error::need_more;
      return 0;
    }
    this->eager(!in_head);
    const auto used = this->put(boost::asio::const_buffer(bytes.data(), bytes.size()), ec);
    if (!in_head) return used;
    head_bytes_ += used;
    const auto waiting = this->is_header_done() ? 0 : bytes.size() - used;
    if (head_bytes_ + waiting > max_head_ && (!ec || ec == boost::beast::http::error::need_more))
      ec = boost::beast::http::error::header_limit;
    return used;
  }

  /// Returns true if no byte of the head has been taken yet.
  bool at_start() const { return head_bytes_ == 0 && !this->is_header_done(); }

 protected:
  explicit beast_parser(std::size_t max_head) : max_head_(max_head) {
    this->header_limit(static_cast<std::uint32_t>(max_head));
  }
  virtual void on_bytes(std::string_view bytes) = 0;

 private:
  using verb = boost::beast::http::verb;
  void on_request_impl(verb, beast_view, beast_view, int, beast_code&) override {}
  void on_response_impl(int, beast_view, int, beast_code&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&, beast_code&) override {}
  std::size_t on_body_impl(beast_view body, beast_code&) override {
    on_bytes(to_std(body));
    return body.size();
  }
  void on_chunk_header_impl(std::uint64_t, beast_view, beast_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, beast_view body, beast_code&) override {
    on_bytes(to_std(body));
    return body.size();
  }
  void on_finish_impl(beast_code&) override {}

  std::size_t max_head_;
  std::size_t head_bytes_ = 0;
};

}  // namespace mcpbx::http
