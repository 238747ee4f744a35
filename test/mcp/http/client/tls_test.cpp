// TLS: certificates and names are verified, always. The certificates are made here, in memory.
#include "mcp/http/client/tls.hpp"

#include "test/mcp/http/client/client_harness.hpp"
#include "test/mcp/http/client/tls_peer.hpp"

#include <doctest/doctest.h>
#include <openssl/x509.h>

#include <fstream>
#include <set>
#include <string>

namespace {

using namespace mcpbx;
using namespace mcpbx::test;

TEST_CASE("certificates of other systems are taken where OpenSSL's own place is missing") {
  const std::string usual = X509_get_default_cert_dir();
  const auto found = [](bool named, const std::set<std::string>& files) {
    return http::clients::bundle_elsewhere(named, [&](const std::string& path) { return files.contains(path); });
  };
  CHECK(found(false, {"/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"}) == "/etc/pki/tls/certs/ca-bundle.crt");
  CHECK(found(false, {usual, "/etc/ssl/cert.pem"}) == "");
  CHECK(found(true, {"/etc/ssl/cert.pem"}) == "");
  CHECK(found(false, {}) == "");
}

TEST_CASE("G33: a certificate that nobody trusts is refused") {
  const identity who("DNS:localhost,IP:127.0.0.1");
  const tls_server server(who);
  http_loop loop;
  const auto got = get(loop, "https://localhost:" + std::to_string(server.port()) + "/");
  REQUIRE(got.failure);
  CHECK(got.failure->stage == http::clients::stage::tls);
  CHECK(got.failure->why.message.find("certificate is not trusted") != std::string::npos);
}

TEST_CASE("G33: a trusted certificate for another name is refused") {
  const identity who("DNS:other.example");
  const tls_server server(who);
  const pem_file ca(who.pem());
  http_loop loop;
  for (const auto* host : {"localhost", "127.0.0.1"}) {
    const auto got = get(loop, "https://" + std::string(host) + ":" + std::to_string(server.port()) + "/", ca.path);
    REQUIRE(got.failure);
    CHECK(got.failure->why.message.find("is for another name") != std::string::npos);
  }
}

TEST_CASE(
    "G33: a trusted certificate with the right name or address is accepted, the name is sent, the connection kept") {
  const identity who("DNS:localhost,IP:127.0.0.1");
  const tls_server server(who);
  const pem_file ca(who.pem());
  http_loop loop;
  const auto url = "https://localhost:" + std::to_string(server.port()) + "/";
  for (int i = 0; i < 3; ++i) {
    const auto got = get(loop, url, ca.path);
    CHECK_FALSE(got.failure);
    CHECK(got.body == "ok");
  }
  CHECK(loop.client->counts().connections == 1);
  CHECK(server.sni == "localhost");
  CHECK(get(loop, "https://127.0.0.1:" + std::to_string(server.port()) + "/", ca.path).body == "ok");
}

TEST_CASE("G33: a connection that one trust setting opened serves no other") {
  const identity who("DNS:localhost,IP:127.0.0.1");
  const tls_server server(who);
  const pem_file ca(who.pem());
  http_loop loop;
  const auto url = "https://localhost:" + std::to_string(server.port()) + "/";
  CHECK(get(loop, url, ca.path).body == "ok");
  const auto got = get(loop, url);
  REQUIRE(got.failure);
  CHECK(got.failure->stage == http::clients::stage::tls);
  CHECK(loop.client->counts().reused == 0);
}

TEST_CASE("client: a certificate of the client is shown to servers that want one and its connections serve no others") {
  const identity who("DNS:localhost,IP:127.0.0.1"), me("DNS:me.example");
  const tls_server server(who, "", &me);
  const pem_file ca(who.pem()), certificate(me.pem(), "me"), key(me.key_pem(), "key"),
      both(me.pem() + me.key_pem(), "both");
  http_loop loop;
  const auto asked = [&](const http::clients::trust& trust) {
    http::clients::request r;
    r.method = "GET";
    r.url = "https://localhost:" + std::to_string(server.port()) + "/";
    r.trust = trust;
    recorder got;
    const auto exchange = loop.client->start(std::move(r), got);
    REQUIRE(loop.until([&] { return got.over(); }));
    return got;
  };
  CHECK(asked({ca.path, certificate.path, key.path}).body == "ok");
  CHECK(asked({ca.path, both.path, ""}).body == "ok");
  const auto unknown = asked({ca.path, "", ""});
  REQUIRE(unknown.failure);
  CHECK(unknown.failure->stage == http::clients::stage::tls);
  CHECK(unknown.failure->why.message.contains("was not asked: it wants a certificate of the client"));
  const auto no_key = asked({ca.path, certificate.path, ""});
  REQUIRE(no_key.failure);
  CHECK(no_key.failure->why.message.find("The key of the client certificate in \"" + certificate.path +
                                         "\" cannot be used") != std::string::npos);
  const auto none = asked({ca.path, "/nonesuch.pem", ""});
  REQUIRE(none.failure);
  CHECK(none.failure->why.message.find("The client certificate in \"/nonesuch.pem\" cannot be read") !=
        std::string::npos);
}

TEST_CASE("client: certificates that have been replaced in their files are taken after the old ones have failed") {
  const identity who("DNS:localhost"), old_authority("DNS:old.example"), me("DNS:me.example"), before("DNS:me.example");
  const tls_server server(who, "", &me);
  const pem_file ca(old_authority.pem(), "ca"), certificate(before.pem() + before.key_pem(), "me");
  http_loop loop;
  const auto asked = [&] {
    http::clients::request r;
    r.method = "GET";
    r.url = "https://localhost:" + std::to_string(server.port()) + "/";
    r.trust = {ca.path, certificate.path, ""};
    recorder got;
    const auto exchange = loop.client->start(std::move(r), got);
    REQUIRE(loop.until([&] { return got.over(); }));
    return got;
  };
  const auto untrusted = asked();
  REQUIRE(untrusted.failure);
  CHECK(untrusted.failure->why.message.contains("its certificate is not trusted"));
  std::ofstream(ca.path) << who.pem();
  const auto refused = asked();
  REQUIRE(refused.failure);
  CHECK(refused.failure->why.message.contains("was not asked: it does not take the certificate of the client"));
  std::ofstream(certificate.path) << me.pem() + me.key_pem();
  CHECK(asked().body == "ok");
}

TEST_CASE("client: the system's certificates are trusted beside those of a file only where that is wanted") {
  const identity who("DNS:localhost"), other("DNS:other.example");
  const tls_server server(who);
  const pem_file ca(who.pem()), another(other.pem(), "another");
  const auto failed = [&](const http::clients::trust& trust) {
    http_loop loop;
    http::clients::request r;
    r.method = "GET";
    r.url = "https://localhost:" + std::to_string(server.port()) + "/";
    r.trust = trust;
    recorder got;
    const auto exchange = loop.client->start(std::move(r), got);
    REQUIRE(loop.until([&] { return got.over(); }));
    return got.failure.has_value();
  };
  REQUIRE(::setenv("SSL_CERT_FILE", ca.path.c_str(), 1) == 0);
  CHECK(failed({.ca_file = another.path}));
  CHECK_FALSE(failed({.ca_file = another.path, .system_too = true}));
  ::unsetenv("SSL_CERT_FILE");
  CHECK_FALSE(failed({.ca_file = ca.path, .system_too = true}));
}

TEST_CASE("client: a trust file that cannot be read is told") {
  const identity who("DNS:localhost");
  const tls_server server(who);
  http_loop loop;
  const auto got = get(loop, "https://localhost:" + std::to_string(server.port()) + "/", "/no/such/file.pem");
  REQUIRE(got.failure);
  CHECK(got.failure->why.message.find("/no/such/file.pem") != std::string::npos);
}

}  // namespace
