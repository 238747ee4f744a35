// TLS: certificates and names are verified, always. The certificates are made here, in memory.
#include "test/mcp/http/harness.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>
#include <doctest/doctest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>

namespace {

using namespace mcpbx;
using namespace mcpbx::test;
namespace asio = boost::asio;

struct identity {
  std::shared_ptr<EVP_PKEY> key{EVP_EC_gen("P-256"), EVP_PKEY_free};
  std::shared_ptr<X509> certificate{X509_new(), X509_free};

  explicit identity(const std::string& names) {
    auto* const c = certificate.get();
    X509_set_version(c, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(c), 1);
    X509_gmtime_adj(X509_getm_notBefore(c), -3600);
    X509_gmtime_adj(X509_getm_notAfter(c), 3600);
    X509_set_pubkey(c, key.get());
    auto* const name = X509_get_subject_name(c);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("test"), -1, -1, 0);
    X509_set_issuer_name(c, name);
    for (const auto& [nid, value] :
         {std::pair<int, std::string>{NID_basic_constraints, "critical,CA:TRUE"}, {NID_subject_alt_name, names}}) {
      auto* const extension = X509V3_EXT_conf_nid(nullptr, nullptr, nid, value.c_str());
      X509_add_ext(c, extension, -1);
      X509_EXTENSION_free(extension);
    }
    X509_sign(c, key.get(), EVP_sha256());
  }
  std::string pem() const {
    BIO* const out = BIO_new(BIO_s_mem());
    PEM_write_bio_X509(out, certificate.get());
    char* data = nullptr;
    const auto n = BIO_get_mem_data(out, &data);
    std::string text(data, static_cast<std::size_t>(n));
    BIO_free(out);
    return text;
  }
};

// Accepts connections one after another, answers each request with "ok", keeps the server name it was asked for.
class tls_server {
 public:
  explicit tls_server(const identity& who)
      : tls_(asio::ssl::context::tls_server), acceptor_(context_, {asio::ip::address_v4::loopback(), 0}) {
    SSL_CTX_use_certificate(tls_.native_handle(), who.certificate.get());
    SSL_CTX_use_PrivateKey(tls_.native_handle(), who.key.get());
    thread_ = std::thread([this] { run(); });
  }
  ~tls_server() {
    // An own connection wakes the acceptor.
    stopping_ = true;
    asio::io_context c;
    asio::ip::tcp::socket s(c);
    boost::system::error_code ignored;
    s.connect(acceptor_.local_endpoint(), ignored);
    thread_.join();
  }
  int port() const { return acceptor_.local_endpoint().port(); }
  std::string sni;

 private:
  void run() {
    while (!stopping_) {
      boost::system::error_code ec;
      asio::ip::tcp::socket socket(context_);
      acceptor_.accept(socket, ec);
      if (stopping_) return;
      asio::ssl::stream<asio::ip::tcp::socket> stream(std::move(socket), tls_);
      stream.handshake(asio::ssl::stream_base::server, ec);
      if (ec) continue;
      if (const char* name = SSL_get_servername(stream.native_handle(), TLSEXT_NAMETYPE_host_name)) sni = name;
      std::array<char, 4096> buffer;
      // The requests of these tests fit into one read, or their second part does not matter.
      while (stream.read_some(asio::buffer(buffer), ec) > 0 && !ec)
        asio::write(stream, asio::buffer(std::string_view("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")), ec);
    }
  }
  asio::io_context context_;
  asio::ssl::context tls_;
  asio::ip::tcp::acceptor acceptor_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

struct pem_file {
  std::string path = "/tmp/mcpbx-tls-test-" + std::to_string(::getpid()) + ".pem";
  explicit pem_file(const std::string& text) {
    std::FILE* f = std::fopen(path.c_str(), "w");
    std::fputs(text.c_str(), f);
    std::fclose(f);
  }
  ~pem_file() { ::unlink(path.c_str()); }
};

recorder get(http_loop& loop, const std::string& url) {
  recorder got;
  http::request r;
  r.method = "GET";
  r.url = url;
  const auto exchange = loop.client->start(std::move(r), got);
  REQUIRE(loop.until([&] { return got.over(); }));
  return got;
}

TEST_CASE("G33: a certificate that nobody trusts is refused") {
  const identity who("DNS:localhost,IP:127.0.0.1");
  const tls_server server(who);
  http_loop loop;
  const auto got = get(loop, "https://localhost:" + std::to_string(server.port()) + "/");
  REQUIRE(got.failure);
  CHECK(got.failure->stage == http::stage::tls);
  CHECK(got.failure->why.message.find("certificate is not trusted") != std::string::npos);
}

TEST_CASE("G33: a trusted certificate for another name is refused") {
  const identity who("DNS:other.example");
  const tls_server server(who);
  const pem_file ca(who.pem());
  http_loop loop(nullptr, {.max_idle_per_origin = 8, .keep_idle = milliseconds(60'000), .trust = {ca.path}});
  for (const auto* host : {"localhost", "127.0.0.1"}) {
    const auto got = get(loop, "https://" + std::string(host) + ":" + std::to_string(server.port()) + "/");
    REQUIRE(got.failure);
    CHECK(got.failure->why.message.find("is for another name") != std::string::npos);
  }
}

TEST_CASE(
    "G33: a trusted certificate with the right name or address is accepted, the name is sent, the connection kept") {
  const identity who("DNS:localhost,IP:127.0.0.1");
  const tls_server server(who);
  const pem_file ca(who.pem());
  http_loop loop(nullptr, {.max_idle_per_origin = 8, .keep_idle = milliseconds(60'000), .trust = {ca.path}});
  const auto url = "https://localhost:" + std::to_string(server.port()) + "/";
  for (int i = 0; i < 3; ++i) {
    const auto got = get(loop, url);
    CHECK_FALSE(got.failure);
    CHECK(got.body == "ok");
  }
  CHECK(loop.client->counts().connections == 1);
  CHECK(server.sni == "localhost");
  loop.client.emplace(
      loop.context.get_executor(), loop.real, loop.resolve, loop.compute,
      http::client::options{.max_idle_per_origin = 8, .keep_idle = milliseconds(60'000), .trust = {ca.path}});
  CHECK(get(loop, "https://127.0.0.1:" + std::to_string(server.port()) + "/").body == "ok");
}

TEST_CASE("client: a trust file that cannot be read is told") {
  const identity who("DNS:localhost");
  const tls_server server(who);
  http_loop loop(nullptr,
                 {.max_idle_per_origin = 8, .keep_idle = milliseconds(60'000), .trust = {"/no/such/file.pem"}});
  const auto got = get(loop, "https://localhost:" + std::to_string(server.port()) + "/");
  REQUIRE(got.failure);
  CHECK(got.failure->why.message.find("/no/such/file.pem") != std::string::npos);
}

}  // namespace
