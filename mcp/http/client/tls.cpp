// TLS contexts and streams of OpenSSL.
#include "mcp/http/client/tls.hpp"

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/error.hpp>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string_view>

namespace mcpbx::http::clients {

namespace ssl = boost::asio::ssl;

namespace {

// Returns true for names such as "4b718d9b.0".
bool is_hashed_name(std::string_view name) {
  constexpr std::size_t hash = 8;
  const auto digits = name.substr(0, hash);
  return name.size() == hash + 2 && name[hash] == '.' && name[hash + 1] >= '0' && name[hash + 1] <= '9' &&
         std::ranges::all_of(digits, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool has_hashed_names(const std::string& folder) {
  const std::unique_ptr<DIR, int (*)(DIR*)> files(::opendir(folder.c_str()), ::closedir);
  while (const dirent* const file = files ? ::readdir(files.get()) : nullptr)
    if (is_hashed_name(file->d_name)) return true;
  return false;
}

// Trusts the system's certificates, or those that the variables name. Returns true if they are looked up by name.
bool trust_system(ssl::context& context, bool all, boost::system::error_code& ec) {
  if (const auto folders = all ? std::string() : folders_by_name(); !folders.empty()) {
    context.add_verify_path(folders, ec);
    return true;
  }
  context.set_default_verify_paths(ec);
  const bool named = std::getenv(X509_get_default_cert_file_env()) != nullptr ||
                     std::getenv(X509_get_default_cert_dir_env()) != nullptr;
  const auto bundle =
      bundle_elsewhere(named, [](const std::string& path) { return ::access(path.c_str(), R_OK) == 0; });
  if (!ec && !bundle.empty()) context.load_verify_file(bundle, ec);
  return false;
}

bool is_for_another_name(long verdict) {
  return verdict == X509_V_ERR_HOSTNAME_MISMATCH || verdict == X509_V_ERR_IP_ADDRESS_MISMATCH;
}

}  // namespace

std::string folders_by_name() {
  if (std::getenv(X509_get_default_cert_file_env()) != nullptr) return {};
  const char* const named = std::getenv(X509_get_default_cert_dir_env());
  const std::string folders = named != nullptr ? named : X509_get_default_cert_dir();
  for (std::size_t begin = 0, end = 0; end != std::string::npos; begin = end + 1) {
    end = folders.find(':', begin);
    if (has_hashed_names(folders.substr(begin, end - begin))) return folders;
  }
  return {};
}

std::string bundle_elsewhere(bool named, const std::function<bool(const std::string& path)>& exists) {
  if (named || exists(X509_get_default_cert_file()) || exists(X509_get_default_cert_dir())) return {};
  // Debian and Arch, Fedora, openSUSE, Alpine.
  for (const std::string path : {"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
                                 "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"})
    if (exists(path)) return path;
  return {};
}

result<tls_context> load_tls(const trust& t, bool all) {
  try {
    bool by_name = false;
    auto context = std::make_shared<ssl::context>(ssl::context::tls_client);
    SSL_CTX_set_min_proto_version(context->native_handle(), TLS1_2_VERSION);
    context->set_verify_mode(ssl::verify_peer);
    boost::system::error_code ec;
    if (t.ca_file.empty() || t.system_too) by_name = trust_system(*context, all, ec);
    if (!t.ca_file.empty()) context->load_verify_file(t.ca_file, ec);
    if (ec)
      return fail(errc::config, "The trusted certificates" + (t.ca_file.empty() ? "" : " in \"" + t.ca_file + "\"") +
                                    " cannot be read: " + ec.message() + ".");
    if (!t.cert_file.empty()) {
      const std::string& key = t.key_file.empty() ? t.cert_file : t.key_file;
      context->use_certificate_chain_file(t.cert_file, ec);
      if (ec)
        return fail(errc::config,
                    "The client certificate in \"" + t.cert_file + "\" cannot be read: " + ec.message() + ".");
      context->use_private_key_file(key, ssl::context::pem, ec);
      if (ec)
        return fail(errc::config,
                    "The key of the client certificate in \"" + key + "\" cannot be used: " + ec.message() + ".");
    }
    // Idle connections hold no record buffers.
    SSL_CTX_set_mode(context->native_handle(), SSL_MODE_RELEASE_BUFFERS);
    static constexpr unsigned char http11[] = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
    SSL_CTX_set_alpn_protos(context->native_handle(), http11, sizeof http11);
    return tls_context{std::move(context), by_name};
  } catch (const std::exception& e) {
    return fail(errc::io, "TLS cannot be set up: " + std::string(e.what()));
  }
}

result<std::unique_ptr<tls_stream>> make_tls_stream(stream_socket& socket, const tls_context& context,
                                                    const std::string& host) {
  auto stream = std::make_unique<tls_stream>(socket, *context.settings);
  SSL* const handle = stream->native_handle();
  boost::system::error_code not_an_address;
  boost::asio::ip::make_address(host, not_an_address);
  bool ok;
  if (not_an_address) {
    SSL_set_hostflags(handle, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    ok = SSL_set1_host(handle, host.c_str()) == 1 && SSL_set_tlsext_host_name(handle, host.c_str()) == 1;
  } else {
    ok = X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(handle), host.c_str()) == 1;
  }
  if (!ok) return fail(errc::io, "TLS cannot be set up for \"" + host + "\".");
  // OpenSSL itself verifies the name together with the chain.
  boost::system::error_code ec;
  stream->set_verify_mode(ssl::verify_peer, ec);
  if (ec) return fail(errc::io, "TLS cannot be set up for \"" + host + "\": " + ec.message());
  return stream;
}

std::string client_certificate_failure(const boost::system::error_code& ec) {
  if (ec.category() != boost::asio::error::get_ssl_category()) return {};
  switch (ERR_GET_REASON(static_cast<unsigned long>(ec.value()))) {
    case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
      return "it wants a certificate of the client";
    case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
    case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
    case SSL_R_TLSV1_ALERT_ACCESS_DENIED:
      return "it does not take the certificate of the client: " + ec.message();
    default:
      return {};
  }
}

bool chain_failed(tls_stream& stream) {
  const long verdict = SSL_get_verify_result(stream.native_handle());
  return verdict != X509_V_OK && !is_for_another_name(verdict);
}

std::string tls_failure(tls_stream& stream, const boost::system::error_code& ec) {
  const long verdict = SSL_get_verify_result(stream.native_handle());
  if (is_for_another_name(verdict)) return "its certificate is for another name";
  if (verdict != X509_V_OK)
    return std::string("its certificate is not trusted: ") + X509_verify_cert_error_string(verdict);
  return "the TLS handshake failed: " + ec.message();
}

}  // namespace mcpbx::http::clients
