// A TLS server with certificates that are made here, in memory; it can play the proxy before itself too.
#pragma once
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace mcpbx::test {

namespace asio = boost::asio;

struct identity {
  std::shared_ptr<EVP_PKEY> key{EVP_EC_gen("P-256"), EVP_PKEY_free};
  std::shared_ptr<X509> certificate{X509_new(), X509_free};

  explicit identity(const std::string& names, const std::string& common_name = "test") {
    auto* const c = certificate.get();
    X509_set_version(c, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(c), 1);
    X509_gmtime_adj(X509_getm_notBefore(c), -3600);
    X509_gmtime_adj(X509_getm_notAfter(c), 3600);
    X509_set_pubkey(c, key.get());
    auto* const name = X509_get_subject_name(c);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>(common_name.c_str()),
                               -1, -1, 0);
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
    return written([this](BIO* out) { PEM_write_bio_X509(out, certificate.get()); });
  }
  std::string key_pem() const {
    return written(
        [this](BIO* out) { PEM_write_bio_PrivateKey(out, key.get(), nullptr, nullptr, 0, nullptr, nullptr); });
  }

 private:
  template <class Write>
  static std::string written(const Write& write) {
    BIO* const out = BIO_new(BIO_s_mem());
    write(out);
    char* data = nullptr;
    const auto n = BIO_get_mem_data(out, &data);
    std::string text(data, static_cast<std::size_t>(n));
    BIO_free(out);
    return text;
  }
};

// Serves each connection in a thread of its own, answers each request with "ok", keeps the server name it was asked
// for. With `tunnel`, an answer to CONNECT, each connection begins with that.
class tls_server {
 public:
  explicit tls_server(const identity& who, std::string tunnel = "", const identity* wanted = nullptr)
      : tunnel_(std::move(tunnel)),
        tls_(asio::ssl::context::tls_server),
        acceptor_(context_, {asio::ip::address_v4::loopback(), 0}) {
    SSL_CTX_use_certificate(tls_.native_handle(), who.certificate.get());
    SSL_CTX_use_PrivateKey(tls_.native_handle(), who.key.get());
    if (wanted != nullptr) {
      // Clients without this certificate are refused.
      SSL_CTX_set_verify(tls_.native_handle(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
      X509_STORE_add_cert(SSL_CTX_get_cert_store(tls_.native_handle()), wanted->certificate.get());
    }
    acceptor_thread_ = std::thread([this] { run(); });
  }
  ~tls_server() {
    // An own connection wakes the acceptor.
    stopping_ = true;
    asio::io_context c;
    asio::ip::tcp::socket s(c);
    boost::system::error_code ignored;
    s.connect(acceptor_.local_endpoint(), ignored);
    acceptor_thread_.join();
    for (auto& t : threads_) t.join();
  }
  int port() const { return acceptor_.local_endpoint().port(); }
  std::string sni;
  std::string connect;                            ///< the request of the last tunnel
  std::atomic<bool> drops_second_request{false};  ///< the first connection closes when it was asked again
  std::atomic<bool> only_first{false};            ///< later connections get no handshake
  std::atomic<bool> held{false};                  ///< handshakes wait until it is false and notified
  /// Answers with this function instead of "ok".
  void answer_with(std::function<std::string(const std::string& request)> answer) {
    const std::lock_guard lock(guard_);
    answer_ = std::move(answer);
  }
  /// Every request that was read, in order.
  std::vector<std::string> requests() const {
    const std::lock_guard lock(guard_);
    return requests_;
  }

 private:
  void run() {
    while (!stopping_) {
      boost::system::error_code ec;
      asio::ip::tcp::socket socket(context_);
      acceptor_.accept(socket, ec);
      if (stopping_) return;
      threads_.emplace_back(
          [this, s = std::move(socket), first = threads_.empty()]() mutable { serve(std::move(s), first); });
    }
  }
  void serve(asio::ip::tcp::socket socket, bool first) {
    boost::system::error_code ec;
    if (only_first && !first) {
      std::array<char, 4096> ignored;
      while (!ec) socket.read_some(asio::buffer(ignored), ec);
      return;
    }
    if (!tunnel_.empty()) {
      std::array<char, 4096> head;
      connect.assign(head.data(), socket.read_some(asio::buffer(head), ec));
      // In two pieces, as networks may deliver it.
      asio::write(socket, asio::buffer(tunnel_.data(), 5), ec);
      asio::write(socket, asio::buffer(tunnel_.data() + 5, tunnel_.size() - 5), ec);
    }
    held.wait(true);
    asio::ssl::stream<asio::ip::tcp::socket> stream(std::move(socket), tls_);
    stream.handshake(asio::ssl::stream_base::server, ec);
    if (ec) return;
    if (const char* name = SSL_get_servername(stream.native_handle(), TLSEXT_NAMETYPE_host_name)) sni = name;
    std::array<char, 4096> buffer;
    // The requests of these tests fit into one read, or their second part does not matter.
    for (int asked = 1; const auto n = stream.read_some(asio::buffer(buffer), ec); ++asked) {
      if (ec) return;
      std::string text = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
      {
        const std::lock_guard lock(guard_);
        requests_.emplace_back(buffer.data(), n);
        if (answer_) text = answer_(requests_.back());
      }
      if (drops_second_request && first && asked == 2) return;
      asio::write(stream, asio::buffer(text), ec);
    }
  }
  std::string tunnel_;
  asio::io_context context_;
  asio::ssl::context tls_;
  asio::ip::tcp::acceptor acceptor_;
  std::atomic<bool> stopping_{false};
  mutable std::mutex guard_;
  std::vector<std::string> requests_;
  std::function<std::string(const std::string& request)> answer_;
  std::vector<std::thread> threads_;
  std::thread acceptor_thread_;
};

struct pem_file {
  std::string path;
  explicit pem_file(const std::string& text, const std::string& name = "ca")
      : path("/tmp/mcpbx-tls-test-" + std::to_string(::getpid()) + "-" + name + ".pem") {
    std::FILE* f = std::fopen(path.c_str(), "w");
    std::fputs(text.c_str(), f);
    std::fclose(f);
  }
  ~pem_file() { ::unlink(path.c_str()); }
};

}  // namespace mcpbx::test
