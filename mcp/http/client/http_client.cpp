// The client's pool, name look-up and loaded certificates. client_connection.cpp has the exchange itself.
#include "mcp/http/client/http_client.hpp"

#include "mcp/http/client/client_connection.hpp"
#include "mcp/http/client/name_lookups.hpp"
#include "mcp/redact/hidden_text.hpp"
#include "mcp/support/recycled.hpp"
#include "mcp/support/text.hpp"

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

namespace mcpbx::http::clients {

namespace asio = boost::asio;
using namespace std::string_view_literals;
using asio::ip::tcp;

namespace {

// Returns a header of the request that cannot be sent, or null.
const header* unsendable(const request& r) {
  if (r.common && r.common->unsendable() != nullptr) return r.common->unsendable();
  const auto bad = std::ranges::find_if_not(r.headers, is_sendable);
  return bad == r.headers.end() ? nullptr : &*bad;
}

bool has_header(const request& r, std::string_view name) {
  return !find_header(r.headers, name).empty() || (r.common && !find_header(r.common->headers(), name).empty());
}

class exchange_handle final : public exchange, public recycled<exchange_handle> {
 public:
  explicit exchange_handle(std::shared_ptr<task> t) : task_(std::move(t)) {}
  ~exchange_handle() override {
    task_->events = nullptr;
    task_->place.reset();
    if (const auto line = task_->line.lock()) line->abandon(task_.get());
  }
  exchange_handle(const exchange_handle&) = delete;
  exchange_handle& operator=(const exchange_handle&) = delete;
  bool sent() const noexcept override { return task_->sent; }

 private:
  std::shared_ptr<task> task_;
};

}  // namespace

class client::impl final : public connection_owner, public std::enable_shared_from_this<impl> {
 public:
  impl(asio::any_io_executor executor, time_source& time, async::lane& compute, options o)
      : executor_(std::move(executor)),
        time_(time),
        compute_(compute),
        options_(std::move(o)),
        names_(std::make_shared<name_lookups>(executor_, time_, options_.look_up)) {}

  std::unique_ptr<exchange> start(request&& r, response_events& events) {
    auto t = make_recycled<task>(std::move(r));
    t->events = &events;
    t->started = time_.now();
    t->place.emplace(gate_);
    ++counters_.exchanges;
    auto way = route_to(t->request);
    const header* const bad = unsendable(t->request);
    if (!way) {
      refuse(t, way.error());
    } else if (bad != nullptr) {
      refuse(t, {errc::invalid_argument,
                 "The header \"" + redact::printable(cut_utf8(bad->name, 64)) + "\" for " + (*way)->to.label +
                     " cannot be sent: its name or value holds a line break or a character that headers do not have, "
                     "or it belongs to the connection itself."});
    } else {
      t->route = *std::move(way);
      write_head(*t);
      // Both are in the head and the route. Many open exchanges that kept them would slow the heap down.
      std::string().swap(t->request.url);
      std::vector<header>().swap(t->request.headers);
      run(t);
    }
    return std::make_unique<exchange_handle>(std::move(t));
  }

  void close_all() {
    forget_head();
    auto idle = std::exchange(idle_, {});
    for (auto& [origin, list] : idle)
      for (auto& c : list) c->close();
  }

  void resolve(const client_connection* asker, const std::string& host, std::uint16_t port,
               std::function<void(result<endpoints>)> done) override {
    boost::system::error_code ec;
    const auto address = asio::ip::make_address(host, ec);
    if (!ec) return done(endpoints{tcp::endpoint(address, port)});
    if (host == "localhost")
      return done(endpoints{tcp::endpoint(asio::ip::address_v4::loopback(), port),
                            tcp::endpoint(asio::ip::address_v6::loopback(), port)});
    names_->find(asker, host, [port, done = std::move(done)](result<addresses> found) {
      if (!found) return done(std::unexpected(std::move(found.error())));
      endpoints all;
      for (const auto& a : *found) all.emplace_back(tcp::endpoint(a, port));
      done(std::move(all));
    });
  }

  void with_tls(const trust& t, std::function<void(result<tls_context>)> done) override {
    auto& known = contexts_[t];
    if (known.made.settings) return done(known.made);
    known.waiting.push_back(std::move(done));
    if (known.waiting.size() == 1) start_loading(t, known.all);
  }

  // The system's bundle is large, and is read once.
  void tls_failed(const trust& t, bool not_found_by_name) override {
    const auto known = contexts_.find(t);
    if (known == contexts_.end()) return;
    known->second.all |= not_found_by_name;
    const bool too_few = known->second.all && known->second.made.by_name;
    if (too_few || !t.ca_file.empty() || !t.cert_file.empty()) known->second.made = {};
  }

  void start_loading(const trust& t, bool all) {
    auto posted = compute_.post([t, all, executor = executor_, weak = weak_from_this()] {
      auto loaded = load_tls(t, all);
      asio::post(executor, [t, weak, loaded = std::move(loaded)] {
        if (const auto self = weak.lock()) self->tls_loaded(t, loaded);
      });
    });
    if (!posted) tls_loaded(t, std::unexpected(std::move(posted.error())));
  }

