// One authorization from the challenge of a protected server to its tokens, as a core: it says what to send, whom to
// ask and where to listen, and takes the answers (2026-07-28, authorization; OAuth 2.1 with PKCE). Knows no I/O; the
// shell sends its requests, opens the browser and hands the redirect in.
#pragma once
#include "mcp/auth/challenge.hpp"
#include "mcp/auth/client_assertion.hpp"
#include "mcp/auth/client_identity.hpp"
#include "mcp/auth/endpoint_rule.hpp"
#include "mcp/auth/flow/document_request.hpp"
#include "mcp/auth/grant.hpp"
#include "mcp/auth/metadata.hpp"
#include "mcp/auth/pkce.hpp"
#include "mcp/auth/redirect_answer.hpp"
#include "mcp/redact/secret.hpp"
#include "mcp/support/error.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::auth::flow {

/// The ways to a token. All but the first ask nobody.
enum class grant_kind : std::uint8_t {
  person,              ///< a person with a browser (authorization_code)
  client_credentials,  ///< the client itself
  workload,            ///< a signed token of the platform on which the client runs (RFC 7523, section 2.1)
  enterprise           ///< a person's login at an identity provider, exchanged there (RFC 8693, then RFC 7523)
};

/// The identity provider of an organization, for grant_kind::enterprise.
struct identity_provider {
  std::string token_url = {}, client_id = {};
  redact::secret client_secret = {};
};

class authorization {
 public:
  struct options {
    std::string server;                    ///< configured name, for sentences
    std::string server_url;                ///< address of the MCP endpoint
    bearer_challenge challenge = {};       ///< of the server's 401 or 403; empty: none was seen
    std::vector<std::string> scopes = {};  ///< wanted by the entry, beside those that the server names
    std::string issuer = {};  ///< the only authorization server that is asked; "": one that the server names
    std::string client_name = "mcpbx";
    std::string client_id = {};  ///< registered by a person; "" otherwise
    redact::secret client_secret = {};
    std::string client_document = {};  ///< address of a client-id metadata document, or ""
    bool private_addresses = false;    ///< see endpoint_rule
    grant_kind kind = grant_kind::person;
    client_key key = {};            ///< of the client `client_id`
    redact::secret assertion = {};  ///< the signed token: of the platform, or of the person's login
    identity_provider provider = {};
    std::optional<grant> before = {};  ///< the grant held so far: its scopes and its registration are kept
  };
  /// The next step. Members that the kind does not name are empty.
  struct step {
    enum class kind : std::uint8_t {
      fetch,     ///< send `request`, then call answered() or unreachable()
      listen,    ///< open the listener, on the port of `url` if that is free and not "", then call listening()
      browse,    ///< show `url` to the person, then call redirected() for each answer until the step changes
      finished,  ///< the grant is there
      failed     ///< `problem` says why
    };
    kind type = kind::failed;
    document_request request = {};
    std::string url = {};
    error problem = {};
  };

  /// Begins; now() is the first step. `secrets` must outlive this object.
  authorization(options o, secret_source& secrets);

  const step& now() const noexcept { return step_; }
  /// Takes the answer of the request. `wall_ms` is the time in milliseconds since 1970.
  void answered(const document_answer& answer, std::int64_t wall_ms);
  /// Notes that the request got no answer; `why` is a clause.
  void unreachable(std::string_view why);
  /// Tells the redirect address of the open listener.
  void listening(std::string redirect_uri);
  /// Takes a redirect's query, or a whole pasted address. Returns its reading; the step changes unless it is not_ours.
  redirect_answer::kind redirected(std::string_view query_or_address, std::int64_t wall_ms);

  /// Returns what the person is asked for, from browse on: whose server this is, for which resource.
  const std::string& issuer() const noexcept { return server_.issuer; }
  const std::string& resource() const noexcept { return resource_; }
  const std::vector<std::string>& scopes() const noexcept { return scopes_; }
  /// Returns the rule for the addresses that the request of now() may go to. The identity provider is named by the
  /// entry, not by a stranger, so that it may be anywhere.
  endpoint_rule rule() const;
  /// Returns the grant, once finished.
  const grant& granted() const noexcept { return grant_; }

 private:
  enum class stage : std::uint8_t { resource_document, server_document, registration, person, exchange, token, over };

  void hide(const std::string& value);
  void fetch(stage s, document_request r);
  void fail_with(errc code, const std::string& what);
  void next_resource_document();
  void on_resource_document(const document_answer& a);
  bool is_pinned(std::string_view issuer);
  void choose_server();
  void next_server_document();
  void on_server_document(const document_answer& a);
  void without_server_document();
  void choose_scopes();
  void identify();
  void on_registration(const document_answer& a);
  void ask_person();
  void go_alone();
  void ask_provider();
  void on_exchange(const document_answer& a);
  void ask_token(form_fields fields);
  void on_token(const document_answer& a);
  std::string who() const;

  options options_;
  secret_source& secrets_;
  endpoint_rule rule_;
  stage stage_ = stage::resource_document;
  step step_;
  std::int64_t wall_ms_ = 0;            // of the last answer
  std::vector<std::string> addresses_;  // still to be tried, in reverse
  std::string last_problem_;
  std::optional<resource_metadata> resource_document_;  // absent: a server of 2025-03-26, which has none
  server_metadata server_;
  bool assumed_ = false;  // no document says that there is such a server
  std::string resource_, redirect_uri_, verifier_;
  expected_answer expected_;
  std::vector<std::string> scopes_;
  client_identity client_;
  grant grant_;
  std::vector<redact::passing_secret> hidden_;  // a handful: there is one person, one code and one registration
};

}  // namespace mcpbx::auth::flow
