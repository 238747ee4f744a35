// Takes the browser's requests. Its pages hold no foreign text.
#include "daemon/logins/redirect_listener.hpp"

#include "mcp/http/url.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::daemon::logins {
namespace {

constexpr std::string_view callback_path = "/callback";
constexpr http::servers::server_limits visitor_limits{
    {.head = 32u << 10, .body = 0}, milliseconds(10'000), milliseconds(10'000), milliseconds(10'000)};

http::servers::server_answer html(int status, std::string_view title, std::string_view text) {
  std::string body = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>mcpbx</title><body><h1>";
  body.append(title).append("</h1><p>").append(text).append("</p></body></html>\n");
  return {status,
          {{"Content-Type", "text/html; charset=utf-8"},
           {"Cache-Control", "no-store"},
           {"Referrer-Policy", "no-referrer"},
           {"X-Content-Type-Options", "nosniff"},
           {"Content-Security-Policy", "default-src 'none'"}},
          std::move(body)};
}

}  // namespace

class redirect_listener::visitor final : public http::servers::server_events {
 public:
  visitor(redirect_listener& owner, int fd)
      : owner_(owner), connection_(owner.executor_, owner.time_, fd, visitor_limits, *this) {
    connection_.start();
  }

  bool asked() const noexcept { return asked_; }

  // An answer to the head ends the connection: one that stayed open would take a browser to this listener when the next
  // one has the same port.
  std::optional<http::servers::server_answer> on_head(const http::servers::request_head& head) override {
    asked_ = true;
    return owner_.answer_to(head);
  }
  void on_request(http::servers::request_head, shared_bytes) override {}
  http::servers::server_answer on_fault(int status, std::string_view) override {
    return html(status, "This is no answer to a login", "mcpbx cannot read the request.");
  }
  void on_drained() override {}
  void on_left(const std::string&) override { owner_.left(*this); }

 private:
  redirect_listener& owner_;
  bool asked_ = false;
  http::servers::server_connection connection_;
};

result<std::unique_ptr<redirect_listener>> redirect_listener::open(const boost::asio::any_io_executor& executor,
                                                                   time_source& time, std::string_view wanted) {
  std::unique_ptr<mcp::socket::loopback_listener> port;
  if (const auto before = http::parse_url(wanted); before && before->host == "127.0.0.1")
    if (auto same = mcp::socket::loopback_listener::open(executor, time, "127.0.0.1:" + std::to_string(before->port)))
      port = std::move(*same);
  if (!port) {
    auto fresh = mcp::socket::loopback_listener::open(executor, time, "127.0.0.1:0");
    if (!fresh) return fail(errc::io, "no port of 127.0.0.1 can be opened for the login: " + fresh.error().message);
    port = std::move(*fresh);
  }
  return std::unique_ptr<redirect_listener>(new redirect_listener(executor, time, std::move(port)));
}

redirect_listener::redirect_listener(boost::asio::any_io_executor executor, time_source& time,
                                     std::unique_ptr<mcp::socket::loopback_listener> port)
    : executor_(std::move(executor)),
      time_(time),
      port_(std::move(port)),
      uri_("http://" + port_->address() + std::string(callback_path)),
      authority_(port_->address()) {}

redirect_listener::~redirect_listener() = default;

void redirect_listener::start(std::function<page(std::string_view query)> on_answer) {
  on_answer_ = std::move(on_answer);
  port_->start([this](int fd, const std::string&) { admit(fd); });
}

void redirect_listener::lead(std::string_view word, std::string address) {
  opened_ = "/open/" + std::string(word);
  leads_to_ = std::move(address);
}

void redirect_listener::close() {
  port_->close();
  std::erase_if(visitors_, [](const auto& v) { return !v->asked(); });
}

void redirect_listener::admit(int fd) {
  if (visitors_.size() >= most_connections) {
    // Browsers open spare connections, and any program on this machine can hold some open; neither may keep the answer
    // out. While the port is open, a visitor that has asked was answered that this is the wrong place, and need not be
    // kept.
    const auto asked = std::ranges::find_if(visitors_, [](const auto& v) { return v->asked(); });
    visitors_.erase(asked == visitors_.end() ? visitors_.begin() : asked);
  }
  visitors_.push_back(std::make_unique<visitor>(*this, fd));
}

void redirect_listener::left(visitor& v) {
  std::erase_if(visitors_, [&](const auto& one) { return one.get() == &v; });
}

http::servers::server_answer redirect_listener::answer_to(const http::servers::request_head& head) {
  // A page of the web that has its own name resolve to this machine sends that name.
  if (http::find_header(head.headers, "Host") != authority_)
    return html(403, "Not for this address", "This port waits for the answer to a login of mcpbx.");
  const auto mark = std::min(head.target.find('?'), head.target.size());
  if (head.method == "GET" && !opened_.empty() && head.target == opened_) {
    if (leads_to_.empty())
      return html(410, "This address has been used",
                  "It leads to a login once. If it was not you who used it, end the login with <code>mcpbx auth "
                  "logout</code> and begin a new one.");
    auto page = html(302, "The login is at another address", "Your browser goes there now.");
    page.headers.push_back({"Location", std::exchange(leads_to_, {})});
    return page;
  }
  if (head.method != "GET" || head.target.substr(0, mark) != callback_path)
    return html(404, "Nothing is here", "This port waits for the answer to a login of mcpbx.");
  if (!on_answer_) return html(410, "This login is over", "You can close this window.");
  const page shown = on_answer_(std::string_view(head.target).substr(std::min(mark + 1, head.target.size())));
  if (shown == page::not_ours)
    return html(400, "This is not the answer to the open login",
                "It may belong to an earlier one. Please use the address that mcpbx shows now.");
  on_answer_ = nullptr;
  close();
  if (shown == page::failed)
    return html(400, "The login failed", "Your terminal, or <code>mcpbx auth status</code>, says why.");
  return html(200, "Thank you", "mcpbx has the answer. You can close this window and go back to your terminal.");
}

}  // namespace mcpbx::daemon::logins
