// An authorization server and a protected server as values, for tests of the flow: documents by address, a registration
// and a token endpoint, all of which a test may change.
#pragma once
#include "mcp/auth/flow/authorization.hpp"

#include <map>
#include <string>
#include <vector>

namespace mcpbx::test {

/// Gives the same bytes at each call, one higher each time.
class known_secrets final : public auth::secret_source {
 public:
  std::string bytes(std::size_t count) override { return std::string(count, ++next_); }

 private:
  char next_ = 'a' - 1;
};

struct scripted_authorization {
  /// A server at https://mcp.example.com/mcp that https://as.example.com authorizes for.
  scripted_authorization();

  std::map<std::string, auth::flow::document_answer> at;  ///< answers by address; all others are 404
  std::vector<auth::flow::document_request> requests;     ///< all that were made
  std::string redirect_uri = "http://127.0.0.1:40001/callback";
  std::string answer = "code=the-code&state=STATE";  ///< the redirect's query; STATE stands for the right one
  known_secrets secrets;

  /// Returns the options of an authorization at this server.
  static auth::flow::authorization::options options();
  /// Plays the shell until the flow is over or somebody must do something this object does not do.
  void play(auth::flow::authorization& flow);
  /// Does the present step. Returns false if that is not possible, or the flow is over.
  bool step(auth::flow::authorization& flow);
  /// Returns the answer to a request.
  auth::flow::document_answer answer_to(const auth::flow::document_request& request);
  std::string told;  ///< all steps that were played, in the form of test/transcripts/auth
  /// Returns a field of the last address that the person was sent to, or of the last form.
  std::string browsed(std::string_view field) const;
  std::string sent(std::string_view field) const;
  std::string browsed_url;
};

}  // namespace mcpbx::test
