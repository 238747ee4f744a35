// TLS: certificates and names are verified, always. The certificates are made here, in memory.
#include "mcp/http/client/tls.hpp"

#include "test/mcp/http/client/client_harness.hpp"
#include "test/mcp/http/client/tls_peer.hpp"

#include <doctest/doctest.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <latch>
#include <memory>
#include <set>
#include <string>
#include <vector>

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

// A folder of certificates with hashed names, as openssl-rehash(1) makes them, which SSL_CERT_DIR names meanwhile.
class hashed_folder {
 public:
  explicit hashed_folder(const identity& known)
      : path_("/tmp/mcpbx-tls-test-" + std::to_string(::getpid()) + "-folder") {
    ::unsetenv("SSL_CERT_FILE");
    std::filesystem::create_directory(path_);
    std::array<char, 16> name;
    std::snprintf(name.data(), name.size(), "%08lx.0", X509_subject_name_hash(known.certificate.get()));
    std::ofstream(path_ + "/" + name.data()) << known.pem();
    ::setenv("SSL_CERT_DIR", path_.c_str(), 1);
  }
  ~hashed_folder() {
    ::unsetenv("SSL_CERT_DIR");
    ::unsetenv("SSL_CERT_FILE");
    std::filesystem::remove_all(path_);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::size_t certificates_in(const http::clients::tls_context& context) {
  const auto* const store = SSL_CTX_get_cert_store(context.settings->native_handle());
  return static_cast<std::size_t>(sk_X509_OBJECT_num(X509_STORE_get0_objects(store)));
}

TEST_CASE("certificates of the system are looked up by name where its folder has hashed names and no bundle is named") {
  const identity known("DNS:localhost");
  const pem_file bundle(known.pem());
  const hashed_folder folder(known);
  CHECK(http::clients::folders_by_name() == folder.path());
  const auto by_name = http::clients::load_tls({}, false);
  REQUIRE(by_name);
  CHECK(by_name->by_name);
  CHECK(certificates_in(*by_name) == 0);
  // Several folders are one setting.
  ::setenv("SSL_CERT_DIR", ("/nonesuch:" + folder.path()).c_str(), 1);
  CHECK(http::clients::folders_by_name() == "/nonesuch:" + folder.path());
  for (const char* const without : {"", "/nonesuch", "/nonesuch:"}) {
    ::setenv("SSL_CERT_DIR", without, 1);
    CHECK(http::clients::folders_by_name() == "");
  }
  ::setenv("SSL_CERT_DIR", folder.path().c_str(), 1);
  ::setenv("SSL_CERT_FILE", bundle.path.c_str(), 1);
  CHECK(http::clients::folders_by_name() == "");
  for (const bool all : {false, true}) {
    const auto named = http::clients::load_tls({}, all);
    REQUIRE(named);
    CHECK_FALSE(named->by_name);
    CHECK(certificates_in(*named) == 1);
  }
  const auto own = http::clients::load_tls({.ca_file = bundle.path}, false);
  REQUIRE(own);
  CHECK_FALSE(own->by_name);
}

TEST_CASE("files of a folder are hashed certificates only with eight digits and a number") {
  const identity known("DNS:localhost");
  const hashed_folder folder(known);
  std::filesystem::remove_all(folder.path());
  std::filesystem::create_directory(folder.path());
  for (const char* const other : {"ca.pem", "4b718d9b", "4b718d9b.r0", "4B718D9B.0", "4b718d9.00", "4b718d9b.x"})
    std::ofstream(folder.path() + "/" + other) << known.pem();
  CHECK(http::clients::folders_by_name() == "");
  std::ofstream(folder.path() + "/4b718d9b.1") << known.pem();
  CHECK(http::clients::folders_by_name() == folder.path());
}

TEST_CASE("G33: a certificate that is found by its name is trusted at the first connection, and kept") {
  const identity who("DNS:localhost");
  const tls_server server(who), second(who);
  http_loop loop;
  const auto url = "https://localhost:" + std::to_string(server.port()) + "/";
  {
    const hashed_folder folder(who);
    CHECK(get(loop, url).body == "ok");
    CHECK(loop.client->counts().connections == 1);
  }
  // The folder is gone, and another server needs a connection of its own.
  CHECK(get(loop, "https://localhost:" + std::to_string(second.port()) + "/").body == "ok");
  CHECK(loop.client->counts().connections == 2);
}

TEST_CASE("G33: a certificate that neither the folder nor the bundle has is refused after one more look") {
  const identity known("DNS:localhost"), stranger("DNS:localhost");
  const tls_server server(stranger);
  // Has a certificate of the same name, with another key.
  const hashed_folder folder(known);
  http_loop loop;
  const auto url = "https://localhost:" + std::to_string(server.port()) + "/";
  for (const std::size_t connections : {2, 3}) {
    const auto got = get(loop, url);
    REQUIRE(got.failure);
    CHECK(got.failure->stage == http::clients::stage::tls);
    CHECK(got.failure->why.message.contains("its certificate is not trusted"));
    CHECK(loop.client->counts().connections == connections);
  }
}

TEST_CASE("G33: a trusted certificate that only the bundle has is accepted, by all connections that wait for it") {
  const identity known("DNS:localhost"), added("DNS:localhost", "added");
  const tls_server usual(known), server(added), another(added);
  const pem_file bundle(known.pem() + added.pem());
  const hashed_folder folder(known);
  http_loop loop;
  CHECK(get(loop, "https://localhost:" + std::to_string(usual.port()) + "/").body == "ok");
  // Stands for the bundle of the system, whose place a test cannot choose. It is read no sooner than it is needed.
  ::setenv("SSL_CERT_FILE", bundle.path.c_str(), 1);
  std::array<recorder, 8> all;
  std::vector<std::unique_ptr<http::clients::exchange>> exchanges;
  for (auto& got : all) {
    http::clients::request r;
    r.method = "POST";
    r.url = "https://localhost:" + std::to_string(server.port()) + "/";
    r.repeat_stale = false;
    exchanges.push_back(loop.client->start(std::move(r), got));
  }
  REQUIRE(loop.until([&] { return std::ranges::all_of(all, &recorder::over); }));
  for (const auto& got : all) CHECK(got.body == "ok");
  CHECK(server.requests().size() == all.size());
  const auto made = loop.client->counts().connections;
  // Late connections find the bundle read already.
  CHECK(made > 1 + all.size());
  CHECK(made <= 1 + 2 * all.size());
  CHECK(get(loop, "https://localhost:" + std::to_string(another.port()) + "/").body == "ok");
  CHECK(loop.client->counts().connections == made + 1);
}

TEST_CASE("G33: the bundle is read, too, if it is found to be needed while the folder is looked at anew") {
  const identity known("DNS:localhost"), added("DNS:localhost", "added"), me("DNS:me.example"), other("DNS:me.example");
  tls_server usual(known), strict(known, "", &other), late(added), another(known);
  const pem_file bundle(known.pem() + added.pem()), certificate(me.pem() + me.key_pem(), "me");
  const hashed_folder folder(known);
  http_loop loop;
  std::array<recorder, 4> got;
  std::vector<std::unique_ptr<http::clients::exchange>> exchanges;
  const auto start = [&](std::size_t i, const tls_server& server, const char* path) {
    http::clients::request r;
    r.method = "GET";
    r.url = "https://localhost:" + std::to_string(server.port()) + path;
    r.trust = {"", certificate.path, ""};
    exchanges.push_back(loop.client->start(std::move(r), got[i]));
  };
  start(0, usual, "/");
  REQUIRE(loop.until([&] { return got[0].over(); }));
  CHECK(got[0].body == "ok");
  late.held = true;
  start(1, late, "/");
  REQUIRE(loop.until([&] { return loop.client->counts().connections == 2; }));
  start(2, strict, "/");  // refuses the client's certificate, so that all certificates are read again
  REQUIRE(loop.until([&] { return got[2].over(); }));
  REQUIRE(got[2].failure);
  std::latch begin(1), loaded(1);
  REQUIRE(loop.compute.post([&] { begin.wait(); }));
  start(3, another, "/");
  late.held = false;
  late.held.notify_all();
  REQUIRE(loop.until([&] { return loop.client->counts().connections == 5; }));
  REQUIRE(loop.compute.post([&] { loaded.count_down(); }));
  begin.count_down();
  loaded.wait();
  ::setenv("SSL_CERT_FILE", bundle.path.c_str(), 1);
  REQUIRE(loop.until([&] { return got[1].over() && got[3].over(); }));
  CHECK(got[1].body == "ok");
  CHECK(got[3].body == "ok");
}

TEST_CASE("G33: a certificate for another name is refused at once, since no other root could help") {
  const identity who("DNS:other.example");
  const tls_server server(who);
  const hashed_folder folder(who);
  http_loop loop;
  const auto got = get(loop, "https://localhost:" + std::to_string(server.port()) + "/");
  REQUIRE(got.failure);
  CHECK(got.failure->why.message.contains("is for another name"));
  CHECK(loop.client->counts().connections == 1);
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