  void tls_loaded(const trust& t, const result<tls_context>& loaded) {
    auto& asked = contexts_[t];
    // Meanwhile a connection has found that it needs the bundle, and its exchange may be among those that wait.
    if (loaded && loaded->by_name && asked.all) return start_loading(t, true);
    if (loaded) asked.made = *loaded;
    for (auto& waiting : std::exchange(asked.waiting, {})) waiting(loaded);
  }

  bool take_back(const std::shared_ptr<client_connection>& c) override {
    auto& list = idle_[c->key()];
    if (list.size() >= options_.max_idle_per_origin) return false;
    list.push_back(c);
    c->keep_until(time_.now() + options_.keep_idle);
    watch_soon(c);
    if (!opening_.empty()) serve_opening(c->key());
    return true;
  }

  void keep_text(std::string&& head) override {
    constexpr std::size_t most = 64, longest = 4096;
    wipe(head);
    if (spare_heads_.size() < most && head.capacity() <= longest) spare_heads_.push_back(std::move(head));
  }

  void forget(const client_connection* c) override {
    names_->forget(c);
    if (const auto list = idle_.find(c->key()); list != idle_.end()) {
      std::erase_if(list->second, [c](const auto& known) { return known.get() == c; });
      if (!list->second.empty()) return;
      idle_.erase(list);
    }
    if (head_.to && head_.to->key == c->key()) forget_head();
  }

  void run_fresh(std::shared_ptr<task> t) override {
    if (t->events == nullptr) return;
    ++counters_.connections;
    auto c = std::make_shared<client_connection>(executor_, time_, weak_from_this(), t->route);
    c->open(std::move(t));
  }

  const counters& counts() const noexcept { return counters_; }

 private:
  // Returns the connection that is being made for an exchange; null: none any more.
  static std::shared_ptr<client_connection> line_of(const std::shared_ptr<task>& t) {
    auto line = t && t->events != nullptr ? t->line.lock() : nullptr;
    if (line && !(line->is_open() && line->is_connecting())) line.reset();
    return line;
  }

  void forget_opened() {
    std::erase_if(opening_, [](const std::weak_ptr<task>& one) { return !line_of(one.lock()); });
  }

  // Gives a connection that has become free to the exchange that has waited longest for its own.
  void serve_opening(const std::string& key) {
    forget_opened();
    const auto next = std::ranges::find_if(
        opening_, [&](const std::weak_ptr<task>& one) { return line_of(one.lock())->key() == key; });
    if (next == opening_.end()) return;
    const auto t = next->lock();
    opening_.erase(next);
    line_of(t)->abandon(t.get());
    run(t);
  }

  // Waits for the close of a connection in the pool, after the consequences of its answer: most are in use again by
  // then.
  void watch_soon(const std::shared_ptr<client_connection>& c) {
    unwatched_.push_back(c);
    if (unwatched_.size() > 1) return;
    asio::post(executor_, [weak = weak_from_this(), executor = executor_] {
      asio::post(executor, [weak] {
        const auto self = weak.lock();
        if (!self) return;
        for (const auto& one : std::exchange(self->unwatched_, {}))
          if (const auto idle = one.lock()) idle->start_read();
      });
    });
  }

  void run(const std::shared_ptr<task>& t) {
    if (const auto list = idle_.find(t->route->key); list != idle_.end() && !list->second.empty()) {
      // The connection used last is the least likely to be stale.
      const auto c = std::move(list->second.back());
      list->second.pop_back();
      ++counters_.reused;
      return c->reuse(t);
    }
    // A fresh connection may fail at once (no address, no descriptor), but no event may come from inside start().
    ++counters_.connections;
    auto c = std::make_shared<client_connection>(executor_, time_, weak_from_this(), t->route);
    t->line = c;
    if (t->request.may_move) {
      forget_opened();
      opening_.push_back(t);
    }
    asio::post(executor_, [c, t] {
      if (t->events != nullptr && t->line.lock() == c) c->open(t);
    });
  }

  // Most requests go where the last one went.
  result<std::shared_ptr<const route>> route_to(const request& r) {
    const auto same_rule = [](const auto& a, const auto& b) { return a && b ? a->name == b->name : a == b; };
    if (last_route_ && last_url_ == r.url && last_route_->trust == r.trust &&
        same_rule(last_route_->addresses, r.addresses))
      return last_route_;
    auto made = make_route(r);
    if (!made) return std::unexpected(std::move(made.error()));
    last_url_ = r.url;
    return last_route_ = std::make_shared<const route>(*std::move(made));
  }

  result<route> make_route(const request& r) const {
    auto url = parse_url(r.url);
    if (!url) return std::unexpected(url.error());
    const auto via = options_.proxies.find(*url);
    if (!via) return fail(errc::config, url->label + " cannot be asked: " + via.error().message);
    route way{*std::move(url), std::nullopt, r.trust, {}, r.addresses};
    if (*via != nullptr) way.via = **via;
    way.key = way.to.origin;
    if (way.to.tls && r.trust != trust())
      way.key += " " + r.trust.ca_file + "\n" + r.trust.cert_file + "\n" + r.trust.key_file +
                 (r.trust.system_too ? "\n+" : "");
    // A connection that another request has opened may lead to an address that this one must not use.
    if (r.addresses) way.key += "\naddresses " + r.addresses->name;
    return way;
  }

