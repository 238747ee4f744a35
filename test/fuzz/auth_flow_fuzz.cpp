// Any bytes as the answers to the requests of an authorization, one piece for each, ended by a zero byte: it ends, and
// never with a token for another issuer than the one that the resource's document named. A first byte of 1 to 3 chooses
// a grant without a person.
#include "mcp/auth/flow/authorization.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

namespace {

class constant_secrets final : public mcpbx::auth::secret_source {
 public:
  std::string bytes(std::size_t count) override { return std::string(count, 'x'); }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace mcpbx::auth;
  using kind = mcpbx::auth::flow::authorization::step::kind;
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const auto piece = [&] {
    const auto end = std::min(rest.find('\0'), rest.size());
    const auto taken = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    return std::string(taken);
  };
  constant_secrets secrets;
  mcpbx::auth::flow::authorization::options o{.server = "fuzz", .server_url = "https://mcp.example/mcp"};
  if (!rest.empty() && rest.front() >= 1 && rest.front() <= 3) {
    o.kind = static_cast<mcpbx::auth::flow::grant_kind>(rest.front());
    rest.remove_prefix(1);
    o.client_id = "fuzz";
    o.assertion = mcpbx::redact::secret(o.kind == mcpbx::auth::flow::grant_kind::workload ? piece() : "e30.e30.c2ln");
    o.provider.token_url = "https://idp.example/token";
  }
  mcpbx::auth::flow::authorization flow(std::move(o), secrets);
  for (int i = 0; i < 100; ++i) switch (flow.now().type) {
      case kind::fetch: {
        const std::string text = piece();
        const bool fails = !text.empty() && text.front() == '!';
        flow.answered({fails ? 404 : 200, text}, 0);
        break;
      }
      case kind::listen:
        flow.listening("http://127.0.0.1:1/callback");
        break;
      case kind::browse:
        if (flow.redirected(piece(), 1'000) == mcpbx::auth::redirect_answer::kind::not_ours) return 0;
        break;
      case kind::finished:
        if (flow.granted().issuer != flow.issuer() || flow.granted().access_token.empty()) std::abort();
        return 0;
      case kind::failed:
        if (flow.now().problem.message.find('\n') != std::string::npos) std::abort();
        return 0;
    }
  std::abort();  // it did not end
}