  void refuse(const std::shared_ptr<task>& t, error why) {
    asio::post(executor_, [t, why = std::move(why)] {
      if (auto* const events = std::exchange(t->events, nullptr)) events->on_failure({stage::resolve, why});
    });
  }

  // Requests of one kind to one place have most of their head in common, which is written once for those that have a
  // common block: without it, requests seldom follow each other.
  void write_head(task& t) {
    const auto& r = t.request;
    if (!spare_heads_.empty()) {
      t.head = std::move(spare_heads_.back());
      spare_heads_.pop_back();
    }
    const bool own = std::ranges::any_of(r.headers, [](const header& h) {
      return is_word(h.name, "host") || is_word(h.name, "user-agent") || is_word(h.name, "accept-encoding");
    });
    if (own || !r.common) {
      begin_head(t, t.head);
    } else {
      if (head_.to != t.route || head_.common != r.common || head_.method != r.method || head_.gzip != r.accept_gzip) {
        forget_head();
        head_ = {t.route, r.common, r.method, r.accept_gzip, {}};
        begin_head(t, head_.text);
      }
      t.head.reserve(head_.text.size() + longest_usual_rest +
                     (r.body.size() <= longest_usual_rest * 4 ? r.body.size() : 0));
      t.head.append(head_.text);
    }
    append_headers(t.head, r.headers);
    if (!r.body.empty() || (r.method != "GET" && r.method != "HEAD" && r.method != "DELETE")) {
      std::array<char, 24> digits;
      const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), r.body.size()).ptr;
      t.head.append("Content-Length: "sv).append(digits.data(), end).append("\r\n"sv);
    }
    t.head.append("\r\n"sv);
  }

  // The beginning of a head may hold a key of its server. It is kept for as long as a connection to there is open and
  // may serve the next request, but not longer.
  void forget_head() {
    wipe(head_.text);
    head_ = {};
  }

  // Writes the request line and the headers that do not differ among requests of one kind.
  static void begin_head(const task& t, std::string& head) {
    const auto& r = t.request;
    const auto& to = t.route->to;
    head.reserve(512);
    head.append(r.method).append(" ");
    // A proxy without a tunnel needs the whole address (RFC 9112, section 3.2.2).
    const bool whole = t.route->via && !to.tls;
    if (whole) head.append("http://").append(to.authority);
    head.append(to.target).append(" HTTP/1.1\r\n");
    if (!has_header(r, "host")) head.append("Host: ").append(to.authority).append("\r\n");
    if (!has_header(r, "user-agent")) head.append("User-Agent: mcpbx/" MCPBX_VERSION "\r\n");
    if (!has_header(r, "accept-encoding"))
      head.append("Accept-Encoding: ").append(r.accept_gzip ? "gzip" : "identity").append("\r\n");
    head += "Connection: keep-alive\r\n";
    if (whole && !t.route->via->authorization.empty())
      head.append("Proxy-Authorization: ").append(t.route->via->authorization).append("\r\n");
    if (r.common) head.append(r.common->text());
  }

  /// Certificates of one trust setting, loaded or being loaded.
  struct tls_entry {
    tls_context made;
    bool all = false;  ///< a certificate was not found by name, so every one of the system's is read
    std::vector<std::function<void(result<tls_context>)>> waiting;
  };

  /// The beginning of a head, and everything that decides about it.
  struct head_start {
    std::shared_ptr<const route> to;
    std::shared_ptr<const header_block> common;
    std::string method;
    bool gzip = false;
    std::string text;
  };
  static constexpr std::size_t longest_usual_rest = 192;  // of the headers that differ

  asio::any_io_executor executor_;
  time_source& time_;
  async::lane& compute_;
  options options_;
  std::shared_ptr<name_lookups> names_;
  std::shared_ptr<read_gate> gate_ = std::make_shared<read_gate>(time_);
  counters counters_;
  std::string last_url_;
  std::shared_ptr<const route> last_route_;  // route to last_url_
  head_start head_;                          // written last for a request with a common block
  std::vector<std::string> spare_heads_;     // empty, with the memory of earlier heads
  std::map<trust, tls_entry> contexts_;
  std::map<std::string, std::vector<std::shared_ptr<client_connection>>, std::less<>> idle_;
  std::vector<std::weak_ptr<client_connection>> unwatched_;  // came back in this turn
  std::vector<std::weak_ptr<task>> opening_;                 // exchanges whose connections are being made, oldest first
};

client::client(asio::any_io_executor executor, time_source& time, async::lane& compute, options o)
    : impl_(std::make_shared<impl>(std::move(executor), time, compute, std::move(o))) {}

client::~client() {
  impl_->close_all();
}

std::unique_ptr<exchange> client::start(request r, response_events& events) {
  return impl_->start(std::move(r), events);
}

const client::counters& client::counts() const noexcept {
  return impl_->counts();
}

}  // namespace mcpbx::http::clients
